#include "algorithms/mapping/objective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/mapping/objective_search.hpp"
#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

using testing::ElementsAre;

/// Zones of 2 processors and of 1 twice as fast; 1 ms and 1e6 bytes/s between them, nothing to speak of inside.
ResourceGraph two_zones() {
    const Zone a{"a", {{"a0", 2, 1}}, {0, 1e15}, {0, 1e15}};
    const Zone b{"b", {{"b0", 1, 2}}, {0, 1e15}, {0, 1e15}};
    return *ResourceGraph::make({a, b}, {{0, 1, {1e-3, 1e6}}});
}
/// 3 messages and 2,000 bytes between two tasks: 3 steps.
TaskGraph heavy_and_light() { return *TaskGraph::make({4, 2}, {{0, 1, 2000, 3}}); }

TEST(PredictedTime, AddsComputeOfAllStepsAndMessagesAtBothEnds) {
    EXPECT_DOUBLE_EQ(predicted_time(heavy_and_light(), two_zones(), std::vector<ProcessorIndex>{0, 2}),
                     3 * 4 / 1.0 + 3 * 1e-3 + 2000 / 1e6);
    EXPECT_DOUBLE_EQ(predicted_time(heavy_and_light(), two_zones(), std::vector<ProcessorIndex>{2, 0}),
                     3 * 4 / 2.0 + 3 * 1e-3 + 2000 / 1e6);
    EXPECT_DOUBLE_EQ(predicted_time(heavy_and_light(), two_zones(), std::vector<ProcessorIndex>{2, 2}), 3 * 6 / 2.0);
    EXPECT_EQ(predicted_time(TaskGraph{}, two_zones(), {}), 0);
}

TEST(ObjectiveState, OccupancyIsSecondsOfAStep) {
    const TaskGraph graph = heavy_and_light();
    const ResourceGraph resources = two_zones();
    const auto state = make_objective(Objective::kOccupancy, graph, resources, {2, 0});
    EXPECT_DOUBLE_EQ(state->value(), 2);
    EXPECT_EQ(state->bottlenecks(), 2U);  // both processors compute for 2 s
    state->move(0, 1);
    EXPECT_DOUBLE_EQ(state->value(), 4);
    state->move(0, 0);
    state->move(1, 2);
    EXPECT_DOUBLE_EQ(state->value(), 4);
    EXPECT_THAT(state->critical_tasks(), ElementsAre(0));
}

TEST(ObjectiveState, CostOnATreeIsBytesTimesDistance) {
    const TaskGraph graph = *TaskGraph::make({1, 1, 1}, {{0, 1, 5, 0}, {1, 2, 7, 0}});
    const ProcessorTree tree = *ProcessorTree::uniform(std::vector{2, 2}, std::vector{1., 10.});
    const auto state = make_objective(Objective::kCost, graph, tree, {0, 1, 2});
    EXPECT_EQ(state->value(), 5 * 1 + 7 * 10);
    state->move(2, 1);
    EXPECT_EQ(state->value(), 5);
    state->move(0, 1);
    EXPECT_EQ(state->value(), 0);
}

TEST(ImproveObjective, TakesABetterStartOnlyWithinTheBounds) {
    // All on one processor costs nothing, but is no answer where each may hold two.
    const TaskGraph graph = test::clique(4);
    const ProcessorTree tree = *ProcessorTree::uniform(std::vector{2}, std::vector{1.});
    const LoadBounds bounds{.most = {2, 2}, .counts_tasks = true};
    const auto found = improve_objective(
        [&](std::vector<ProcessorIndex> on) { return make_objective(Objective::kCost, graph, tree, std::move(on)); },
        {{0, 0, 0, 0}, {0, 1, 0, 1}}, bounds, {});
    EXPECT_EQ(std::count(found.begin(), found.end(), 0), 2);
}

TEST(ImproveObjective, WithoutAnnealingSingleMovesAreLeft) {
    const TaskGraph graph = test::grid(1, 4);
    const ProcessorTree tree = *ProcessorTree::uniform(std::vector{4}, std::vector{1.});
    const LoadBounds bounds{.most = {2, 2, 2, 2}, .counts_tasks = true};
    const auto found = improve_objective(
        [&](std::vector<ProcessorIndex> on) { return make_objective(Objective::kCost, graph, tree, std::move(on)); },
        {{0, 1, 2, 3}, {0, 0, 1, 2}}, bounds, {.chains = 0});
    EXPECT_EQ(make_objective(Objective::kCost, graph, tree, found)->value(), graph.edges()[0].bytes);
}

TEST(ImproveObjective, EndsWhereTimeIsOver) {
    const TaskGraph graph = test::grid(10, 10);
    const ProcessorTree tree = *ProcessorTree::uniform(std::vector{10, 10}, std::vector{1., 10.});
    const LoadBounds bounds{.most = std::vector<double>(100, 1), .counts_tasks = true};
    std::vector<ProcessorIndex> start(100);
    for (std::size_t t = 0; t < 100; ++t) start[t] = static_cast<ProcessorIndex>((t * 37) % 100);
    EXPECT_EQ(improve_objective(
                  [&](std::vector<ProcessorIndex> on) {
                      return make_objective(Objective::kTime, graph, tree, std::move(on));
                  },
                  {start}, bounds, {.out_of_time = [] { return true; }}),
              start);
}

}  // namespace
}  // namespace zbs
