#include "services/zone_scheduler/program/slurm.hpp"

#include "services/common/adapters/slurm/slurm_allocations.hpp"

namespace zbs::zone_program {

Result<std::unique_ptr<Allocations>> open_slurm(ZoneSettings& settings,
                                                std::function<void(std::function<void()>)> post) {
    if (!settings.slurm) return std::unique_ptr<Allocations>{};
    const SlurmSettings& wanted = *settings.slurm;
    slurm::CommandSettings where{.configuration = wanted.configuration};
    where.folders.insert(where.folders.begin(), wanted.folders.begin(), wanted.folders.end());
    Result<slurm::SlurmCommands> commands = slurm::SlurmCommands::find(std::move(where));
    if (!commands) return commands.error();
    slurm::SlurmBackEnd back_end(*std::move(commands), {.submit_options = wanted.submit_options});
    const Result<slurm::Site> site = back_end.read_site();
    if (!site) return site.error();
    const Result<std::vector<slurm::SlurmMachine>> machines = slurm::machines_of(*site, wanted.partition);
    if (!machines) return Error{machines.error().code, machines.error().message, "[slurm] partition"};
    Zone& zone = settings.zone.zone;
    zone.machines.clear();
    settings.zone.partition_of.clear();
    for (const slurm::SlurmMachine& machine : *machines) {
        zone.machines.push_back({machine.name, machine.processors, 1});
        settings.zone.partition_of.emplace_back("main");
    }
    if (auto good = ResourceGraph::make({zone}, {}); !good) return good.error();
    return std::unique_ptr<Allocations>(std::make_unique<slurm::SlurmAllocations>(
        std::move(back_end),
        slurm::PartitionUse{.partition = wanted.partition, .account = wanted.account, .wait = wanted.wait},
        std::move(post)));
}

}  // namespace zbs::zone_program
