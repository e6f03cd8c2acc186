#include "algorithms/mapping/objective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "algorithms/base/rng.hpp"
#include "algorithms/mapping/objective_search.hpp"
#include "algorithms/mapping/occupancy.hpp"
#include "algorithms/mapping/trees/tree_mapper.hpp"
#include "tests/support/generated_graphs.hpp"
#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

constexpr Objective kAll[] = {Objective::kOccupancy, Objective::kCost, Objective::kTime};
constexpr Preset kPresets[] = {Preset::kFast, Preset::kDefault, Preset::kStrong};

std::string name_of(Objective objective) {
    return objective == Objective::kOccupancy ? "occupancy" : objective == Objective::kCost ? "cost" : "time";
}

/// Graphs that fall apart, with zero weights, stars, cliques, teams.
TaskGraph some_graph(int tasks, std::uint64_t seed) {
    switch (seed % 5) {
        case 0:
            return test::random_graph(tasks, 0.3, seed);
        case 1:
            return test::planted_clusters({.tasks = tasks, .clusters = 3}, seed);
        case 2:
            return test::star(tasks - 1);
        case 3:
            return test::clique(tasks);
        default:
            return test::transport(2, (tasks - 1) / 2, 5, seed);
    }
}

std::vector<ProcessorIndex> anywhere(const TaskGraph& graph, ProcessorIndex processors, Rng& rng) {
    std::vector<ProcessorIndex> processor_of(static_cast<std::size_t>(graph.task_count()));
    for (ProcessorIndex& p : processor_of)
        p = static_cast<ProcessorIndex>(rng.below(static_cast<std::uint64_t>(processors)));
    return processor_of;
}

void expect_values_agree(ObjectiveState& state, Rng& rng) {
    const auto task = [&] {
        return static_cast<TaskIndex>(rng.below(static_cast<std::uint64_t>(state.graph().task_count())));
    };
    double largest = state.recompute();
    const auto move = [&](TaskIndex moved, ProcessorIndex to) {
        state.move(moved, to);
        const double exact = state.recompute();
        largest = std::max(largest, exact);
        ASSERT_NEAR(state.value(), exact, 1e-9 * largest);
    };
    for (int i = 0; i < 60; ++i) {
        const TaskIndex a = task(), b = task();
        const ProcessorIndex from = state.processor_of(a);
        const double value = state.value();
        if (rng.below(2) == 0) {
            move(a, state.processor_of(b));
            move(b, from);
        } else {
            move(a, static_cast<ProcessorIndex>(rng.below(static_cast<std::uint64_t>(state.processor_count()))));
            move(a, from);
            ASSERT_NEAR(state.value(), value, 1e-9 * largest) << "there and back";
        }
    }
}

TEST(ObjectiveProperty, ValueIsThatOfARecomputation) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const TaskGraph graph = some_graph(static_cast<int>(3 + rng.below(25)), seed);
        const ResourceGraph resources = test::random_resources(static_cast<int>(1 + rng.below(4)), seed);
        const ProcessorTree uneven = ProcessorTree::of(resources, 1000);
        const ProcessorTree deep = *ProcessorTree::uniform(std::vector{2, 3, 2, 2}, std::vector{1., 4., 20., 90.});
        for (const Objective objective : kAll) {
            SCOPED_TRACE(name_of(objective));
            expect_values_agree(
                *make_objective(objective, graph, resources, anywhere(graph, resources.processor_count(), rng)), rng);
            for (const ProcessorTree* tree : {&uneven, &deep}) {
                expect_values_agree(
                    *make_objective(objective, graph, *tree, anywhere(graph, tree->processor_count(), rng)), rng);
            }
        }
    }
}

TEST(ObjectiveProperty, ValuesAreThoseOfTheReports) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const TaskGraph graph = some_graph(12, seed);
        const ResourceGraph resources = test::random_resources(3, seed);
        const ProcessorTree tree = ProcessorTree::of(resources, 1000);
        const auto on = anywhere(graph, resources.processor_count(), rng);
        const MappingReport report = evaluate(graph, resources, {on});
        const TreeReport on_tree = evaluate_on_tree(graph, tree, on, load_bounds(graph, tree, {}));
        const auto value = [&](Objective objective, const auto& processors) {
            return make_objective(objective, graph, processors, on)->value();
        };
        EXPECT_NEAR(value(Objective::kOccupancy, resources), report.occupancy, 1e-9 * report.occupancy);
        EXPECT_NEAR(value(Objective::kOccupancy, tree), on_tree.occupancy, 1e-9 * on_tree.occupancy);
        EXPECT_NEAR(value(Objective::kCost, tree), on_tree.cost, 1e-9 * on_tree.cost);
        const double time = predicted_time(graph, resources, on);
        EXPECT_NEAR(value(Objective::kTime, resources), time, 1e-9 * time);
    }
}

/// The least value of all mappings with at most `limit` (0: any number) tasks on a processor.
double least_by_brute_force(ObjectiveState& state, int limit) {
    const TaskIndex tasks = state.graph().task_count();
    std::vector<int> on(static_cast<std::size_t>(state.processor_count()), 0);
    double best = std::numeric_limits<double>::infinity();
    const auto place = [&](const auto& self, TaskIndex task) -> void {
        if (task == tasks) {
            best = std::min(best, state.value());
            return;
        }
        for (ProcessorIndex p = 0; p < state.processor_count(); ++p) {
            if (limit > 0 && on[static_cast<std::size_t>(p)] >= limit) continue;
            ++on[static_cast<std::size_t>(p)];
            state.move(task, p);
            self(self, task + 1);
            --on[static_cast<std::size_t>(p)];
        }
    };
    place(place, 0);
    return best;
}

struct Gap {
    double sum = 0, worst = 1;
    int count = 0;
    void add(double ours, double best) {
        const double ratio = best > 0 ? ours / best : ours > 0 ? std::numeric_limits<double>::infinity() : 1;
        sum += ratio;
        worst = std::max(worst, ratio);
        ++count;
    }
    double mean() const { return sum / count; }
};

/// Zones of 3 + 2 processors, the second twice as fast; and of 4 + 3 + 2 with speeds and links drawn.
ResourceGraph small_zones(std::uint64_t seed) {
    if (seed % 2 == 0) {
        const Zone a{"a", {{"a0", 2, 1}, {"a1", 1, 1}}, {1e-6, 5e9}, {5e-5, 1e9}};
        const Zone b{"b", {{"b0", 1, 2}, {"b1", 1, 2}}, {1e-6, 5e9}, {5e-5, 1e9}};
        return *ResourceGraph::make({a, b}, {{0, 1, {seed % 4 == 0 ? 1e-4 : 5e-3, 1e8}}});
    }
    return test::uneven_zones({.zones = 3, .most_machines = 1, .most_processors = 2}, seed);
}

TEST(ObjectiveProperty, SearchIsNearTheOptimumOfSmallInstances) {
    for (const Objective objective : {Objective::kOccupancy, Objective::kTime}) {
        Gap gap[3];
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            const ResourceGraph resources = small_zones(seed);
            const int processors = resources.processor_count();
            const int limit = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 0 : 3;
            const int tasks = limit == 1 ? processors : processors > 4 ? 6 : 9 - processors / 2;
            if (tasks < 3 || (limit > 0 && tasks > limit * processors)) continue;
            const TaskGraph graph = some_graph(tasks, seed);
            const auto state = make_objective(
                objective, graph, resources, std::vector<ProcessorIndex>(static_cast<std::size_t>(graph.task_count())));
            const double best = least_by_brute_force(*state, limit);
            for (const Preset preset : kPresets) {
                // The start, not the search, takes a second with strong.
                if (preset == Preset::kStrong && seed % 16 != 0) continue;
                const MapOptions options{
                    .seed = seed, .max_tasks_per_processor = limit, .objective = objective, .preset = preset};
                const auto mapping = find_mapper("multilevel")->map(graph, resources, options);
                ASSERT_TRUE(mapping);
                gap[static_cast<int>(preset)].add(
                    make_objective(objective, graph, resources, mapping->processor_of)->recompute(), best);
            }
        }
        for (const Preset preset : kPresets) {
            const Gap& of = gap[static_cast<int>(preset)];
            const std::string key = name_of(objective) + "_" + std::to_string(static_cast<int>(preset));
            RecordProperty(key + "_mean_over_optimum", std::to_string(of.mean()));
            RecordProperty(key + "_worst_over_optimum", std::to_string(of.worst));
            // Seen: fast 1.005 and 1.11, default and strong at the optimum of every instance.
            EXPECT_LE(of.mean(), preset == Preset::kFast ? 1.01 : 1.001) << key;
            EXPECT_LE(of.worst, preset == Preset::kFast ? 1.15 : 1.01) << key;
        }
    }
}

}  // namespace
}  // namespace zbs
