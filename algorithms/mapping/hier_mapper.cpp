#include "algorithms/mapping/hier_mapper.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "algorithms/graph/shortest_path_clustering.hpp"
#include "algorithms/mapping/global_mapper.hpp"
#include "algorithms/mapping/group_division.hpp"
#include "algorithms/mapping/objective.hpp"

namespace zbs {
namespace {

constexpr std::size_t kMaxGroups = 256;  // links between groups take quadratic memory

bool has_groups(const Zone& zone) {
    return zone.machines.size() > 1 && zone.machines.size() <= kMaxGroups &&
           std::ranges::any_of(zone.machines, [](const Machine& machine) { return machine.processors > 1; });
}

/// The machines of a zone as zones of their own, so the same level-1 step spreads clusters over machines.
ResourceGraph machines_as_zones(const Zone& zone) {
    std::vector<Zone> groups;
    std::vector<ResourceGraph::ZoneLink> links;
    for (std::size_t m = 0; m < zone.machines.size(); ++m) {
        groups.push_back({.name = zone.machines[m].name,
                          .machines = {zone.machines[m]},
                          .within_machine = zone.within_machine,
                          .within_zone = zone.within_machine});
        for (std::size_t other = 0; other < m; ++other) {
            links.push_back({static_cast<std::int32_t>(other), static_cast<std::int32_t>(m), zone.within_zone});
        }
    }
    Result<ResourceGraph> made = ResourceGraph::make(std::move(groups), std::move(links));
    ZBS_EXPECTS(made.has_value());
    return *std::move(made);
}

ResourceGraph only(const Zone& zone) {
    Result<ResourceGraph> made = ResourceGraph::make({zone}, {});
    ZBS_EXPECTS(made.has_value());
    return *std::move(made);
}

/// Tasks of a part, numbered in cluster-tree order already, by the named mapper.
Result<Mapping> map_part(const TaskGraph& part, const ResourceGraph& zone, double steps, const Mapper& level2,
                         const MapOptions& options) {
    if (level2.name() != "global") return level2.map(part, zone, options);
    // The cluster tree of the whole application orders a part as well as a tree of its own would, and is at hand.
    OccupancyState state(part, zone, steps);
    map_in_order(state, options);
    improve(state, options);
    return state.mapping();
}

double sum_of(std::span<const double> compute) { return std::accumulate(compute.begin(), compute.end(), 0.0); }

/// The same bounds of processors for a zone alone as for all: it may hold more or less than its share.
MapOptions within(const MapOptions& options, const TaskGraph& graph, const ResourceGraph& resources,
                  const TaskGraph& part, const ResourceGraph& zone) {
    MapOptions made = options;
    double speed = 0;
    for (const Zone& each : resources.zones()) speed += each.speed_sum();
    const double load = sum_of(part.compute());
    if (load > 0) {
        const double share = sum_of(graph.compute()) * zone.zones()[0].speed_sum() / speed;
        made.imbalance = std::max(0.0, (1 + options.imbalance) * share / load - 1);
    }
    return made;
}

std::string known_mappers() {
    std::string names;
    for (const std::string_view name : mapper_names()) names += " " + std::string(name);
    return names;
}

}  // namespace

Result<Mapping> HierMapper::map(const TaskGraph& graph, const ResourceGraph& resources,
                                const MapOptions& options) const {
    if (auto ok = check_slots(graph.task_count(), resources.processor_count(), options); !ok) return ok.error();
    const Mapper* level2 = find_mapper(options.level2);
    if (level2 == nullptr)
        return invalid("'" + std::string(options.level2) + "' is no mapper inside a zone; take" + known_mappers(),
                       "--level2");
    const bool by_clusters = options.level1 == "clusters";
    if (!by_clusters && options.level1 != "multilevel")
        return invalid("'" + std::string(options.level1) +
                       "' divides no tasks among zones; choose clusters or multilevel for level 1");
    const bool machines_are_groups = resources.zone_count() == 1 && has_groups(resources.zones()[0]);
    // Machines are the last groups there are: below them, and in a zone without such, HIER has nothing to add.
    if (resources.zone_count() == 1 && level2->name() == name()) level2 = find_mapper("global");
    const ResourceGraph groups = machines_are_groups ? machines_as_zones(resources.zones()[0]) : resources;

    // The cluster tree orders tasks for GLOBAL, too.
    ClusterTree tree;
    if (by_clusters || level2->name() == "global") {
        tree = make_cluster_tree(graph, {.seed = options.seed, .weigh_messages = options.weigh_messages});
    } else {
        tree.order.resize(static_cast<std::size_t>(graph.task_count()));
        std::iota(tree.order.begin(), tree.order.end(), 0);
    }
    std::vector<std::int32_t> zone_of_task;
    if (by_clusters) {
        Result<ZonePlan> plan =
            map_clusters_to_zones(graph, tree, aggregate_zones(groups), links_between_zones(groups), options);
        if (!plan) return plan.error();
        zone_of_task = std::move(plan->zone_of_task);
    } else {
        const WeighedTraffic weighed = weigh_traffic(graph, groups, options.weigh_messages);
        zone_of_task =
            divide_among_groups(weighed.graph, weighed.tree, load_bounds(graph, weighed.tree, options), options);
    }

    std::vector<std::vector<TaskIndex>> tasks_of(static_cast<std::size_t>(groups.zone_count()));
    for (const TaskIndex task : tree.order)
        tasks_of[static_cast<std::size_t>(zone_of_task[static_cast<std::size_t>(task)])].push_back(task);
    const double steps = communication_steps(graph);
    Mapping mapping{std::vector<ProcessorIndex>(tree.order.size())};
    for (std::int32_t group = 0; group < groups.zone_count(); ++group) {
        const std::vector<TaskIndex>& tasks = tasks_of[static_cast<std::size_t>(group)];
        if (tasks.empty()) continue;
        const ResourceGraph zone = only(groups.zones()[static_cast<std::size_t>(group)]);
        const TaskGraph part_graph = subgraph(graph, tasks);
        const Result<Mapping> part =
            map_part(part_graph, zone, steps, *level2, within(options, graph, resources, part_graph, zone));
        if (!part) return part.error();
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            mapping.processor_of[static_cast<std::size_t>(tasks[i])] =
                groups.first_processor_of_zone(group) + part->processor_of[i];
        }
    }
    return mapping;
}

}  // namespace zbs
