#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "algorithms/mapping/mapper.hpp"
#include "algorithms/mapping/objective.hpp"
#include "algorithms/mapping/trees/tree_evaluation.hpp"
#include "algorithms/mapping/trees/tree_mapper.hpp"
#include "tests/support/generated_graphs.hpp"
#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

/// Really at once, and not in order.
class Threads final : public TaskRunner {
  public:
    explicit Threads(int width) : width_(width) {}
    int width() const override { return width_; }
    void run(int count, const std::function<void(int)>& work) override {
        std::vector<std::thread> threads;
        for (int t = 0; t < width_; ++t) {
            threads.emplace_back([&, t] {
                for (int i = count - 1 - t; i >= 0; i -= width_) work(i);
            });
        }
        for (std::thread& thread : threads) thread.join();
    }

  private:
    int width_;
};

TaskGraph unit_compute(const TaskGraph& graph) {
    return *TaskGraph::make(std::vector<double>(static_cast<std::size_t>(graph.task_count()), 1),
                            {graph.edges().begin(), graph.edges().end()});
}

struct Named {
    std::string name;
    TaskGraph graph;
};
/// What mappers trip over; compute is 1, so that bounds can always be kept.
std::vector<Named> odd_graphs() {
    std::vector<TaskEdge> no_weight;
    for (TaskIndex t = 1; t < 12; ++t) no_weight.push_back({t - 1, t, 0, 0});
    std::vector<TaskEdge> two_parts;
    for (TaskIndex t = 1; t < 20; ++t)
        if (t != 10) two_parts.push_back({t - 1, t, 1e6, 10});
    return {{"one task", test::isolated(1)},
            {"two tasks", test::clique(2)},
            {"no edges", test::isolated(23)},
            {"star", test::star(40)},
            {"clique", test::clique(17)},
            {"zero weights", *TaskGraph::make(std::vector<double>(12, 1), no_weight)},
            {"two parts", *TaskGraph::make(std::vector<double>(20, 1), two_parts)},
            {"falls apart", unit_compute(test::random_graph(30, 0.05, 3))},
            {"grid", test::grid(12, 9)},
            {"teams", unit_compute(test::transport(5, 6, 3, 1))}};
}

std::vector<std::pair<std::string, ProcessorTree>> odd_trees() {
    const auto uniform = [](std::vector<int> arity, std::vector<double> distances) {
        return *ProcessorTree::uniform(arity, distances);
    };
    return {{"1", uniform({1}, {1})},
            {"5", uniform({5}, {1})},
            {"2:3:2", uniform({2, 3, 2}, {1, 10, 100})},
            {"3:1:2", uniform({3, 1, 2}, {1, 1, 7})},
            {"6+4", ProcessorTree::of(test::flat_zones({6, 4}, {1e-3, 1e8}), 1000)},
            {"speeds", ProcessorTree::of(test::uneven_zones({.zones = 3, .most_machines = 3}, 9), 1000)}};
}

void expect_kept(const TaskGraph& graph, const ProcessorTree& tree, const std::vector<ProcessorIndex>& processor_of,
                 const MapOptions& options) {
    ASSERT_EQ(processor_of.size(), static_cast<std::size_t>(graph.task_count()));
    for (const ProcessorIndex p : processor_of) {
        ASSERT_GE(p, 0);
        ASSERT_LT(p, tree.processor_count());
    }
    EXPECT_TRUE(evaluate_on_tree(graph, tree, processor_of, load_bounds(graph, tree, options)).feasible);
}

TEST(TreeMapperProperty, OddGraphsOnOddTreesKeepTheBounds) {
    for (const auto& [tree_name, tree] : odd_trees()) {
        for (const Named& in : odd_graphs()) {
            for (const int limit : {0, 1, 4}) {
                if (limit > 0 && in.graph.task_count() > limit * tree.processor_count()) continue;
                for (const std::string_view name : tree_mapper_names()) {
                    SCOPED_TRACE(tree_name + ", " + in.name + ", limit " + std::to_string(limit) + ", " +
                                 std::string(name));
                    const MapOptions options{.max_tasks_per_processor = limit, .preset = Preset::kFast};
                    const auto mapped = map_onto_tree(in.graph, tree, name, options);
                    ASSERT_TRUE(mapped) << mapped.error().message;
                    expect_kept(in.graph, tree, *mapped, options);
                    EXPECT_EQ(*mapped, *map_onto_tree(in.graph, tree, name, options)) << "equal arguments";
                }
            }
        }
    }
}

TEST(TreeMapperProperty, EveryObjectiveAndEveryWayOfHierKeepTheBounds) {
    for (const auto& [tree_name, tree] : odd_trees()) {
        for (const Named& in : odd_graphs()) {
            SCOPED_TRACE(tree_name + ", " + in.name);
            for (const Objective objective : {Objective::kOccupancy, Objective::kTime}) {
                const MapOptions options{.max_tasks_per_processor = 0, .objective = objective, .preset = Preset::kFast};
                const auto mapped = map_onto_tree(in.graph, tree, "multilevel", options);
                ASSERT_TRUE(mapped);
                expect_kept(in.graph, tree, *mapped, options);
            }
            for (const std::string_view level2 : {"multilevel", "hier"}) {
                const MapOptions options{
                    .max_tasks_per_processor = 0, .level1 = "multilevel", .level2 = level2, .preset = Preset::kFast};
                const auto mapped = map_onto_tree(in.graph, tree, "hier", options);
                ASSERT_TRUE(mapped);
                expect_kept(in.graph, tree, *mapped, options);
            }
        }
    }
}

TEST(TreeMapperProperty, ResultsDoNotDependOnTheWidthOfTheRunner) {
    const ProcessorTree tree = *ProcessorTree::uniform(std::vector{4, 3, 3}, std::vector{1., 10., 100.});
    const Named graphs[] = {{"mesh", test::mesh_with_holes(700, 4)},
                            {"rmat", test::rmat(8, 1200, 2)},
                            {"teams", unit_compute(test::transport(12, 9, 3, 1))}};
    struct Way {
        std::string_view algorithm, level1, level2;
        Objective objective;
        Preset preset;
    };
    const Way ways[] = {{"multilevel", "clusters", "global", Objective::kCost, Preset::kFast},
                        {"multilevel", "clusters", "global", Objective::kCost, Preset::kDefault},
                        {"multilevel", "clusters", "global", Objective::kOccupancy, Preset::kFast},
                        {"multilevel", "clusters", "global", Objective::kTime, Preset::kFast},
                        {"hier", "multilevel", "multilevel", Objective::kCost, Preset::kFast},
                        {"hier", "multilevel", "hier", Objective::kCost, Preset::kDefault}};
    for (const Named& in : graphs) {
        for (const Way& way : ways) {
            if (way.objective != Objective::kCost && in.name != graphs[0].name) continue;
            SCOPED_TRACE(in.name + " " + std::string(way.algorithm) + " " + std::string(way.level2));
            MapOptions options{.max_tasks_per_processor = 0,
                               .level1 = way.level1,
                               .level2 = way.level2,
                               .objective = way.objective,
                               .preset = way.preset};
            const auto serial = map_onto_tree(in.graph, tree, way.algorithm, options);
            ASSERT_TRUE(serial);
            expect_kept(in.graph, tree, *serial, options);
            for (const int width : {2, 4}) {
                Threads threads(width);
                options.runner = &threads;
                EXPECT_EQ(*serial, *map_onto_tree(in.graph, tree, way.algorithm, options)) << width;
            }
        }
    }
}

TEST(MapperProperty, OddGraphsOnUnevenZonesKeepTheLimit) {
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
        const ResourceGraph resources = seed == 0 ? test::flat_zones({6, 4}, {1e-3, 1e8})
                                                  : test::uneven_zones({.zones = 3, .most_machines = 3}, seed);
        for (const Named& in : odd_graphs()) {
            for (const int limit : {0, 1, 4}) {
                if (limit > 0 && in.graph.task_count() > limit * resources.processor_count()) continue;
                for (const std::string_view name : mapper_names()) {
                    for (const Objective objective : {Objective::kCost, Objective::kOccupancy, Objective::kTime}) {
                        if (objective != Objective::kCost && (name != "multilevel" || seed > 0)) continue;
                        SCOPED_TRACE(in.name + ", limit " + std::to_string(limit) + ", " + std::string(name));
                        MapOptions options{.seed = seed,
                                           .max_tasks_per_processor = limit,
                                           .objective = objective,
                                           .preset = Preset::kFast};
                        const auto mapping = find_mapper(name)->map(in.graph, resources, options);
                        ASSERT_TRUE(mapping);
                        std::vector<int> tasks_on(static_cast<std::size_t>(resources.processor_count()), 0);
                        ASSERT_EQ(mapping->processor_of.size(), static_cast<std::size_t>(in.graph.task_count()));
                        for (const ProcessorIndex p : mapping->processor_of) {
                            ASSERT_TRUE(p >= 0 && p < resources.processor_count());
                            EXPECT_LE(++tasks_on[static_cast<std::size_t>(p)], options.slots(1));
                        }
                        Threads threads(2);
                        options.runner = &threads;
                        EXPECT_EQ(*mapping, *find_mapper(name)->map(in.graph, resources, options));
                    }
                }
            }
        }
    }
}

TEST(HierProperty, EveryWayOfLevel1And2KeepsTheLimit) {
    const ResourceGraph resources = test::flat_zones({6, 4, 5}, {1e-3, 1e8});
    for (const Named& in : odd_graphs()) {
        for (const std::string_view level2 : mapper_names()) {
            for (const int limit : {0, 1, 8}) {
                if (limit > 0 && in.graph.task_count() > limit * resources.processor_count()) continue;
                SCOPED_TRACE(in.name + ", limit " + std::to_string(limit) + ", " + std::string(level2));
                const auto mapping = find_mapper("hier")->map(in.graph, resources,
                                                              {.max_tasks_per_processor = limit,
                                                               .level1 = "multilevel",
                                                               .level2 = level2,
                                                               .preset = Preset::kFast});
                ASSERT_TRUE(mapping);
                std::vector<int> tasks_on(15, 0);
                for (const ProcessorIndex p : mapping->processor_of) {
                    if (++tasks_on[static_cast<std::size_t>(p)] > limit && limit > 0) ADD_FAILURE();
                }
            }
        }
    }
    EXPECT_FALSE(find_mapper("hier")->map(test::clique(3), resources, {.level1 = "magic"}));
}

/// Limit behaviour 1 of [TauraChien2000]: equal tasks and processors, no traffic.
TEST(OccupancyLimit, WithoutTrafficTasksAreSpreadPerfectly) {
    for (const Preset preset : {Preset::kFast, Preset::kDefault}) {
        for (const int tasks : {4, 10, 13, 40}) {
            const ResourceGraph resources = test::flat_zones({6, 4}, {5e-3, 1e8});
            const TaskGraph graph = test::isolated(tasks);
            const auto mapping =
                find_mapper("multilevel")
                    ->map(graph, resources,
                          {.max_tasks_per_processor = 0, .objective = Objective::kOccupancy, .preset = preset});
            EXPECT_EQ(predicted_time(graph, resources, mapping->processor_of), (tasks + 9) / 10) << tasks;
        }
    }
}

/// Limit behaviour 2: the slower the link between zones, the less is used of them, until all is in one.
TEST(OccupancyLimit, SlowLinksGatherTasksInOneZone) {
    const TaskGraph graph = test::planted_clusters({.tasks = 24, .clusters = 3, .contrast = 2}, 5);
    const auto zones_used = [&](double bandwidth) {
        const ResourceGraph resources = test::flat_zones({6, 4}, {1e-6, bandwidth}, {1e-6, 1e12});
        const auto mapping =
            find_mapper("multilevel")
                ->map(graph, resources,
                      {.max_tasks_per_processor = 0, .objective = Objective::kOccupancy, .preset = Preset::kFast});
        bool first = false, second = false;
        for (const ProcessorIndex p : mapping->processor_of) (p < 6 ? first : second) = true;
        return int{first} + int{second};
    };
    EXPECT_EQ(zones_used(1e12), 2);
    EXPECT_EQ(zones_used(1e2), 1);
}

/// Compute 1, so that the balance bound of trees is whole.
TEST(MultilevelProperty, IsNearTheOptimalCostOfSmallInstances) {
    double sum[3] = {}, worst[3] = {};
    int count[3] = {};
    const ProcessorTree trees[] = {*ProcessorTree::uniform(std::vector{2, 2, 2}, std::vector{1., 10., 100.}),
                                   ProcessorTree::of(test::flat_zones({4, 3}, {1e-3, 1e8}), 1000),
                                   *ProcessorTree::uniform(std::vector{2, 2}, std::vector{1., 10.})};
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        const ProcessorTree& tree = trees[seed % 3];
        const int tasks = seed % 3 == 2 ? 9 : tree.processor_count();
        const TaskGraph graph =
            unit_compute(seed % 2 == 0 ? test::random_graph(tasks, 0.4, seed)
                                       : test::planted_clusters({.tasks = tasks, .clusters = 3, .contrast = 5}, seed));
        const MapOptions base{.max_tasks_per_processor = 0};
        const LoadBounds bounds = load_bounds(graph, tree, base);
        const auto state =
            make_objective(Objective::kCost, graph, tree, std::vector<ProcessorIndex>(static_cast<std::size_t>(tasks)));
        std::vector<double> room = bounds.most;
        double best = -1;
        const auto place = [&](const auto& self, TaskIndex task) -> void {
            if (task == tasks) {
                if (best < 0 || state->value() < best) best = state->value();
                return;
            }
            for (ProcessorIndex p = 0; p < tree.processor_count(); ++p) {
                if (room[static_cast<std::size_t>(p)] < 1) continue;
                room[static_cast<std::size_t>(p)] -= 1;
                state->move(task, p);
                self(self, task + 1);
                room[static_cast<std::size_t>(p)] += 1;
            }
        };
        place(place, 0);
        for (const Preset preset : {Preset::kFast, Preset::kDefault, Preset::kStrong}) {
            const auto p = static_cast<std::size_t>(preset);
            if (preset == Preset::kStrong && seed >= 6) continue;
            MapOptions options = base;
            options.preset = preset;
            options.seed = seed;
            const auto mapped = map_onto_tree(graph, tree, "multilevel", options);
            ASSERT_TRUE(mapped);
            const TreeReport report = evaluate_on_tree(graph, tree, *mapped, bounds);
            EXPECT_TRUE(report.feasible);
            const double ratio = best > 0 ? report.cost / best : 1;
            EXPECT_GE(ratio, 1 - 1e-9) << "better than brute force";
            sum[p] += ratio;
            worst[p] = std::max(worst[p], ratio);
            ++count[p];
        }
    }
    for (std::size_t p = 0; p < 3; ++p) {
        RecordProperty("preset_" + std::to_string(p) + "_mean_over_optimum", std::to_string(sum[p] / count[p]));
        RecordProperty("preset_" + std::to_string(p) + "_worst_over_optimum", std::to_string(worst[p]));
        // Seen: the optimum of every instance, on every preset.
        EXPECT_LE(sum[p] / count[p], 1.01);
        EXPECT_LE(worst[p], 1.05);
    }
}

}  // namespace
}  // namespace zbs
