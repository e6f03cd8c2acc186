#include "algorithms/mapping/trees/tree_mapper.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "algorithms/mapping/best_mapper.hpp"
#include "algorithms/mapping/group_division.hpp"
#include "algorithms/mapping/load_repair.hpp"
#include "algorithms/mapping/metis_multisection.hpp"
#include "algorithms/mapping/multilevel_mapper.hpp"
#include "algorithms/mapping/objective_search.hpp"
#include "algorithms/mapping/trees/tree_baselines.hpp"
#include "algorithms/mapping/trees/tree_evaluation.hpp"

namespace zbs {
namespace {

constexpr std::array<std::string_view, 9> kNames = {"auto",   "multilevel", "block",  "round-robin", "random",
                                                    "greedy", "metis",      "global", "hier"};

/// A link over which a byte takes `distance` seconds.
Link link_of(double distance) { return {.delay_s = distance, .bandwidth_Bps = 1 / std::max(distance, 1e-9)}; }

/// GLOBAL and HIER know a limit of tasks, no bound of compute: where all tasks are equal the one gives the other.
MapOptions with_task_limit(const TaskGraph& graph, const LoadBounds& bounds, const MapOptions& options) {
    MapOptions limited = options;
    if (bounds.counts_tasks || graph.task_count() == 0) return limited;
    const double first = graph.compute(0);
    const bool equal = first > 0 && std::ranges::all_of(graph.compute(), [&](double c) { return c == first; });
    if (!equal) return limited;
    const double least = *std::ranges::min_element(bounds.most);
    const auto limit = static_cast<int>(std::min(1e9, std::floor(least / first * (1 + 1e-9))));
    // With slow processors among them the least bound may hold too few; the repair then does all the work.
    if (limit >= 1 && static_cast<double>(limit) * static_cast<double>(bounds.most.size()) >= graph.task_count())
        limited.max_tasks_per_processor = limit;
    return limited;
}

}  // namespace

std::vector<std::string_view> tree_mapper_names() { return {kNames.begin(), kNames.end()}; }

Result<ResourceGraph> resources_of(const ProcessorTree& tree) {
    const int levels = tree.levels();
    if (levels > 3)
        return invalid("this algorithm knows zones, machines and processors, but the hierarchy has " +
                           std::to_string(levels) + " levels; take one of three levels at most, or another algorithm",
                       "--hierarchy");
    const std::span<const ProcessorTree::Group> groups = tree.groups();
    const auto children = [&](const ProcessorTree::Group& group) {
        return groups.subspan(static_cast<std::size_t>(group.first_child), static_cast<std::size_t>(group.child_count));
    };
    const auto machine = [&](const ProcessorTree::Group& group, std::size_t number) {
        return Machine{.name = "m" + std::to_string(number),
                       .processors = group.processor_count,
                       .speed = tree.speed(group.first_processor)};
    };
    const auto zone = [&](const ProcessorTree::Group& group, std::size_t number) {
        Zone made{.name = "z" + std::to_string(number), .within_zone = link_of(group.distance)};
        for (const ProcessorTree::Group& child : children(group)) {
            made.machines.push_back(machine(child, made.machines.size()));
            made.within_machine = link_of(child.distance);
        }
        return made;
    };
    std::vector<Zone> zones;
    std::vector<ResourceGraph::ZoneLink> links;
    if (levels == 1) {
        zones.push_back(
            {.name = "z0", .machines = {machine(groups[0], 0)}, .within_machine = link_of(groups[0].distance)});
    } else if (levels == 2) {
        zones.push_back(zone(groups[0], 0));
    } else {
        for (const ProcessorTree::Group& group : children(groups[0])) zones.push_back(zone(group, zones.size()));
        for (std::int32_t a = 0; a < groups[0].child_count; ++a) {
            for (std::int32_t b = a + 1; b < groups[0].child_count; ++b)
                links.push_back({a, b, link_of(tree.top_distance(a, b))});
        }
    }
    return ResourceGraph::make(std::move(zones), std::move(links));
}

Result<std::vector<ProcessorIndex>> map_onto_tree(const TaskGraph& graph, const ProcessorTree& tree,
                                                  std::string_view algorithm, const MapOptions& options) {
    if (auto ok = check_slots(graph.task_count(), tree.processor_count(), options); !ok) return ok.error();
    const LoadBounds bounds = load_bounds(graph, tree, options);
    std::vector<ProcessorIndex> processor_of;
    if (algorithm == "auto") {
        return best_on_tree(graph, tree, bounds, options);
    } else if (algorithm == "multilevel") {
        if (options.objective != Objective::kCost) return map_by_objective_on_tree(graph, tree, bounds, options);
        return multilevel_on_tree(graph, tree, bounds, options);
    } else if (algorithm == "block") {
        processor_of = block_on_tree(graph, tree, bounds);
    } else if (algorithm == "round-robin") {
        processor_of = round_robin_on_tree(graph, tree);
    } else if (algorithm == "random") {
        processor_of = random_on_tree(graph, tree, options.seed);
    } else if (algorithm == "greedy") {
        processor_of = greedy_on_tree(graph, tree, bounds);
    } else if (algorithm == "metis") {
        processor_of = metis_multisection(graph, tree, bounds, options.seed);
    } else if (algorithm == "hier" && options.level1 == "multilevel" &&
               (options.level2 == "multilevel" || options.level2 == "hier")) {
        return hier_on_tree(graph, tree, bounds, options);
    } else if (algorithm == "global" || algorithm == "hier") {
        const Result<ResourceGraph> resources = resources_of(tree);
        if (!resources) return resources.error();
        Result<Mapping> mapping =
            find_mapper(algorithm)->map(graph, *resources, with_task_limit(graph, bounds, options));
        if (!mapping) return mapping.error();
        processor_of = mapping->processor_of;
        keep_bounds(graph, tree, bounds, processor_of);
        if (processor_of == mapping->processor_of || options.objective != Objective::kCost) return processor_of;
        // GLOBAL and HIER know no bounds: what the repair had to move is searched for a better place, and where their
        // mapping is of no use for that, anew.
        const auto searched = multilevel_on_tree(graph, tree, bounds, options, &processor_of);
        const auto anew = multilevel_on_tree(graph, tree, bounds, options);
        const bool is_better =
            evaluate_on_tree(graph, tree, searched, bounds).cost <= evaluate_on_tree(graph, tree, anew, bounds).cost;
        return is_better ? searched : anew;
    } else {
        std::string names;
        for (const std::string_view name : tree_mapper_names()) names += " " + std::string(name);
        return invalid("'" + std::string(algorithm) + "' is no mapping algorithm; known are" + names, "--algorithm");
    }
    keep_bounds(graph, tree, bounds, processor_of);
    return processor_of;
}

}  // namespace zbs
