#include "algorithms/mapping/trees/tree_mapper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "algorithms/base/rng.hpp"
#include "algorithms/mapping/load_repair.hpp"
#include "algorithms/mapping/trees/tree_evaluation.hpp"
#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

ProcessorTree tree_of(const char* hierarchy, const char* distances) {
    return *ProcessorTree::uniform(*parse_hierarchy(hierarchy), *parse_distances(distances));
}
/// Zones of 6 and 4 processors, the second twice as fast.
ProcessorTree uneven_tree() {
    const Zone a{"a", {{"a0", 4, 1}, {"a1", 2, 1}}, {1e-6, 1e9}, {1e-5, 1e9}};
    const Zone b{"b", {{"b0", 2, 2}, {"b1", 2, 2}}, {1e-6, 1e9}, {1e-5, 1e9}};
    return ProcessorTree::of(*ResourceGraph::make({a, b}, {{0, 1, {1e-4, 1e9}}}), 1);
}
std::vector<double> loads(const TaskGraph& graph, const ProcessorTree& tree, const std::vector<ProcessorIndex>& on) {
    std::vector<double> sum(static_cast<std::size_t>(tree.processor_count()), 0);
    for (TaskIndex t = 0; t < graph.task_count(); ++t)
        sum[static_cast<std::size_t>(on[static_cast<std::size_t>(t)])] += graph.compute(t);
    return sum;
}

/// A task larger than every bound: what is least above takes its place, and the traffic is searched within it.
TEST(Multilevel, BoundsThatCannotBeKeptRiseToWhatIsPossible) {
    struct Case {
        std::vector<double> compute;
        std::vector<TaskEdge> edges;
        double cost;
    };
    const Case cases[] = {
        {{1, 2}, {{0, 1, 1, 0}}, 1},
        {{5, 6, 7}, {{0, 1, 1, 0}, {1, 2, 2, 0}}, 12},
        {{100, 1, 1, 1, 1, 1}, {{0, 1, 1, 0}, {1, 2, 1, 0}, {2, 3, 1, 0}, {3, 4, 1, 0}, {4, 5, 1, 0}}, 1},
    };
    const ProcessorTree tree = tree_of("2:2", "1:10");
    for (const Case& in : cases) {
        const TaskGraph graph = *TaskGraph::make(in.compute, in.edges);
        for (const Preset preset : {Preset::kFast, Preset::kDefault, Preset::kStrong}) {
            const MapOptions options{.max_tasks_per_processor = 0, .preset = preset};
            const auto mapping = map_onto_tree(graph, tree, "multilevel", options).value();
            const TreeReport report = evaluate_on_tree(graph, tree, mapping, load_bounds(graph, tree, options));
            EXPECT_EQ(report.cost, in.cost) << graph.task_count() << " tasks";
            EXPECT_FALSE(report.feasible);
        }
    }
}

TEST(KeepBounds, SmallTasksGiveWayToALargeOne) {
    // Three tasks of 4 on a processor for 10; the others are full of tasks of 1 but for one place each.
    std::vector<double> compute = {4, 4, 4};
    std::vector<ProcessorIndex> processor_of = {0, 0, 0};
    for (ProcessorIndex p = 1; p < 5; ++p) {
        for (int i = 0; i < 9; ++i) {
            compute.push_back(1);
            processor_of.push_back(p);
        }
    }
    const TaskGraph graph = *TaskGraph::make(compute, {});
    const ProcessorTree tree = tree_of("5", "1");
    const LoadBounds bounds{.most = {10, 10, 10, 10, 10}};
    EXPECT_TRUE(keep_bounds(graph, tree, bounds, processor_of));
    for (const double load : loads(graph, tree, processor_of)) EXPECT_LE(load, 10);
}

TEST(EvaluateOnTree, CountsEachEdgeOnceByDistance) {
    const ProcessorTree tree = tree_of("2:2:2", "1:10:100");
    const TaskGraph graph = *TaskGraph::make({1, 2, 3, 0}, {{0, 1, 5, 0}, {0, 2, 7, 0}, {1, 2, 1, 0}, {2, 3, 9, 0}});
    const MapOptions options{.max_tasks_per_processor = 0, .imbalance = 3};
    const LoadBounds bounds = load_bounds(graph, tree, options);
    const TreeReport report = evaluate_on_tree(graph, tree, std::vector<ProcessorIndex>{0, 1, 4, 4}, bounds);
    EXPECT_EQ(report.cost, 5 * 1 + 7 * 100 + 1 * 100);
    // Both zones' borders carry 8 bytes over 100.
    EXPECT_EQ(report.occupancy, 800);
    EXPECT_DOUBLE_EQ(report.imbalance, 3 / (6.0 / 8) - 1);
    EXPECT_TRUE(report.feasible);  // ceil(4 x 6 / 8) = 3
}

TEST(EvaluateOnTree, OccupancyIsTheSlowestProcessorWithoutTraffic) {
    const ProcessorTree tree = uneven_tree();
    const TaskGraph graph = test::isolated(2);
    const LoadBounds bounds = load_bounds(graph, tree, {});
    EXPECT_EQ(evaluate_on_tree(graph, tree, std::vector<ProcessorIndex>{6, 7}, bounds).occupancy, 0.5);
    EXPECT_EQ(evaluate_on_tree(graph, tree, std::vector<ProcessorIndex>{0, 7}, bounds).occupancy, 1);
}

TEST(EvaluateOnTree, TopGroupsMayHaveDistancesOfTheirOwn) {
    const Zone zone{"", {{"m", 1, 1}}, {1e-3, 1e12}, {1e-3, 1e12}};
    Zone a = zone, b = zone, c = zone;
    a.name = "a", b.name = "b", c.name = "c";
    const ProcessorTree tree = ProcessorTree::of(
        *ResourceGraph::make({a, b, c}, {{0, 1, {1e-3, 1e12}}, {0, 2, {2e-3, 1e12}}, {1, 2, {4e-3, 1e12}}}), 1e-9);
    const TaskGraph graph = *TaskGraph::make({0, 0, 0}, {{0, 1, 3, 0}, {1, 2, 5, 0}});
    const TreeReport report =
        evaluate_on_tree(graph, tree, std::vector<ProcessorIndex>{0, 1, 2}, load_bounds(graph, tree, {}));
    EXPECT_NEAR(report.cost, 3 + 5 * 4, 1e-6);
    EXPECT_NEAR(report.occupancy, 3 + 5 * 4, 1e-6);  // of zone b
    EXPECT_EQ(report.imbalance, 0);
}

TEST(LoadBounds, AreWholeWhereComputeIs) {
    const ProcessorTree tree = tree_of("3", "1");
    const MapOptions balanced{.max_tasks_per_processor = 0, .imbalance = 0.03};
    EXPECT_THAT(load_bounds(*TaskGraph::make({100, 100, 100}, {}), tree, balanced).most, Each(103));
    EXPECT_THAT(load_bounds(*TaskGraph::make({1, 1, 1, 1}, {}), tree, balanced).most, Each(2));
    EXPECT_THAT(load_bounds(*TaskGraph::make({0.5, 0.25}, {}), tree, balanced).most,
                Each(testing::DoubleEq(1.03 * 0.25)));
    EXPECT_THAT(load_bounds(*TaskGraph::make({5, 5}, {}), tree, {.max_tasks_per_processor = 2}).most, Each(2));
}

TEST(LoadBounds, FollowSpeed) {
    const MapOptions even{.max_tasks_per_processor = 0, .imbalance = 0};
    EXPECT_THAT(load_bounds(test::isolated(14), uneven_tree(), even).most, ElementsAre(1, 1, 1, 1, 1, 1, 2, 2, 2, 2));
}

TEST(RoomIndex, FindsTheNearestRoom) {
    const ProcessorTree tree = tree_of("2:2:2", "1:2:3");
    LoadBounds bounds{.most = {1, 1, 1, 1, 1, 1, 1, 3}};
    RoomIndex room(tree, bounds);
    EXPECT_EQ(room.nearest(5, 1), 5);
    room.take(5, 1);
    EXPECT_EQ(room.nearest(5, 1), 4);
    room.take(4, 1);
    EXPECT_EQ(room.nearest(5, 1), 6);
    EXPECT_EQ(room.nearest(0, 2), 7);
    EXPECT_EQ(room.nearest(0, 4), -1);
    EXPECT_EQ(room.emptiest(), 7);
    room.take(7, 3);
    EXPECT_EQ(room.emptiest(), 0);
    room.give(5, 1);
    EXPECT_EQ(room.nearest(7, 1), 6);
}

TEST(KeepBounds, MovesWhatCostsLeastAndLeavesTheRest) {
    const ProcessorTree tree = tree_of("2:2", "1:10");
    // 0 and 1 belong together, 2 hangs on 3, which is on another machine.
    const TaskGraph graph = *TaskGraph::make({1, 1, 1, 1}, {{0, 1, 9, 0}, {2, 3, 1, 0}, {1, 2, 0.5, 0}});
    std::vector<ProcessorIndex> on = {0, 0, 0, 2};
    EXPECT_TRUE(keep_bounds(graph, tree, {.most = {2, 2, 2, 2}}, on));
    EXPECT_THAT(on, ElementsAre(0, 0, 2, 2));
    EXPECT_TRUE(keep_bounds(graph, tree, {.most = {2, 2, 2, 2}}, on));
    EXPECT_THAT(on, ElementsAre(0, 0, 2, 2));
}

TEST(KeepBounds, SwapsWhereNothingFits) {
    const ProcessorTree tree = tree_of("2", "1");
    const TaskGraph graph = *TaskGraph::make({3, 3, 2, 2}, {});
    std::vector<ProcessorIndex> on = {0, 0, 1, 1};
    EXPECT_TRUE(keep_bounds(graph, tree, {.most = {5, 5}}, on));
    EXPECT_THAT(loads(graph, tree, on), ElementsAre(5, 5));
}

TEST(KeepBounds, SaysSoWhereThereIsNoWay) {
    const ProcessorTree tree = tree_of("2", "1");
    const TaskGraph graph = *TaskGraph::make({9, 1}, {});
    std::vector<ProcessorIndex> on = {0, 0};
    EXPECT_FALSE(keep_bounds(graph, tree, {.most = {6, 6}}, on));
}

class TreeMapper : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(, TreeMapper, testing::ValuesIn(tree_mapper_names()), [](const auto& param_info) {
    return std::regex_replace(std::string(param_info.param), std::regex("-"), "_");
});

TEST_P(TreeMapper, KeepsTheBoundOfEqualTasks) {
    const MapOptions options{.max_tasks_per_processor = 0, .imbalance = 0.03};
    for (const auto& [name, graph] : {std::pair<const char*, TaskGraph>{"grid", test::grid(20, 20)},
                                      {"star", test::star(99)},
                                      {"clique", test::clique(30)},
                                      {"isolated", test::isolated(101)},
                                      {"few", test::grid(2, 3)},
                                      {"one", test::isolated(1)}}) {
        SCOPED_TRACE(name);
        for (const ProcessorTree& tree : {tree_of("4:3:2", "1:10:100"), tree_of("12", "1"), tree_of("2:5", "1:7")}) {
            const auto on = map_onto_tree(graph, tree, GetParam(), options);
            ASSERT_TRUE(on) << on.error();
            EXPECT_TRUE(evaluate_on_tree(graph, tree, *on, load_bounds(graph, tree, options)).feasible);
        }
    }
}

TEST_P(TreeMapper, KeepsTheBoundOfUnequalTasksOnUnevenZones) {
    const MapOptions options{.max_tasks_per_processor = 0, .imbalance = 0.1};
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        SCOPED_TRACE(seed);
        const TaskGraph random = test::random_graph(300, 0.05, seed);
        std::vector<double> compute;
        Rng rng(seed);
        for (TaskIndex t = 0; t < random.task_count(); ++t) compute.push_back(1.0 + static_cast<double>(rng.below(5)));
        const TaskGraph graph = *TaskGraph::make(compute, {random.edges().begin(), random.edges().end()});
        const ProcessorTree tree = uneven_tree();
        const auto on = map_onto_tree(graph, tree, GetParam(), options);
        ASSERT_TRUE(on) << on.error();
        EXPECT_TRUE(evaluate_on_tree(graph, tree, *on, load_bounds(graph, tree, options)).feasible);
    }
}

TEST_P(TreeMapper, GivesEveryTaskAProcessorOfItsOwnWhereAsked) {
    for (const int tasks : {24, 17}) {
        const ProcessorTree tree = tree_of("4:3:2", "1:10:100");
        const TaskGraph graph = test::random_graph(tasks, 0.3, 5);
        const auto on = map_onto_tree(graph, tree, GetParam(), {.max_tasks_per_processor = 1});
        ASSERT_TRUE(on) << on.error();
        EXPECT_EQ(std::set<ProcessorIndex>(on->begin(), on->end()).size(), on->size());
    }
}

TEST_P(TreeMapper, IsAFunctionOfItsArguments) {
    const ProcessorTree tree = tree_of("4:3:2", "1:10:100");
    const TaskGraph graph = test::random_graph(200, 0.05, 1);
    const MapOptions options{.seed = 9, .max_tasks_per_processor = 0};
    EXPECT_EQ(*map_onto_tree(graph, tree, GetParam(), options), *map_onto_tree(graph, tree, GetParam(), options));
}

TEST_P(TreeMapper, TakesZeroAndHugeWeights) {
    const ProcessorTree tree = tree_of("2:2", "1:10");
    for (const double scale : {0.0, 1e-300, 1e15}) {
        SCOPED_TRACE(scale);
        std::vector<TaskEdge> edges;
        for (TaskIndex t = 0; t + 1 < 40; ++t) edges.push_back({t, t + 1, scale * t, 0});
        const TaskGraph graph = *TaskGraph::make(std::vector<double>(40, scale), edges);
        const auto on = map_onto_tree(graph, tree, GetParam(), {.max_tasks_per_processor = 0});
        ASSERT_TRUE(on) << on.error();
    }
}

TEST_P(TreeMapper, RefusesMoreTasksThanSlots) {
    const auto on = map_onto_tree(test::isolated(9), tree_of("2:4", "1:2"), GetParam(), {.max_tasks_per_processor = 1});
    ASSERT_FALSE(on);
    EXPECT_THAT(on.error().message, HasSubstr("9 tasks"));
}

TEST(MapOntoTree, BlocksAreConsecutive) {
    const TaskGraph graph = test::isolated(10);
    EXPECT_THAT(*map_onto_tree(graph, tree_of("2:2", "1:2"), "block", {.max_tasks_per_processor = 3}),
                ElementsAre(0, 0, 0, 1, 1, 2, 2, 2, 3, 3));
    EXPECT_THAT(*map_onto_tree(test::isolated(3), tree_of("2:2", "1:2"), "block", {}), ElementsAre(0, 1, 2));
}

TEST(MapOntoTree, RoundRobinDealsOverZones) {
    EXPECT_THAT(*map_onto_tree(test::isolated(4), tree_of("2:2", "1:2"), "round-robin", {}), ElementsAre(0, 2, 1, 3));
}

TEST(MapOntoTree, MetisAndGreedyBeatRandomOnAGrid) {
    const ProcessorTree tree = tree_of("4:4:4", "1:10:100");
    const TaskGraph graph = test::grid(40, 40);
    const MapOptions options{.max_tasks_per_processor = 0};
    const LoadBounds bounds = load_bounds(graph, tree, options);
    const auto cost = [&](std::string_view name) {
        return evaluate_on_tree(graph, tree, *map_onto_tree(graph, tree, name, options), bounds).cost;
    };
    EXPECT_LT(cost("metis"), cost("random") / 10);
    EXPECT_LT(cost("greedy"), cost("random") / 4);
    EXPECT_LT(cost("metis"), cost("greedy"));
}

TEST(MapOntoTree, NamesWhatItKnows) {
    const auto on = map_onto_tree(test::isolated(1), tree_of("2", "1"), "magic", {});
    ASSERT_FALSE(on);
    EXPECT_EQ(on.error().pointer, "--algorithm");
    EXPECT_THAT(on.error().message, HasSubstr("greedy metis"));
}

TEST(MapOntoTree, DeepTreesAreNotForGlobalAndHier) {
    for (const char* name : {"global", "hier"}) {
        const auto on = map_onto_tree(test::isolated(4), tree_of("2:2:2:2", "1:2:3:4"), name, {});
        ASSERT_FALSE(on);
        EXPECT_THAT(on.error().message, HasSubstr("has 4 levels"));
    }
    EXPECT_TRUE(map_onto_tree(test::isolated(4), tree_of("2:2:2:2", "1:2:3:4"), "metis", {}));
}

// METIS prints a warning about a bisection without tasks here.
TEST(MapOntoTree, MetisPrintsNothingOnStandardOutput) {
    const std::vector<std::pair<int, int>> pairs = {{0, 3}, {0, 6}, {1, 2}, {2, 3}, {2, 8}, {3, 4}, {3, 5},
                                                    {3, 6}, {4, 5}, {4, 8}, {5, 7}, {6, 7}, {6, 8}, {7, 8}};
    std::vector<TaskEdge> edges;
    for (const auto& [u, v] : pairs) edges.push_back({u, v, 1, 0});
    const TaskGraph graph = *TaskGraph::make({1, 1, 10, 1, 1, 1, 31, 1, 1}, edges);
    testing::internal::CaptureStdout();
    const auto on = map_onto_tree(graph, tree_of("8", "1"), "metis", {.max_tasks_per_processor = 0});
    std::printf("after");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "after");
    EXPECT_TRUE(on);
}

}  // namespace
}  // namespace zbs
