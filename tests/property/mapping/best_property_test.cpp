#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "algorithms/mapping/level1_mappers.hpp"
#include "algorithms/mapping/mapper.hpp"
#include "algorithms/mapping/objective.hpp"
#include "algorithms/mapping/trees/tree_evaluation.hpp"
#include "algorithms/mapping/trees/tree_mapper.hpp"
#include "tests/support/generated_graphs.hpp"
#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

using Sides = std::array<std::int32_t, 3>;

/// Ranks row by row, the last side fastest, with the traffic of a step along each side.
TaskGraph process_grid(const Sides& sides, const std::array<double, 3>& bytes, bool periodic) {
    std::vector<TaskEdge> edges;
    const TaskIndex tasks = sides[0] * sides[1] * sides[2];
    for (TaskIndex task = 0; task < tasks; ++task) {
        const Sides at = {task / (sides[1] * sides[2]), task / sides[2] % sides[1], task % sides[2]};
        for (std::size_t side = 0; side < 3; ++side) {
            Sides next = at;
            next[side] = (at[side] + 1) % sides[side];
            if (next[side] == 0 && (!periodic || sides[side] <= 2)) continue;
            const TaskIndex other = (next[0] * sides[1] + next[1]) * sides[2] + next[2];
            edges.push_back({std::min(task, other), std::max(task, other), bytes[side], 1});
        }
    }
    return *TaskGraph::make(std::vector<double>(static_cast<std::size_t>(tasks), 1), edges);
}

std::vector<Sides> factors(std::int32_t count) {
    std::vector<Sides> found;
    for (std::int32_t a = 1; a <= count; ++a) {
        for (std::int32_t b = 1; a * b <= count; ++b) {
            if (count % (a * b) == 0) found.push_back({a, b, count / a / b});
        }
    }
    return found;
}

/// The cost of the best boxes of machines within boxes of zones, by trying all of them; infinite where none divides the
/// sides. One rank a processor.
double best_nested_tiling(const TaskGraph& graph, const Sides& sides, const std::vector<int>& arity,
                          const ProcessorTree& tree) {
    double best = std::numeric_limits<double>::infinity();
    std::vector<ProcessorIndex> mapping(static_cast<std::size_t>(graph.task_count()));
    for (const Sides& machine : factors(arity[0])) {
        for (const Sides& zone : factors(arity[1])) {
            bool divides = true;
            for (std::size_t side = 0; side < 3; ++side)
                divides = divides && sides[side] % (machine[side] * zone[side]) == 0;
            if (!divides) continue;
            for (TaskIndex task = 0; task < graph.task_count(); ++task) {
                const Sides at = {task / (sides[1] * sides[2]), task / sides[2] % sides[1], task % sides[2]};
                std::int32_t zone_at = 0, machine_at = 0, processor_at = 0;
                for (std::size_t side = 0; side < 3; ++side) {
                    const std::int32_t box = machine[side] * zone[side];
                    zone_at = zone_at * (sides[side] / box) + at[side] / box;
                    machine_at = machine_at * zone[side] + at[side] % box / machine[side];
                    processor_at = processor_at * machine[side] + at[side] % machine[side];
                }
                mapping[static_cast<std::size_t>(task)] = (zone_at * arity[1] + machine_at) * arity[0] + processor_at;
            }
            best = std::min(best, evaluate_on_tree(graph, tree, mapping, load_bounds(graph, tree, {})).cost);
        }
    }
    return best;
}

double cost_of(const TaskGraph& graph, const ProcessorTree& tree, std::string_view mapper, const MapOptions& options) {
    const std::vector<ProcessorIndex> mapping = map_onto_tree(graph, tree, mapper, options).value();
    const TreeReport report = evaluate_on_tree(graph, tree, mapping, load_bounds(graph, tree, options));
    EXPECT_TRUE(report.feasible) << mapper;
    return report.cost;
}

TEST(BestMapperProperty, ProcessGridsCostNoMoreThanTheBestNestedTiling) {
    constexpr std::array<std::int32_t, 5> kMachine = {2, 4, 8, 6, 16}, kZone = {2, 4, 8, 9, 6},
                                          kZones = {2, 3, 4, 6, 8};
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        Rng rng(seed);
        const auto any = [&](const auto& values) { return values[rng.below(values.size())]; };
        const std::vector<int> arity = {any(kMachine), any(kZone), any(kZones)};
        const std::int32_t tasks = arity[0] * arity[1] * arity[2];
        std::vector<Sides> shapes;
        for (const Sides& shape : factors(tasks)) {
            const bool is_plane = seed % 2 == 0;
            if (*std::ranges::max_element(shape) <= 32 && shape[1] > 1 && shape[2] > 1 && (shape[0] == 1) == is_plane)
                shapes.push_back(shape);
        }
        if (shapes.empty() || tasks < 64) continue;
        const Sides shape = any(shapes);
        const auto weight = [&] { return static_cast<double>(1 + rng.below(6)); };
        const TaskGraph graph = process_grid(shape, {weight(), weight(), weight()}, seed % 3 == 0);
        const ProcessorTree tree = *ProcessorTree::uniform(arity, std::vector{1., 10., 100.});
        const double best = best_nested_tiling(graph, shape, arity, tree);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(tasks) + " ranks");
        MapOptions options{.max_tasks_per_processor = 0, .preset = Preset::kFast, .imbalance = 0};
        EXPECT_LE(cost_of(graph, tree, "auto", options), 1.03 * best);
        options.preset = Preset::kDefault;
        if (tasks <= 256) {
            EXPECT_LE(cost_of(graph, tree, "auto", options), best);
        }
    }
}

TEST(BestMapperProperty, OnTreesNoOtherMapperIsBetter) {
    const ProcessorTree trees[] = {*ProcessorTree::uniform(std::vector{4, 3, 3}, std::vector{1., 10., 100.}),
                                   ProcessorTree::of(test::uneven_zones({.zones = 3, .most_machines = 3}, 9), 1000)};
    const TaskGraph graphs[] = {test::mesh_with_holes(300, 4), test::rmat(7, 600, 2), test::transport(12, 9, 3, 1),
                                test::star(90), process_grid({1, 12, 12}, {1, 5, 1}, false)};
    for (const ProcessorTree& tree : trees) {
        for (const TaskGraph& graph : graphs) {
            for (const double imbalance : {0.03, 0.3}) {
                const MapOptions options{.max_tasks_per_processor = 0, .preset = Preset::kFast, .imbalance = imbalance};
                const LoadBounds bounds = load_bounds(graph, tree, options);
                const auto judged = [&](std::string_view name) {
                    return evaluate_on_tree(graph, tree, map_onto_tree(graph, tree, name, options).value(), bounds);
                };
                const TreeReport best = judged("auto");
                for (const std::string_view name : {"block", "metis", "multilevel", "greedy"}) {
                    const TreeReport other = judged(name);
                    if (!other.feasible) continue;
                    EXPECT_TRUE(best.feasible) << name;
                    EXPECT_LE(best.cost, other.cost * (1 + 1e-9)) << name << ", " << graph.task_count() << " tasks";
                }
            }
        }
    }
}

/// On zones of equal processors the traffic alone decides.
TEST(BestMapperProperty, OnEqualZonesNoOtherMapperCostsLess) {
    const ResourceGraph resources = test::flat_zones({24, 24, 24, 24}, {5e-3, 1e8});
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const TaskGraph graph = test::planted_clusters({.tasks = 60, .clusters = 5}, seed);
        const auto cost = [&](std::string_view name) {
            const Mapping mapping = find_mapper(name)->map(graph, resources, {.preset = Preset::kFast}).value();
            return make_objective(Objective::kCost, graph, resources, mapping.processor_of)->value();
        };
        const double best = cost("auto");
        for (const std::string_view name : {"block", "metis", "multilevel", "hier"})
            EXPECT_LE(best, cost(name) * (1 + 1e-9)) << name << ", seed " << seed;
    }
}

TEST(BestMapperProperty, OnSmallZonesNoOtherMapperCostsLess) {
    const ResourceGraph resources = test::flat_zones({3, 2, 4, 5}, {5e-3, 1e8});
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const TaskGraph graph = test::planted_clusters({.tasks = 13, .clusters = 4}, seed);
        const MapOptions options{.preset = Preset::kFast};
        const auto cost_of = [&](const std::vector<ProcessorIndex>& processor_of) {
            return make_objective(Objective::kCost, graph, resources, processor_of)->value();
        };
        const auto cost = [&](std::string_view name) {
            return cost_of(find_mapper(name)->map(graph, resources, options).value().processor_of);
        };
        const double best = cost("auto");
        for (const std::string_view name : {"block", "metis", "multilevel", "hier", "global"})
            EXPECT_LE(best, cost(name) * (1 + 1e-9)) << name << ", seed " << seed;
        const WeighedTraffic weighed = weigh_traffic(graph, resources, true);
        EXPECT_LE(best, cost_of(map_onto_tree(weighed.graph, weighed.tree, "greedy", options).value()) * (1 + 1e-9))
            << "greedy, seed " << seed;
    }
}

/// With twice as many processors as tasks, so that it matters which are used; too many tasks to anneal the cost.
TEST(BestMapperProperty, WithProcessorsToSpareNoOtherMapperCostsLess) {
    const ResourceGraph resources = test::flat_zones({120, 80, 200, 100}, {5e-3, 1e8});
    for (const TaskGraph& graph :
         {test::star(250), process_grid({1, 25, 10}, {1, 3000, 1000}, true), test::transport(15, 16, 3, 1)}) {
        const auto cost = [&](std::string_view name) {
            const Mapping mapping = find_mapper(name)->map(graph, resources, {.preset = Preset::kFast}).value();
            return make_objective(Objective::kCost, graph, resources, mapping.processor_of)->value();
        };
        const double best = cost("auto");
        for (const std::string_view name : {"block", "metis", "multilevel", "hier", "global"})
            EXPECT_LE(best, cost(name) * (1 + 1e-9)) << name << ", " << graph.task_count() << " tasks";
    }
}

TEST(BestMapperProperty, NoOtherLevel1SendsMoreBytesBetweenEqualZones) {
    const ResourceGraph resources = test::flat_zones({16, 24, 8, 32}, {5e-3, 1e8});
    const std::vector<ZoneAggregate> zones = aggregate_zones(resources);
    const std::vector<Link> between = links_between_zones(resources);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const TaskGraph planted = test::planted_clusters({.tasks = 70, .clusters = 7}, seed);
        // As many messages as bytes, so that both have one order.
        std::vector<TaskEdge> edges(planted.edges().begin(), planted.edges().end());
        for (TaskEdge& edge : edges) edge.messages = edge.bytes;
        const TaskGraph graph = *TaskGraph::make(std::vector<double>(70, 1e-3), edges);
        const auto bytes = [&](std::string_view name) {
            const ZonePlan plan = map_to_zones(name, graph, zones, between, {.seed = seed}).value();
            EXPECT_EQ(plan.zone_of_task.size(), 70u) << name;
            return inter_zone_bytes(graph, plan.zone_of_task);
        };
        const double best = bytes("auto");
        for (const std::string_view name : {"hier", "multilevel", "metis", "block"})
            EXPECT_LE(best, bytes(name) * (1 + 1e-9)) << name;
    }
}

}  // namespace
}  // namespace zbs
