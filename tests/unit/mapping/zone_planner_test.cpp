#include "algorithms/mapping/zone_planner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

#include "algorithms/graph/shortest_path_clustering.hpp"
#include "algorithms/mapping/level1_mappers.hpp"
#include "algorithms/mapping/zone_assignment.hpp"
#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr Link kBetween{5e-3, 1e8};

ZonePlan planned(const TaskGraph& graph, const ResourceGraph& resources, const MapOptions& options = {}) {
    return map_clusters_to_zones(graph, make_cluster_tree(graph), aggregate_zones(resources),
                                 links_between_zones(resources), options)
        .value();
}

TEST(AggregateZones, TellsSumsMeanAndVariance) {
    const auto zones = aggregate_zones(*ResourceGraph::make({{"a", {{"m0", 3, 1.0}, {"m1", 1, 3.0}}}}, {}));
    ASSERT_EQ(zones.size(), 1U);
    EXPECT_EQ(zones[0].processors, 4);
    EXPECT_DOUBLE_EQ(zones[0].speed_sum, 6);
    EXPECT_DOUBLE_EQ(zones[0].speed_mean, 1.5);
    EXPECT_DOUBLE_EQ(zones[0].speed_variance, 0.75);
    EXPECT_EQ(zones[0].largest_machine, 3);
}

TEST(InterZoneBytes, CountsPairsInDifferentZones) {
    const std::int32_t zone_of_task[] = {0, 0, 1};
    EXPECT_EQ(inter_zone_bytes(*TaskGraph::make({1, 1, 1}, {{0, 1, 5, 1}, {0, 2, 7, 1}, {1, 2, 11, 1}}), zone_of_task),
              18);
}

TEST(PlaceBlocks, UsesFewZonesAndTheSmallestThatSufficesLast) {
    const auto zones = aggregate_zones(test::flat_zones({2, 6, 3, 4}, kBetween));
    EXPECT_THAT(*place_blocks(3, zones, {}), Each(2));
    EXPECT_THAT(*place_blocks(8, zones, {}), ElementsAre(0, 0, 1, 1, 1, 1, 1, 1));
    EXPECT_THAT(*place_blocks(9, zones, {}), ElementsAre(1, 1, 1, 1, 1, 1, 2, 2, 2));
    EXPECT_THAT(*place_blocks(0, zones, {}), ElementsAre());
    EXPECT_FALSE(place_blocks(16, zones, {}));
    EXPECT_TRUE(place_blocks(16, zones, {.max_tasks_per_processor = 0}));
}

/// Two groups of five, each a tight four and a fifth that talks to its four with `outer` bytes a pair.
TaskGraph two_fives(double outer) {
    std::vector<TaskEdge> edges;
    for (const TaskIndex base : {0, 5}) {
        for (TaskIndex u = base; u < base + 5; ++u) {
            for (TaskIndex v = u + 1; v < base + 5; ++v) edges.push_back({u, v, v == base + 4 ? outer : 1e9, 1});
        }
    }
    edges.push_back({0, 5, 1, 1});
    return *TaskGraph::make(std::vector<double>(10, 1.0), edges);
}

// Zones of 6 and 4 processors [Prabhakar2003, section 5.4.3]: groups of five leave one processor idle in one zone and
// oversubscribe the other; one level down, six and four tasks balance, at the price of traffic between the zones.
TEST(Granularity, DescendsWhereTheGainInNodeOccupancyOutweighsTheLinks) {
    const ResourceGraph resources = test::flat_zones({6, 4}, {1e-3, 1e8});
    const ZonePlan plan = planned(two_fives(/*outer=*/1e5), resources, {.max_tasks_per_processor = 0});
    EXPECT_EQ(std::ranges::count(plan.zone_of_task, 0), 6);
    EXPECT_GT(plan.clusters.size(), 2U);
    EXPECT_DOUBLE_EQ(plan.node_occupancy, 1);
    EXPECT_GT(plan.edge_occupancy, 0);
}

TEST(Granularity, StaysCoarseWhereTheLinksOutweighTheGain) {
    const ResourceGraph resources = test::flat_zones({6, 4}, {1e-3, 1e8});
    const TaskGraph graph = two_fives(/*outer=*/5e8);
    const ZonePlan plan = planned(graph, resources, {.max_tasks_per_processor = 0});
    EXPECT_LE(inter_zone_bytes(graph, plan.zone_of_task), 1);
    EXPECT_LE(plan.clusters.size(), 2U);
    EXPECT_DOUBLE_EQ(plan.node_occupancy, 2);
}

TEST(Granularity, DescendsWhereCoarseClustersDoNotFit) {
    const ResourceGraph resources = test::flat_zones({6, 4}, {1e-3, 1e8});
    const ZonePlan plan = planned(two_fives(/*outer=*/5e8), resources);
    EXPECT_EQ(std::ranges::count(plan.zone_of_task, 0), 6);
    const std::set<std::int32_t> zones_of_a_four(plan.zone_of_task.begin(), plan.zone_of_task.begin() + 4);
    EXPECT_EQ(zones_of_a_four.size(), 1U);
}

/// In a graph of all pairs every move and swap visits hundreds of arcs.
TEST(AssignClusters, EndsWhereNoWorkIsLeft) {
    const TaskGraph graph = test::clique(200);
    const auto zones = aggregate_zones(test::flat_zones({30, 30, 30, 30, 30, 30, 30, 30}, kBetween));
    const auto between = links_between_zones(test::flat_zones({30, 30, 30, 30, 30, 30, 30, 30}, kBetween));
    std::vector<std::int32_t> begins(200);
    std::iota(begins.begin(), begins.end(), 0);
    const ClusterGraph single = make_cluster_graph(graph, begins, 1);
    const ZoneSet set{
        .zones = zones, .between = between, .slots = std::vector<std::int64_t>(8, 30), .one_task_per_processor = true};
    for (const std::int64_t given : {0, 1'000'000}) {
        std::int64_t work = given;
        ASSERT_TRUE(assign_clusters(single, set, work));
        EXPECT_LE(given - work, given + 4 * static_cast<std::int64_t>(single.arcs.size() + single.size.size()));
    }
}

/// Teams of four in a chain, and zones of four processors on a line, `at` being the place of each: delays between zones
/// are a matrix that no tree has.
TEST(MapToZones, NeighboursInAChainAreInZonesNearEachOther) {
    std::vector<TaskEdge> edges;
    for (TaskIndex u = 0; u < 16; ++u) {
        for (TaskIndex v = u + 1; v < 16 && v < (u / 4 + 1) * 4; ++v) edges.push_back({u, v, 1e6, 1000});
        if (u + 4 < 16) edges.push_back({u, u + 4, 1e4, 10});
    }
    const TaskGraph graph = *TaskGraph::make(std::vector<double>(16, 1.0), edges);
    const auto zones = aggregate_zones(test::flat_zones({4, 4, 4, 4}, kBetween));
    std::vector<int> at = {0, 1, 2, 3};
    do {
        std::vector<Link> between;
        for (const int a : at)
            for (const int b : at) between.push_back({1e-3 + 20e-3 * std::abs(a - b), 1e8});
        for (const char* mapper : {"auto", "multilevel"}) {
            SCOPED_TRACE(testing::Message() << mapper << testing::PrintToString(at));
            const ZonePlan plan = map_to_zones(mapper, graph, zones, between, {.max_tasks_per_processor = 1}).value();
            for (TaskIndex u = 0; u + 4 < 16; ++u) {
                const auto place = [&](TaskIndex t) {
                    return at[static_cast<std::size_t>(plan.zone_of_task[static_cast<std::size_t>(t)])];
                };
                EXPECT_EQ(std::abs(place(u) - place(u + 4)), 1) << u;
            }
        }
    } while (std::ranges::next_permutation(at).found);
}

TEST(MapToZones, NoTaskMovesForAGainUnderTwoPerCent) {
    // Two pairs, and a fifth task that talks to the first pair a little more than to the second.
    const auto graph_with = [](double to_first) {
        return *TaskGraph::make(std::vector<double>(5, 1.0),
                                {{0, 1, 1e9, 1}, {2, 3, 1e9, 1}, {0, 4, to_first, 1}, {2, 4, 1e6, 1}});
    };
    const std::vector<std::int32_t> last = {0, 0, 1, 1, 1};
    const auto plan = [&](double to_first, std::vector<int> processors) {
        const ResourceGraph resources = test::flat_zones(processors, kBetween);
        return map_to_zones("auto", graph_with(to_first), aggregate_zones(resources), links_between_zones(resources),
                            {.max_tasks_per_processor = 1}, last)
            .value()
            .zone_of_task;
    };
    EXPECT_EQ(plan(1.01e6, {3, 3}), last);
    EXPECT_NE(plan(1.1e6, {3, 3}), last);   // a tenth fewer bytes between zones
    EXPECT_NE(plan(1.01e6, {3, 2}), last);  // no room any more
}

TEST(MapClustersToZones, PlanIsConsistent) {
    const TaskGraph graph = test::planted_clusters({.tasks = 40, .clusters = 5}, 3);
    const ZonePlan plan = planned(graph, test::flat_zones({10, 20, 12}, kBetween));
    ASSERT_EQ(plan.clusters.size(), plan.zone_of_cluster.size());
    std::set<TaskIndex> seen;
    for (std::size_t c = 0; c < plan.clusters.size(); ++c) {
        for (const TaskIndex task : plan.clusters[c]) {
            EXPECT_TRUE(seen.insert(task).second);
            EXPECT_EQ(plan.zone_of_task[static_cast<std::size_t>(task)], plan.zone_of_cluster[c]);
        }
    }
    EXPECT_EQ(seen.size(), 40U);
}

TEST(MapClustersToZones, LeavesZonesWithoutProcessorsEmpty) {
    const TaskGraph graph = test::isolated(4);
    std::vector<ZoneAggregate> zones = aggregate_zones(test::flat_zones({4, 4}, kBetween));
    zones[0].processors = 0;
    zones[0].speed_sum = zones[0].speed_mean = 0;
    const std::vector<Link> between(4, kBetween);
    for (const int limit : {0, 1}) {
        const auto plan =
            map_clusters_to_zones(graph, make_cluster_tree(graph), zones, between, {.max_tasks_per_processor = limit});
        EXPECT_THAT(plan->zone_of_task, Each(1));
    }
}

TEST(MapClustersToZones, VarianceWarnsOfASlowProcessorInUse) {
    // Equal sums; in zone a every fourth processor is slow and, with one task each, the slowest decides.
    const ResourceGraph resources =
        *ResourceGraph::make({{"a", {{"fast", 3, 1.25}, {"slow", 1, 0.25}}}, {"b", {{"even", 4, 1.0}}}}, {});
    EXPECT_THAT(planned(test::isolated(4), resources).zone_of_task, Each(1));
}

TEST(MapClustersToZones, RefusesWhenSlotsAreShort) {
    const TaskGraph graph = test::isolated(4);
    const auto zones = aggregate_zones(test::flat_zones({2, 1}, kBetween));
    EXPECT_FALSE(map_clusters_to_zones(graph, make_cluster_tree(graph), zones, std::vector<Link>(4, kBetween), {}));
    EXPECT_FALSE(map_clusters_to_zones(graph, make_cluster_tree(graph), {}, {}, {}));
}

}  // namespace
}  // namespace zbs
