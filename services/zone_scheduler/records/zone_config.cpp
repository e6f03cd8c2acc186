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
    std::vector<std::string> categories = {kMpiCategory, offer_text(ZoneOffer::kPolicy, policy_of(config)),
                                           offer_text(ZoneOffer::kSharing, sharing_of(config)),
                                           offer_text(ZoneOffer::kBackEnd, config.has_slurm        ? "slurm"
                                                                           : config.agents.empty() ? "local"
                                                                                                   : "agents")};
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
    for (std::size_t m = 0; m < config.zone.machines.size(); ++m)
        names.push_back(m < config.partition_of.size() ? config.partition_of[m] : "main");
    if (names.empty()) names = {"main"};  // the machines are not known yet
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace zbs
