#include "algorithms/model/resource_graph.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace zbs {
namespace {

Result<void> check_link(const Link& link, const std::string& delay_at, const std::string& bandwidth_at) {
    if (!std::isfinite(link.delay_s) || link.delay_s < 0)
        return invalid("a delay must be a number of seconds >= 0", delay_at);
    if (!std::isfinite(link.bandwidth_Bps) || link.bandwidth_Bps <= 0) {
        return invalid("a bandwidth must be a number of bytes per second > 0", bandwidth_at);
    }
    return {};
}

}  // namespace

int Zone::processor_count() const {
    int sum = 0;
    for (const Machine& machine : machines) sum += machine.processors;
    return sum;
}

double Zone::speed_sum() const {
    double sum = 0;
    for (const Machine& machine : machines) sum += machine.processors * machine.speed;
    return sum;
}

namespace {

/// Adds the processors of the zone to `total`. `at`: the place of the zone.
Result<void> check_machines(const Zone& zone, const std::string& at, std::int64_t& total) {
    if (zone.machines.empty()) return invalid("zone '" + zone.name + "' has no machine", at + "/machines");
    std::set<std::string> machine_names;
    for (std::size_t m = 0; m < zone.machines.size(); ++m) {
        const Machine& machine = zone.machines[m];
        const std::string machine_at = at + "/machines/" + std::to_string(m);
        if (machine.name.empty()) return invalid("a machine needs a name", machine_at + "/name");
        if (!machine_names.insert(machine.name).second) {
            return invalid("two machines of zone '" + zone.name + "' are named '" + machine.name + "'",
                           machine_at + "/name");
        }
        if (machine.processors < 1) return invalid("a machine needs at least 1 processor", machine_at + "/processors");
        if (!std::isfinite(machine.speed) || machine.speed <= 0)
            return invalid("a speed must be > 0", machine_at + "/speed");
        total += machine.processors;
        if (total > ResourceGraph::kMaxProcessors)
            return invalid("more than " + std::to_string(ResourceGraph::kMaxProcessors) + " processors", machine_at);
    }
    return {};
}

}  // namespace

Result<ResourceGraph> ResourceGraph::make(std::vector<Zone> zones, std::vector<ZoneLink> links) {
    if (zones.empty()) return invalid("resources need at least one zone", "/zones");
    std::set<std::string> zone_names;
    std::int64_t total = 0;
    for (std::size_t z = 0; z < zones.size(); ++z) {
        const Zone& zone = zones[z];
        const std::string at = "/zones/" + std::to_string(z);
        if (zone.name.empty()) return invalid("a zone needs a name", at + "/name");
        if (!zone_names.insert(zone.name).second)
            return invalid("two zones are named '" + zone.name + "'", at + "/name");
        if (auto ok = check_machines(zone, at, total); !ok) return ok.error();
        if (auto ok = check_link(zone.within_machine, at + "/machine_delay_s", at + "/machine_bandwidth_Bps"); !ok)
            return ok.error();
        if (auto ok = check_link(zone.within_zone, at + "/zone_delay_s", at + "/zone_bandwidth_Bps"); !ok)
            return ok.error();
    }

    ResourceGraph graph;
    const std::size_t count = zones.size();
    graph.between_zones_.assign(count * count, kDefaultZoneLink);
    std::set<std::pair<std::int32_t, std::int32_t>> linked;
    for (std::size_t i = 0; i < links.size(); ++i) {
        const ZoneLink& link = links[i];
        const std::string at = "/links/" + std::to_string(i);
        const auto exists = [&](std::int32_t zone) { return zone >= 0 && static_cast<std::size_t>(zone) < count; };
        if (!exists(link.a) || !exists(link.b)) return invalid("a link names an unknown zone", at);
        if (link.a == link.b) return invalid("a link joins a zone with itself", at);
        if (!linked.insert(std::minmax(link.a, link.b)).second) return invalid("two links join the same zones", at);
        if (auto ok = check_link(link.link, at + "/delay_s", at + "/bandwidth_Bps"); !ok) return ok.error();
        graph.between_zones_[static_cast<std::size_t>(link.a) * count + static_cast<std::size_t>(link.b)] = link.link;
        graph.between_zones_[static_cast<std::size_t>(link.b) * count + static_cast<std::size_t>(link.a)] = link.link;
    }
    graph.places_.reserve(static_cast<std::size_t>(total));
    for (std::size_t z = 0; z < count; ++z) {
        graph.between_zones_[z * count + z] = zones[z].within_zone;
        for (std::size_t m = 0; m < zones[z].machines.size(); ++m) {
            for (std::int32_t p = 0; p < zones[z].machines[m].processors; ++p) {
                graph.places_.push_back({static_cast<std::int32_t>(z), static_cast<std::int32_t>(m), p});
            }
        }
        graph.zone_begin_.push_back(static_cast<ProcessorIndex>(graph.places_.size()));
    }
    graph.zones_ = std::move(zones);
    graph.links_ = std::move(links);
    return graph;
}

const Link& ResourceGraph::link(ProcessorIndex a, ProcessorIndex b) const {
    ZBS_EXPECTS(a != b);
    const ProcessorPlace& x = place(a);
    const ProcessorPlace& y = place(b);
    if (x.zone != y.zone) return zone_link(x.zone, y.zone);
    const Zone& zone = zones_[static_cast<std::size_t>(x.zone)];
    return x.machine == y.machine ? zone.within_machine : zone.within_zone;
}

}  // namespace zbs
