#include "services/zone_scheduler/records/zone_config.hpp"

#include <algorithm>

namespace zbs {

const LinkToZone* declared_link(const ZoneConfig& config, const ZoneName& zone) {
    const auto at = std::find_if(config.links.begin(), config.links.end(),
                                 [&](const LinkToZone& link) { return link.zone == zone; });
    return at == config.links.end() ? nullptr : &*at;
}

namespace {

/// The name of the queue's policy.
std::string policy_of(const ZoneConfig& config) {
    return config.queue.empty() ? "none" : config.queue.substr(0, config.queue.find(':'));
}

/// Of a machine.
std::string partition_name(const ZoneConfig& config, std::size_t machine) {
    return machine < config.partition_of.size() ? config.partition_of[machine] : "main";
}

std::string sharing_of(const ZoneConfig& config) {
    using Sharing = ZoneState::Sharing;
    switch (config.sharing) {
        case Sharing::kSpace:
            break;
        case Sharing::kTime:
            return config.concurrent_gang ? "concurrent-gang" : "gang";
        case Sharing::kShare:
            return "shares";
        case Sharing::kPriority:
            return "priority";
    }
    return "none";
}

}  // namespace

std::vector<std::string> categories_of(const ZoneConfig& config) {
    std::vector<std::string> categories = {kMpiCategory};
    const auto add_queue = [&categories](const ZoneConfig& queue) {
        for (const std::string& offer :
             {offer_text(ZoneOffer::kPolicy, policy_of(queue)), offer_text(ZoneOffer::kSharing, sharing_of(queue))})
            if (std::ranges::find(categories, offer) == categories.end()) categories.push_back(offer);
    };
    const ZoneConfig others = config.partitions.empty() ? config : config_of(config, nullptr);
    if (config.partitions.empty() || !others.zone.machines.empty()) add_queue(others);
    for (const PartitionConfig& partition : config.partitions) add_queue(config_of(config, &partition));
    categories.push_back(offer_text(ZoneOffer::kBackEnd, config.has_slurm        ? "slurm"
                                                         : config.agents.empty() ? "local"
                                                                                 : "agents"));
    const auto add_launcher = [&categories](const char* name, ZoneOffer kind, const std::string& version) {
        categories.push_back(offer_text(ZoneOffer::kLauncher, name));
        categories.push_back(offer_text(ZoneOffer::kMpi, version));
        categories.push_back(offer_text(kind, version));
    };
    // Launchers of the home zone only write the output of ranks into its folder.
    const bool home_can_launch = !config.has_slurm || config.staging.nodes_share_state;
    if (!config.mpich_version.empty()) add_launcher("mpich", ZoneOffer::kMpich, config.mpich_version);
    if (!config.openmpi_version.empty() && !config.orted.empty() && home_can_launch)
        add_launcher("openmpi", ZoneOffer::kOpenMpi, config.openmpi_version);
    if (config.has_slurm && home_can_launch) categories.push_back(offer_text(ZoneOffer::kLauncher, "srun"));
    if (config.staging.job_bytes > 0) categories.push_back(offer_text(ZoneOffer::kFeature, "staging"));
    if (!config.profiler.empty()) categories.push_back(offer_text(ZoneOffer::kFeature, "profiles"));
    if (config.run_as_accounts) categories.push_back(offer_text(ZoneOffer::kFeature, "accounts"));
    return categories;
}

std::vector<std::string> partitions_of(const ZoneConfig& config) {
    std::vector<std::string> names;
    for (std::size_t m = 0; m < config.zone.machines.size(); ++m) names.push_back(partition_name(config, m));
    if (names.empty()) names = {"main"};  // the machines are not known yet
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

ZoneConfig config_of(const ZoneConfig& config, const PartitionConfig* partition) {
    ZoneConfig part = config;
    part.partitions.clear();
    part.processors_of_zone = processors_with_slots(config);
    part.zone.machines.clear();
    part.partition_of.clear();
    part.agents.clear();
    for (std::size_t m = 0; m < config.zone.machines.size(); ++m) {
        const std::string name = partition_name(config, m);
        const auto own = std::ranges::find(config.partitions, name, &PartitionConfig::name);
        if (partition != nullptr ? name != partition->name : own != config.partitions.end()) continue;
        const MachineName machine(config.zone.machines[m].name);
        part.zone.machines.push_back(config.zone.machines[m]);
        part.partition_of.push_back(name);
        if (config.agents.contains(machine)) part.agents.insert(machine);
    }
    if (partition == nullptr) return part;
    part.queue = partition->queue.value_or(config.queue);
    part.level_two_mapper = partition->mapper.value_or(config.level_two_mapper);
    part.slice = partition->slice.value_or(config.slice);
    part.concurrent_gang = partition->concurrent_gang.value_or(config.concurrent_gang);
    if (partition->max_walltime) part.max_walltime = partition->max_walltime;
    part.slots = partition->slots;
    part.sharing = partition->sharing;
    return part;
}

int processors_with_slots(const ZoneConfig& config) {
    if (config.processors_of_zone > 0) return config.processors_of_zone;
    int processors = 0;
    for (std::size_t m = 0; m < config.zone.machines.size(); ++m) {
        const std::string name = partition_name(config, m);
        const auto own = std::ranges::find(config.partitions, name, &PartitionConfig::name);
        processors += config.zone.machines[m].processors * (own == config.partitions.end() ? config.slots : own->slots);
    }
    return processors;
}

}  // namespace zbs
