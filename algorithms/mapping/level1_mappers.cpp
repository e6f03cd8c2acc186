#include "algorithms/mapping/level1_mappers.hpp"

#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "algorithms/graph/shortest_path_clustering.hpp"
#include "algorithms/mapping/group_division.hpp"
#include "algorithms/mapping/load_repair.hpp"
#include "algorithms/mapping/metis_multisection.hpp"
#include "algorithms/mapping/objective.hpp"
#include "algorithms/mapping/occupancy.hpp"
#include "algorithms/mapping/zone_assignment.hpp"

namespace zbs {
namespace {

constexpr double kLessOfPlan = 1 - 1e-9;
constexpr double kGainToMove = 0.02;
// `auto` asks HIER where it takes no longer than the others, and searches long where that is quick.
constexpr TaskIndex kMostTasksLong = 2'000;
constexpr std::size_t kMostEdgesLong = 100'000;
constexpr std::int64_t kWorkOfExchange = 10'000'000;
constexpr std::int32_t kNobody = -1;

bool is_small(const TaskGraph& graph) {
    return graph.task_count() <= kMostTasksLong && graph.edge_count() <= kMostEdgesLong;
}

/// The zones as one machine each, for mappers that want processors. Zones without processors are left out; `zone_of`
/// gives the number that each of the others has among all.
Result<ResourceGraph> zones_as_machines(std::span<const ZoneAggregate> zones, std::span<const Link> between,
                                        std::vector<std::int32_t>& zone_of) {
    std::vector<Zone> made;
    std::vector<ResourceGraph::ZoneLink> links;
    for (std::size_t z = 0; z < zones.size(); ++z) {
        const ZoneAggregate& about = zones[z];
        if (about.processors == 0) continue;
        for (std::size_t other = 0; other < made.size(); ++other) {
            const auto a = static_cast<std::size_t>(zone_of[other]);
            links.push_back({static_cast<std::int32_t>(other), static_cast<std::int32_t>(made.size()),
                             between[a * zones.size() + z]});
        }
        made.push_back({.name = about.name,
                        .machines = {{.name = "m",
                                      .processors = about.processors,
                                      .speed = about.speed_mean > 0 ? about.speed_mean : 1}},
                        .within_machine = about.within_zone,
                        .within_zone = about.within_zone});
        zone_of.push_back(static_cast<std::int32_t>(z));
    }
    return ResourceGraph::make(std::move(made), std::move(links));
}

/// The zone of every task by a mapper that knows no clusters.
Result<std::vector<std::int32_t>> divide_by(std::string_view mapper, const TaskGraph& graph,
                                            std::span<const ZoneAggregate> zones, std::span<const Link> between,
                                            const MapOptions& options) {
    if (mapper == "block") return place_blocks(graph.task_count(), zones, options);
    std::vector<std::int32_t> zone_of;
    const Result<ResourceGraph> made = zones_as_machines(zones, between, zone_of);
    if (!made) return made.error();
    const ResourceGraph& resources = *made;
    std::vector<std::int32_t> found;
    if (mapper == "global") {
        Result<Mapping> mapping = find_mapper(mapper)->map(graph, resources, options);
        if (!mapping) return mapping.error();
        for (const ProcessorIndex p : mapping->processor_of) found.push_back(resources.place(p).zone);
    } else {
        const WeighedTraffic weighed = weigh_traffic(graph, resources, options.weigh_messages);
        const LoadBounds bounds = load_bounds(weighed.graph, weighed.tree, options);
        if (mapper == "metis") {
            const ProcessorTree outline = weighed.tree.outline(0);
            LoadBounds of_zones{.most = std::vector<double>(static_cast<std::size_t>(resources.zone_count()), 0),
                                .counts_tasks = bounds.counts_tasks};
            for (ProcessorIndex p = 0; p < resources.processor_count(); ++p)
                of_zones.most[static_cast<std::size_t>(resources.place(p).zone)] +=
                    bounds.most[static_cast<std::size_t>(p)];
            found = metis_multisection(weighed.graph, outline, of_zones, options.seed);
            keep_bounds(weighed.graph, outline, of_zones, found);
        } else {
            found = divide_among_groups(weighed.graph, weighed.tree, bounds, options);
        }
    }
    for (std::int32_t& zone : found) zone = zone_of[static_cast<std::size_t>(zone)];
    return found;
}

/// Seconds of a step of an average task.
double seconds_of(const PlanCost& cost, TaskIndex tasks) { return cost.node + 2 * cost.link_time / tasks; }

/// Exchanges the zones of two shares, or moves a share to an empty zone, while the plan gets better: the searches know
/// one delay between all zones, `set` that of each pair. O(passes x zones^2 x degree log zones), at most
/// `kWorkOfExchange` visits of arcs.
void exchange_shares(const TaskGraph& graph, const ZoneSet& set, std::vector<std::int32_t>& zone_of_task) {
    std::vector<TaskIndex> by_zone(zone_of_task.size());
    std::iota(by_zone.begin(), by_zone.end(), 0);
    const auto zone_of = [&](TaskIndex t) { return zone_of_task[static_cast<std::size_t>(t)]; };
    std::ranges::stable_sort(by_zone, {}, zone_of);
    std::vector<std::int32_t> begins, share_in(static_cast<std::size_t>(set.count()), kNobody), zones;
    for (std::size_t i = 0; i < by_zone.size(); ++i) {
        if (i > 0 && zone_of(by_zone[i]) == zone_of(by_zone[i - 1])) continue;
        share_in[static_cast<std::size_t>(zone_of(by_zone[i]))] = static_cast<std::int32_t>(begins.size());
        zones.push_back(zone_of(by_zone[i]));
        begins.push_back(static_cast<std::int32_t>(i));
    }
    const TaskGraph ordered = subgraph(graph, by_zone);
    const ClusterGraph shares = make_cluster_graph(ordered, begins, communication_steps(graph));
    ZoneAssignment assignment(shares, set);
    for (std::int32_t c = 0; c < shares.count(); ++c) assignment.place(c, zones[static_cast<std::size_t>(c)]);
    const auto give = [&](std::int32_t share, std::int32_t other, std::int32_t zone) {
        const std::int32_t from = assignment.zone_of(share);
        assignment.take(share);
        if (other != kNobody) assignment.take(other);
        assignment.place(share, zone);
        if (other != kNobody) assignment.place(other, from);
    };
    const auto fits = [&](std::int32_t share, std::int32_t zone) {
        return share == kNobody ||
               shares.size[static_cast<std::size_t>(share)] <= set.slots[static_cast<std::size_t>(zone)];
    };
    std::int64_t work = kWorkOfExchange;
    double seconds = seconds_of(assignment.cost(), graph.task_count());
    for (bool better = true; better && work > 0;) {
        better = false;
        for (std::int32_t share = 0; share < shares.count(); ++share) {
            for (std::int32_t zone = 0; zone < set.count() && work > 0; ++zone) {
                const std::int32_t from = assignment.zone_of(share);
                const std::int32_t other = share_in[static_cast<std::size_t>(zone)];
                if (zone == from || !fits(share, zone) || !fits(other, from)) continue;
                work -= 1 + static_cast<std::int64_t>(shares.arcs_of(share).size());
                const PlanCost bound = assignment.exchange_bound(share, other, zone);
                if (seconds_of(bound, graph.task_count()) >= seconds * kLessOfPlan) continue;
                give(share, other, zone);
                const double now = seconds_of(assignment.cost(), graph.task_count());
                if (now < seconds * kLessOfPlan) {
                    seconds = now;
                    better = true;
                    std::swap(share_in[static_cast<std::size_t>(from)], share_in[static_cast<std::size_t>(zone)]);
                } else {
                    give(share, other, from);
                }
            }
        }
    }
    for (std::size_t i = 0, share = 0; i < by_zone.size(); ++i) {
        if (share + 1 < begins.size() && static_cast<std::size_t>(begins[share + 1]) == i) ++share;
        zone_of_task[static_cast<std::size_t>(by_zone[i])] = assignment.zone_of(static_cast<std::int32_t>(share));
    }
}

/// The plan in which the share of each zone is its cluster.
ZonePlan plan_of_shares(std::vector<std::int32_t> zone_of_task) {
    ZonePlan plan;
    std::map<std::int32_t, std::vector<TaskIndex>> share;
    for (std::size_t t = 0; t < zone_of_task.size(); ++t) share[zone_of_task[t]].push_back(static_cast<TaskIndex>(t));
    for (auto& [zone, tasks] : share) {
        plan.clusters.push_back(std::move(tasks));
        plan.zone_of_cluster.push_back(zone);
    }
    plan.zone_of_task = std::move(zone_of_task);
    return plan;
}

Result<ZonePlan> plan_by(std::string_view mapper, const TaskGraph& graph, std::span<const ZoneAggregate> zones,
                         std::span<const Link> between, const MapOptions& options) {
    if (mapper == "hier") {
        const ClusterTree tree =
            make_cluster_tree(graph, {.seed = options.seed, .weigh_messages = options.weigh_messages});
        return map_clusters_to_zones(graph, tree, zones, between, options);
    }
    Result<std::vector<std::int32_t>> zone_of_task = divide_by(mapper, graph, zones, between, options);
    if (!zone_of_task) return zone_of_task.error();
    return plan_of_shares(*std::move(zone_of_task));
}

/// What decides between plans.
struct PlanWorth {
    double seconds = 0;
    double bytes = 0;  ///< between zones
};

/// Sets the plan's occupancies, too. `single`: each task a cluster of its own.
PlanWorth worth_of(const TaskGraph& graph, const ClusterGraph& single, const ZoneSet& set, ZonePlan& plan) {
    ZoneAssignment assignment(single, set);
    for (TaskIndex t = 0; t < graph.task_count(); ++t)
        assignment.place(t, plan.zone_of_task[static_cast<std::size_t>(t)]);
    const PlanCost cost = assignment.cost();
    plan.node_occupancy = cost.node;
    plan.edge_occupancy = cost.edge;
    return {seconds_of(cost, graph.task_count()), inter_zone_bytes(graph, plan.zone_of_task)};
}

bool fits(std::span<const std::int32_t> zone_of_task, const ZoneSet& set) {
    std::vector<std::int64_t> free = set.slots;
    return std::ranges::all_of(zone_of_task,
                               [&](std::int32_t zone) { return free[static_cast<std::size_t>(zone)]-- > 0; });
}

}  // namespace

std::vector<std::string_view> level1_names() { return {"auto", "hier", "multilevel", "metis", "global", "block"}; }

Result<ZonePlan> map_to_zones(std::string_view mapper, const TaskGraph& graph, std::span<const ZoneAggregate> zones,
                              std::span<const Link> between, const MapOptions& options,
                              std::span<const std::int32_t> last) {
    ZBS_EXPECTS(between.size() == zones.size() * zones.size());
    ZBS_EXPECTS(last.empty() || last.size() == static_cast<std::size_t>(graph.task_count()));
    std::int64_t processors = 0;
    for (const ZoneAggregate& zone : zones) processors += zone.processors;
    if (auto ok = check_slots(graph.task_count(), processors, options); !ok) return ok.error();
    if (graph.task_count() == 0) return ZonePlan{};

    std::vector<std::int32_t> begins(static_cast<std::size_t>(graph.task_count()));
    std::iota(begins.begin(), begins.end(), 0);
    const ClusterGraph single = make_cluster_graph(graph, begins, communication_steps(graph));
    ZoneSet set{.zones = zones,
                .between = between,
                .slots = {},
                .one_task_per_processor = options.max_tasks_per_processor == 1};
    for (const ZoneAggregate& zone : zones)
        set.slots.push_back(zone.processors == 0 ? 0 : options.slots(zone.processors));
    MapOptions how = options;
    if (!is_small(graph)) how.preset = Preset::kFast;
    std::vector<std::string_view> names = {mapper};
    if (mapper == "auto") names = {"multilevel", "metis", "block"};
    if (mapper == "auto" && is_small(graph)) names.emplace_back("hier");

    std::optional<ZonePlan> best;
    PlanWorth least;
    for (const std::string_view name : names) {
        Result<ZonePlan> plan = plan_by(name, graph, zones, between, how);
        if (!plan) return plan.error();
        if (name == "multilevel" || (mapper == "auto" && name != "hier")) {
            exchange_shares(graph, set, plan->zone_of_task);
            *plan = plan_of_shares(std::move(plan->zone_of_task));
        }
        const PlanWorth worth = worth_of(graph, single, set, *plan);
        const bool is_less = worth.seconds < least.seconds * kLessOfPlan;
        const bool is_equal = !is_less && worth.seconds * kLessOfPlan <= least.seconds;
        if (best && !is_less && !(is_equal && worth.bytes < least.bytes)) continue;
        best = *std::move(plan);
        least = worth;
    }
    if (mapper == "auto" && !last.empty() && fits(last, set)) {
        ZonePlan kept = plan_of_shares({last.begin(), last.end()});
        const PlanWorth worth = worth_of(graph, single, set, kept);
        if (worth.seconds * (1 - kGainToMove) <= least.seconds && worth.bytes * (1 - kGainToMove) <= least.bytes)
            return kept;
    }
    return *std::move(best);
}

}  // namespace zbs
