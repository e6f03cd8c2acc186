#include "algorithms/mapping/occupancy.hpp"

#include <gtest/gtest.h>

#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

/// Zone a: machine of 2 processors and a fast one of 1; zone b: 1 processor. Delays 1, 10, 100 ms, bandwidth 1000 B/s.
ResourceGraph small_resources() {
    return *ResourceGraph::make({{"a", {{"m0", 2, 1.0}, {"m1", 1, 2.0}}, {0.001, 1000}, {0.01, 1000}},
                                 {"b", {{"n0", 1, 1.0}}, {0.001, 1000}, {0.01, 1000}}},
                                {{0, 1, {0.1, 1000}}});
}
/// One pair, 50 bytes in 1 message: an average task takes 1 step.
TaskGraph pair_of_tasks() { return *TaskGraph::make({0.001, 0.001}, {{0, 1, 50, 1}}); }

TEST(CommunicationSteps, AreMessageEndsPerTask) {
    EXPECT_EQ(communication_steps(*TaskGraph::make({1, 1, 1, 1}, {{0, 1, 9, 10}, {2, 3, 9, 30}})), 20);
    EXPECT_EQ(communication_steps(*TaskGraph::make({1, 1}, {{0, 1, 9, 0}})), 1);
}

TEST(Evaluate, ChargesThePairToTheLinkItUses) {
    const auto occupancy = [](ProcessorIndex p, ProcessorIndex q) {
        return evaluate(pair_of_tasks(), small_resources(), {{p, q}}).occupancy;
    };
    EXPECT_DOUBLE_EQ(occupancy(0, 0), 0.002) << "one processor: both computations, no link";
    EXPECT_DOUBLE_EQ(occupancy(0, 1), 0.051) << "inside the machine";
    EXPECT_DOUBLE_EQ(occupancy(0, 2), 0.060) << "both uplinks";
    EXPECT_DOUBLE_EQ(occupancy(0, 3), 0.150) << "between zones";
}

TEST(Evaluate, ReportsCostImbalanceAndInterZoneBytes) {
    const MappingReport apart = evaluate(pair_of_tasks(), small_resources(), {{0, 3}});
    EXPECT_DOUBLE_EQ(apart.cost, 50 * 100);
    EXPECT_DOUBLE_EQ(apart.inter_zone_bytes, 50);
    EXPECT_DOUBLE_EQ(apart.imbalance, 1) << "2 of 4 processors work";
    const MappingReport together = evaluate(pair_of_tasks(), small_resources(), {{0, 0}});
    EXPECT_DOUBLE_EQ(together.cost, 0);
    EXPECT_DOUBLE_EQ(together.inter_zone_bytes, 0);
    EXPECT_DOUBLE_EQ(together.imbalance, 3);
}

TEST(Evaluate, FasterProcessorsAreLessOccupied) {
    EXPECT_DOUBLE_EQ(evaluate(*TaskGraph::make({0.004}, {}), small_resources(), {{2}}).occupancy, 0.002);
}

TEST(Evaluate, AnUplinkCarriesAllPairsOfItsMachine) {
    const TaskGraph star = *TaskGraph::make({0, 0, 0}, {{0, 1, 50, 1}, {0, 2, 50, 1}});
    const double steps = communication_steps(star);
    EXPECT_DOUBLE_EQ(evaluate(star, test::flat_zones({3}, {1, 1}, {0.01, 1000}), {{0, 1, 2}}).occupancy, 0.12 / steps);
}

TEST(OccupancyState, TakingEverythingBackLeavesExactlyNothing) {
    const TaskGraph graph = test::random_graph(20, 0.5, 1);
    const ResourceGraph resources = test::random_resources(3, 1);
    OccupancyState state(graph, resources, communication_steps(graph));
    for (TaskIndex t = 0; t < 20; ++t) state.assign(t, t % resources.processor_count());
    EXPECT_GT(state.occupancy(), 0);
    for (TaskIndex t = 0; t < 20; ++t) state.unassign(t);
    EXPECT_EQ(state.occupancy(), 0);
}

TEST(OccupancyState, KnowsWhoLoadsTheBottleneck) {
    const TaskGraph graph = pair_of_tasks();
    const ResourceGraph resources = small_resources();
    OccupancyState state(graph, resources, 1);
    state.assign(0, 0);
    state.assign(1, 3);
    EXPECT_DOUBLE_EQ(state.contribution(0, state.bottleneck()), 0.15);
    EXPECT_DOUBLE_EQ(state.contribution(0, 0), 0.001);
    EXPECT_DOUBLE_EQ(state.contribution(0, 3), 0);
}

}  // namespace
}  // namespace zbs
