#include "services/zone_scheduler/program/slurm.hpp"

#include <algorithm>

#include "algorithms/base/duration_text.hpp"
#include "services/common/messages/part.hpp"
#include "services/zone_scheduler/adapters/slurm/slurm_allocations.hpp"

namespace zbs::zone_program {
namespace {

/// What one of the zone's jobs in Slurm lasts longer than the part it is for: waiting for commit and launch, stopping,
/// Slurm's whole minutes. Slurm refuses a part at the limit of its partition that wants more than the usual grace.
Duration overhead_of(const ZoneConfig& zone) {
    return zone.hold_ttl + zone.launch_window + std::min(zone.max_grace, kUsualGrace) + window_for_files(zone) +
           std::chrono::minutes{2};
}

/// What one job may take in the partition, as limits of one part.
Result<void> take_limits(const slurm::Partition& partition, ZoneConfig& zone) {
    zone.max_machines = partition.max_nodes.value_or(0);
    zone.max_walltime.reset();
    if (!partition.max_walltime) return {};
    if (*partition.max_walltime <= overhead_of(zone))
        return Error{ErrorCode::kRejected,
                     "partition '" + partition.name + "' of Slurm lets no job run for longer than " +
                         format_duration(*partition.max_walltime) + ", and a hold alone takes " +
                         format_duration(overhead_of(zone)) + " of that; take another partition",
                     "[slurm] partition"};
    zone.max_walltime = *partition.max_walltime - overhead_of(zone);
    return {};
}

Result<slurm::SlurmCommands> find_commands(const SlurmSettings& wanted) {
    slurm::CommandSettings where{.configuration = wanted.configuration};
    where.folders.insert(where.folders.begin(), wanted.folders.begin(), wanted.folders.end());
    return slurm::SlurmCommands::find(std::move(where));
}

}  // namespace

Result<void> check_slurm_commands(const ZoneSettings& settings) {
    if (!settings.slurm) return {};
    const Result<slurm::SlurmCommands> commands = find_commands(*settings.slurm);
    return commands ? Result<void>{} : Result<void>(commands.error());
}

Result<std::unique_ptr<Allocations>> open_slurm(ZoneSettings& settings,
                                                std::function<void(std::function<void()>)> post) {
    if (!settings.slurm) return std::unique_ptr<Allocations>{};
    const SlurmSettings& wanted = *settings.slurm;
    Result<slurm::SlurmCommands> commands = find_commands(wanted);
    if (!commands) return commands.error();
    slurm::SlurmBackEnd back_end(*std::move(commands), {.submit_options = wanted.submit_options});
    const Result<slurm::Site> site = back_end.read_site();
    if (!site) return site.error();
    const Result<slurm::Partition> partition = slurm::find_partition(*site, wanted.partition);
    if (!partition) return Error{partition.error().code, partition.error().message, "[slurm] partition"};
    if (auto fits = take_limits(*partition, settings.zone); !fits) return fits.error();
    const Result<std::vector<slurm::SlurmMachine>> machines = slurm::machines_of(*site, *partition);
    if (!machines) return Error{machines.error().code, machines.error().message, "[slurm] partition"};
    Zone& zone = settings.zone.zone;
    zone.machines.clear();
    settings.zone.partition_of.clear();
    for (const slurm::SlurmMachine& machine : *machines) {
        zone.machines.push_back({machine.name, machine.processors, 1});
        settings.zone.partition_of.push_back(is_valid_name(partition->name) ? partition->name : "main");
    }
    if (auto good = ResourceGraph::make({zone}, {}); !good) return good.error();
    return std::unique_ptr<Allocations>(std::make_unique<slurm::SlurmAllocations>(
        std::move(back_end),
        slurm::PartitionUse{.partition = wanted.partition, .account = wanted.account, .wait = SlurmSettings::kWait},
        std::move(post)));
}

}  // namespace zbs::zone_program
