#include "algorithms/mapping/mapper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "algorithms/mapping/global_mapper.hpp"
#include "algorithms/mapping/zone_planner.hpp"
#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Link kWan{5e-3, 1e8};

std::vector<std::int32_t> zones_of(const Mapping& mapping, const ResourceGraph& resources) {
    std::vector<std::int32_t> zones;
    for (const ProcessorIndex p : mapping.processor_of) zones.push_back(resources.place(p).zone);
    return zones;
}
int most_on_one_processor(const Mapping& mapping) {
    std::map<ProcessorIndex, int> tasks_on;
    int most = 0;
    for (const ProcessorIndex p : mapping.processor_of) most = std::max(most, ++tasks_on[p]);
    return most;
}
Mapping mapped(std::string_view name, const TaskGraph& graph, const ResourceGraph& resources,
               const MapOptions& options = {}) {
    return find_mapper(name)->map(graph, resources, options).value();
}

TEST(Mappers, AreFoundByName) {
    EXPECT_THAT(mapper_names(),
                ElementsAre("auto", "global", "hier", "multilevel", "metis", "block", "round-robin", "random"));
    for (const std::string_view name : mapper_names()) EXPECT_EQ(find_mapper(name)->name(), name);
    EXPECT_EQ(find_mapper("taura"), nullptr);
}

TEST(Mappers, RefuseMoreTasksThanSlotsWithBothNumbersAndARemedy) {
    for (const std::string_view name : mapper_names()) {
        SCOPED_TRACE(name);
        const auto refused = find_mapper(name)->map(test::isolated(5), test::flat_zones({2, 1}, kWan), {});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
        EXPECT_THAT(refused.error().message, HasSubstr("5 tasks"));
        EXPECT_THAT(refused.error().message, HasSubstr("3 (3 processors x 1"));
        EXPECT_THAT(refused.error().message, HasSubstr("allow more tasks per processor"));
        EXPECT_FALSE(
            find_mapper(name)->map(test::isolated(1), test::flat_zones({2}, kWan), {.max_tasks_per_processor = -1}));
        EXPECT_FALSE(find_mapper(name)->map(test::isolated(1), ResourceGraph{}, {}));
    }
}

/// Every processor has one task whatever is done: the occupancy is the same, and traffic decides.
TEST(Mappers, PairsThatFitOneMachineAreNotCut) {
    const TaskGraph pairs = *TaskGraph::make({1, 1, 1, 1}, {{0, 2, 1e6, 10}, {1, 3, 1e6, 10}, {0, 1, 10, 1}});
    const ResourceGraph resources =
        *ResourceGraph::make({{.name = "za", .machines = {{"n1", 1, 1}, {"n2", 5, 1}}}, {"zb", {{"n1", 2, 1}}}}, {});
    for (const std::string_view name : {"hier", "global", "auto"}) {
        const Mapping mapping = mapped(name, pairs, resources);
        for (const ProcessorIndex p : mapping.processor_of) {
            EXPECT_EQ(resources.place(p).zone, 0) << name;
            EXPECT_EQ(resources.place(p).machine, 1) << name;
        }
    }
}

/// A fast zone is worth more than traffic that costs less time than it saves, and only then.
TEST(BestMapper, ComputeAndTrafficAreOneSum) {
    const Zone slow{"slow", {{"m", 4, 1}}}, fast{"fast", {{"m", 4, 3}}};
    const ResourceGraph resources = *ResourceGraph::make({slow, fast}, {{0, 1, kWan}});
    EXPECT_THAT(zones_of(mapped("auto", test::clique(4), resources), resources), testing::Each(1));
    EXPECT_THAT(zones_of(mapped("auto", test::isolated(4), resources), resources), testing::Each(1));
}

TEST(HierMapper, RefusesAnUnknownLevel2Mapper) {
    const auto refused = find_mapper("hier")->map(test::isolated(2), test::flat_zones({2}, kWan), {.level2 = "best"});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("'best'"));
}

TEST(BlockMapper, KeepsConsecutiveTasksTogetherInFewZones) {
    EXPECT_THAT(mapped("block", test::isolated(5), test::flat_zones({2, 4, 1}, kWan)).processor_of,
                ElementsAre(2, 3, 4, 5, 6));
}
TEST(BlockMapper, SharesProcessorsEvenlyWhereItMust) {
    EXPECT_THAT(
        mapped("block", test::isolated(7), test::flat_zones({2, 1}, kWan), {.max_tasks_per_processor = 0}).processor_of,
        ElementsAre(0, 0, 0, 1, 1, 1, 2));
}
TEST(RoundRobinMapper, DealsToZonesInTurnAndSkipsFullOnes) {
    EXPECT_THAT(mapped("round-robin", test::isolated(5), test::flat_zones({2, 4}, kWan)).processor_of,
                ElementsAre(0, 2, 1, 3, 4));
}
TEST(RandomMapper, DependsOnTheSeedOnly) {
    const ResourceGraph resources = test::flat_zones({10, 10}, kWan);
    EXPECT_EQ(mapped("random", test::isolated(10), resources, {.seed = 3}),
              mapped("random", test::isolated(10), resources, {.seed = 3}));
    EXPECT_NE(mapped("random", test::isolated(10), resources, {.seed = 3}),
              mapped("random", test::isolated(10), resources, {.seed = 4}));
}

class ProfiledMapper : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, ProfiledMapper, testing::Values("global", "hier"),
                         [](const auto& param_info) { return param_info.param; });

TEST_P(ProfiledMapper, SpreadsEqualTasksWithoutTrafficPerfectly) {  // limit behaviour 1 of [TauraChien2000]
    for (int processors = 2; processors <= 7; ++processors) {
        for (int tasks = 1; tasks <= 20; ++tasks) {
            SCOPED_TRACE(testing::Message() << tasks << " tasks on " << processors);
            const ResourceGraph resources = test::flat_zones({processors - processors / 2, processors / 2}, kWan);
            EXPECT_EQ(most_on_one_processor(
                          mapped(GetParam(), test::isolated(tasks), resources, {.max_tasks_per_processor = 0})),
                      (tasks + processors - 1) / processors);
        }
    }
}

TEST_P(ProfiledMapper, GivesUpParallelismWhenLinksAreTheBottleneck) {  // limit behaviour 2 of [TauraChien2000]
    const TaskGraph graph =
        test::planted_clusters({.tasks = 8, .clusters = 2, .tied_inside = 1, .tied_outside = 1, .contrast = 1}, 5);
    const ResourceGraph resources = test::flat_zones({4, 4}, {0, 1e-3});
    const std::vector<std::int32_t> zones =
        zones_of(mapped(GetParam(), graph, resources, {.max_tasks_per_processor = 0}), resources);
    EXPECT_EQ(inter_zone_bytes(graph, zones), 0);
}

/// Two teams that talk a lot, one message between them: what a profile of a small run looks like.
TaskGraph two_teams(int team, double compute) {
    std::vector<TaskEdge> edges;
    for (TaskIndex u = 0; u < 2 * team; ++u) {
        for (TaskIndex v = u + 1; v < 2 * team; ++v) {
            if (u % 2 == v % 2) edges.push_back({u, v, 1e7, 10'000});
        }
    }
    edges.push_back({0, 1, 1000, 10});
    return *TaskGraph::make(std::vector<double>(static_cast<std::size_t>(2 * team), compute), edges);
}

TEST(HierMapper, KeepsTeamsInAZoneAndOneTaskPerProcessor) {
    for (const int team : {3, 4, 6}) {
        for (const double compute : {1e-6, 1e-4, 1e-2}) {
            for (const double delay : {1e-3, 1e-2}) {
                SCOPED_TRACE(testing::Message() << "team " << team << " compute " << compute << " delay " << delay);
                const ResourceGraph resources = test::flat_zones({team, team + 1}, {delay, 1e8});
                const Mapping mapping = mapped("hier", two_teams(team, compute), resources);
                EXPECT_EQ(inter_zone_bytes(two_teams(team, compute), zones_of(mapping, resources)), 1000);
                EXPECT_EQ(most_on_one_processor(mapping), 1);
            }
        }
    }
}

TEST(HierMapper, UsesOneZoneWhereAllFitsAndSplittingDoesNotPay) {
    const ResourceGraph resources = test::flat_zones({3, 8, 8}, kWan);
    EXPECT_THAT(zones_of(mapped("hier", two_teams(3, 1e-4), resources), resources), testing::Each(1));
}

TEST(HierMapper, PrefersTheFasterZoneForHeavyTasks) {
    std::vector<Zone> zones = {{"slow", {{"m", 4, 1.0}}}, {"fast", {{"m", 4, 3.0}}}};
    const ResourceGraph resources = *ResourceGraph::make(zones, {});
    EXPECT_THAT(zones_of(mapped("hier", test::isolated(4), resources), resources), testing::Each(1));
}

TEST(HierMapper, ThirdLevelKeepsPairsOnAMachine) {
    // Pairs (0,3) (1,4) (2,5) on three machines of two processors.
    const TaskGraph pairs =
        *TaskGraph::make(std::vector<double>(6, 1e-4),
                         {{0, 3, 1e6, 100}, {1, 4, 1e6, 100}, {2, 5, 1e6, 100}, {0, 1, 10, 1}, {1, 2, 10, 1}});
    const ResourceGraph resources =
        *ResourceGraph::make({{"a", {{"m0", 2, 1}, {"m1", 2, 1}, {"m2", 2, 1}}}, {"b", {{"n", 1, 1}}}}, {});
    const Mapping mapping = mapped("hier", pairs, resources, {.level2 = "hier"});
    for (const TaskIndex t : {0, 1, 2}) {
        const ProcessorPlace& here = resources.place(mapping.processor_of[static_cast<std::size_t>(t)]);
        const ProcessorPlace& there = resources.place(mapping.processor_of[static_cast<std::size_t>(t) + 3]);
        EXPECT_EQ(here.zone, 0);
        EXPECT_EQ(here.machine, there.machine);
    }
}

TEST(HierMapper, DividesTasksByTheMultilevelMapperWhereAsked) {
    const TaskGraph graph = two_teams(4, 1e-3);
    const ResourceGraph resources = test::flat_zones({4, 4}, kWan);
    const auto zones =
        zones_of(mapped("hier", graph, resources, {.level1 = "multilevel", .level2 = "multilevel"}), resources);
    EXPECT_EQ(inter_zone_bytes(graph, zones), 1000);
}

TEST(HierMapper, RefusesAnUnknownWayOfLevel1) {
    const auto made = find_mapper("hier")->map(test::clique(2), test::flat_zones({2}, kWan), {.level1 = "metis"});
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, testing::HasSubstr("clusters or multilevel"));
}

TEST(HierMapper, TakesEveryLevel2Mapper) {
    for (const std::string_view level2 : mapper_names()) {
        SCOPED_TRACE(level2);
        const ResourceGraph resources = test::flat_zones({4, 4}, kWan);
        EXPECT_EQ(most_on_one_processor(mapped("hier", two_teams(4, 1e-4), resources, {.level2 = level2})), 1);
    }
}

TEST(Improve, MovesAStrayTaskHome) {
    const TaskGraph graph = two_teams(2, 1e-4);  // teams {0, 2} and {1, 3}
    const ResourceGraph resources = test::flat_zones({2, 2}, kWan);
    OccupancyState state(graph, resources, communication_steps(graph));
    for (TaskIndex t = 0; t < 4; ++t) state.assign(t, t);  // both teams split over the zones
    const double before = state.occupancy();
    EXPECT_GT(improve(state, {}), 0);
    EXPECT_LT(state.occupancy(), before);
    EXPECT_EQ(inter_zone_bytes(graph, zones_of(state.mapping(), resources)), 1000);
}

}  // namespace
}  // namespace zbs
