#include "algorithms/mapping/zone_planner.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "algorithms/mapping/occupancy.hpp"
#include "algorithms/mapping/zone_assignment.hpp"

namespace zbs {
namespace {

// Visits of arcs that moves and swaps of all levels may take, and more for every edge.
constexpr std::int64_t kSearchWork = 10'000'000, kSearchWorkOfEdge = 10;
constexpr int kPatience = 2;  // levels without gain before finer ones are not tried any more

std::int64_t count_processors(std::span<const ZoneAggregate> zones) {
    std::int64_t sum = 0;
    for (const ZoneAggregate& zone : zones) sum += zone.processors;
    return sum;
}

/// One level down: inner nodes give way to their children.
std::vector<std::int32_t> descend(const ClusterTree& tree, const std::vector<std::int32_t>& frontier) {
    std::vector<std::int32_t> finer;
    for (const std::int32_t index : frontier) {
        const ClusterTree::Node& node = tree.node(index);
        if (node.is_leaf()) finer.push_back(index);
        for (std::int32_t child = 0; child < node.child_count; ++child) finer.push_back(node.first_child + child);
    }
    return finer;
}

}  // namespace

std::vector<ZoneAggregate> aggregate_zones(const ResourceGraph& resources) {
    std::vector<ZoneAggregate> aggregates;
    for (const Zone& zone : resources.zones()) {
        ZoneAggregate about{.name = zone.name,
                            .processors = zone.processor_count(),
                            .speed_sum = zone.speed_sum(),
                            .within_zone = zone.within_zone};
        about.speed_mean = about.speed_sum / about.processors;
        for (const Machine& machine : zone.machines) {
            const double off = machine.speed - about.speed_mean;
            about.speed_variance += machine.processors * off * off / about.processors;
            about.largest_machine = std::max(about.largest_machine, machine.processors);
        }
        aggregates.push_back(std::move(about));
    }
    return aggregates;
}

std::vector<Link> links_between_zones(const ResourceGraph& resources) {
    std::vector<Link> links;
    for (std::int32_t a = 0; a < resources.zone_count(); ++a) {
        for (std::int32_t b = 0; b < resources.zone_count(); ++b) links.push_back(resources.zone_link(a, b));
    }
    return links;
}

Result<ZonePlan> map_clusters_to_zones(const TaskGraph& graph, const ClusterTree& tree,
                                       std::span<const ZoneAggregate> zones, std::span<const Link> between,
                                       const MapOptions& options) {
    ZBS_EXPECTS(tree.order.size() == static_cast<std::size_t>(graph.task_count()));
    ZBS_EXPECTS(between.size() == zones.size() * zones.size());
    if (auto ok = check_slots(graph.task_count(), count_processors(zones), options); !ok) return ok.error();
    if (graph.task_count() == 0) return ZonePlan{};

    ZoneSet set{.zones = zones,
                .between = between,
                .slots = {},
                .one_task_per_processor = options.max_tasks_per_processor == 1};
    std::int64_t most_slots = 0;
    for (const ZoneAggregate& zone : zones) {
        set.slots.push_back(zone.processors == 0 ? 0 : options.slots(zone.processors));
        most_slots = std::max(most_slots, set.slots.back());
    }
    const TaskGraph ordered = subgraph(graph, tree.order);  // clusters become ranges of task numbers
    const double steps = communication_steps(ordered);

    std::vector<std::int32_t> frontier = {ClusterTree::kRoot};
    std::vector<std::int32_t> best_frontier;
    std::optional<Assigned> best;
    std::int64_t work = kSearchWork + kSearchWorkOfEdge * static_cast<std::int64_t>(graph.edge_count());
    for (int misses = 0; misses < kPatience;) {
        const bool any_too_large =
            std::ranges::any_of(frontier, [&](std::int32_t n) { return tree.node(n).size() > most_slots; });
        if (!any_too_large) {
            std::vector<std::int32_t> begins;
            for (const std::int32_t n : frontier) begins.push_back(tree.node(n).begin);
            work -= 2 * static_cast<std::int64_t>(graph.edge_count());
            std::optional<Assigned> assigned = assign_clusters(make_cluster_graph(ordered, begins, steps), set, work);
            if (assigned && (!best || assigned->cost.better_than(best->cost))) {
                best = std::move(assigned);
                best_frontier = frontier;
                misses = 0;
            } else if (best) {
                ++misses;
            }
            if (best && work <= 0) break;
        }
        std::vector<std::int32_t> finer = descend(tree, frontier);
        if (finer == frontier) break;
        frontier = std::move(finer);
    }
    ZBS_EXPECTS(best.has_value());  // single tasks always fit: the slots were counted

    ZonePlan plan;
    plan.zone_of_task.resize(tree.order.size());
    plan.zone_of_cluster = best->zone_of_cluster;
    plan.node_occupancy = best->cost.node;
    plan.edge_occupancy = best->cost.edge;
    for (std::size_t c = 0; c < best_frontier.size(); ++c) {
        const auto tasks = tree.tasks(best_frontier[c]);
        plan.clusters.emplace_back(tasks.begin(), tasks.end());
        for (const TaskIndex task : tasks) plan.zone_of_task[static_cast<std::size_t>(task)] = plan.zone_of_cluster[c];
    }
    return plan;
}

Result<std::vector<std::int32_t>> place_blocks(int tasks, std::span<const ZoneAggregate> zones,
                                               const MapOptions& options) {
    ZBS_EXPECTS(tasks >= 0);
    const std::int64_t processors = count_processors(zones);
    if (auto ok = check_slots(tasks, processors, options); !ok) return ok.error();
    std::int64_t per_processor = options.max_tasks_per_processor;
    if (per_processor == 0) per_processor = std::max<std::int64_t>(1, (tasks + processors - 1) / processors);
    const auto slots = [&](std::int32_t zone) {
        return zones[static_cast<std::size_t>(zone)].processors * per_processor;
    };

    std::vector<std::int32_t> by_slots(zones.size());
    std::iota(by_slots.begin(), by_slots.end(), 0);
    std::ranges::stable_sort(by_slots, std::greater<>{}, slots);
    std::vector<std::int32_t> chosen;
    std::int64_t left = tasks;
    for (std::size_t i = 0; left > 0; ++i) {
        std::size_t pick = i;
        // The last zone: the smallest that still holds the rest, so large ones stay whole for others.
        for (std::size_t k = i + 1; k < by_slots.size() && slots(by_slots[k]) >= left; ++k) {
            if (slots(by_slots[k]) < slots(by_slots[pick])) pick = k;
        }
        chosen.push_back(by_slots[pick]);
        left -= slots(by_slots[pick]);
    }
    std::ranges::sort(chosen);
    std::vector<std::int32_t> zone_of_task;
    for (const std::int32_t zone : chosen) {
        for (std::int64_t s = 0; s < slots(zone) && zone_of_task.size() < static_cast<std::size_t>(tasks); ++s)
            zone_of_task.push_back(zone);
    }
    return zone_of_task;
}

double inter_zone_bytes(const TaskGraph& graph, std::span<const std::int32_t> zone_of_task) {
    ZBS_EXPECTS(zone_of_task.size() == static_cast<std::size_t>(graph.task_count()));
    double sum = 0;
    for (const TaskEdge& edge : graph.edges()) {
        if (zone_of_task[static_cast<std::size_t>(edge.u)] != zone_of_task[static_cast<std::size_t>(edge.v)])
            sum += edge.bytes;
    }
    return sum;
}

}  // namespace zbs
