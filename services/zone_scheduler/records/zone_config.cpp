#include "services/zone_scheduler/records/zone_config.hpp"

#include <algorithm>

namespace zbs {

const LinkToZone* declared_link(const ZoneConfig& config, const ZoneName& zone) {
    const auto at = std::find_if(config.links.begin(), config.links.end(),
                                 [&](const LinkToZone& link) { return link.zone == zone; });
    return at == config.links.end() ? nullptr : &*at;
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
