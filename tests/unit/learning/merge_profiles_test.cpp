#include "algorithms/learning/merge_profiles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/learning/model_error.hpp"
#include "algorithms/learning/run_time.hpp"
#include "tests/support/graphs.hpp"
#include "tests/support/made_graph.hpp"
#include "tests/unit/learning/kernels.hpp"

namespace zbs::learning {
namespace {

using testing::DoubleEq;
using testing::Optional;

MergedProfile merged(const std::vector<const TaskGraph*>& graphs, bool complete = true) {
    std::vector<MergeInput> runs;
    for (const TaskGraph* graph : graphs) runs.push_back({graph, complete});
    return *merge_profiles(runs);
}

TaskGraph pair_of(double bytes) { return zbs::test::made({1, 2}, {{0, 1, bytes, bytes / 10}}); }

TEST(MergeProfiles, OfNoRunThereIsNone) { EXPECT_FALSE(merge_profiles({})); }

TEST(MergeProfiles, EqualRunsGiveThatRun) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(seed);
        const TaskGraph graph = zbs::test::random_graph(12, 0.4, seed);
        std::vector<TaskEdge> positive(graph.edges().begin(), graph.edges().end());
        std::erase_if(positive, [](const TaskEdge& edge) { return edge.bytes == 0 && edge.messages == 0; });
        const TaskGraph run = zbs::test::made({graph.compute().begin(), graph.compute().end()}, positive);
        for (const std::size_t runs : {1U, 2U, 3U, 4U, 5U, 9U})
            EXPECT_EQ(merged(std::vector<const TaskGraph*>(runs, &run)).graph, run) << runs << " runs";
    }
}

TEST(MergeProfiles, OrderOfTheRunsDoesNotMatter) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        std::vector<TaskGraph> runs;
        for (std::uint64_t run = 0; run < kMergedRuns; ++run)
            runs.push_back(zbs::test::random_graph(10, 0.5, 100 * seed + run));
        std::vector<const TaskGraph*> order;
        for (const TaskGraph& run : runs) order.push_back(&run);
        const TaskGraph first = merged(order).graph;
        std::reverse(order.begin(), order.end());
        EXPECT_EQ(merged(order).graph, first);
        std::rotate(order.begin(), order.begin() + 2, order.end());
        EXPECT_EQ(merged(order).graph, first);
    }
}

TEST(MergeProfiles, OneOddRunAmongThreeChangesLittle) {
    const TaskGraph truth = test::plane().graph(16);
    const TaskGraph a = test::noisy(truth, 0.02, 1), b = test::noisy(truth, 0.02, 2),
                    odd = test::random_pairs().graph(16);
    for (const auto& order : {std::vector{&odd, &a, &b}, std::vector{&a, &odd, &b}, std::vector{&a, &b, &odd}})
        EXPECT_LT(traffic_difference(merged(order).graph, truth), 0.02);
    EXPECT_GT(traffic_difference(odd, truth), 0.5);
}

TEST(MergeProfiles, NoiseIsLessThanThatOfASingleRun) {
    const TaskGraph truth = test::box().graph(64);
    std::vector<TaskGraph> runs;
    double single = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        runs.push_back(test::noisy(truth, 0.3, seed));
        single += traffic_difference(runs.back(), truth) / 5;
    }
    EXPECT_LT(traffic_difference(merged({&runs[0], &runs[1], &runs[2], &runs[3], &runs[4]}).graph, truth),
              0.7 * single);
}

TEST(MergeProfiles, ChangedProgramIsBelievedAfterThreeRuns) {
    const TaskGraph before = pair_of(100), after = pair_of(900);
    std::vector<const TaskGraph*> runs(10, &before);
    std::vector<double> bytes;
    for (int i = 0; i < 3; ++i) {
        runs.push_back(&after);
        bytes.push_back(merged(runs).graph.edges()[0].bytes);
    }
    EXPECT_EQ(bytes, (std::vector<double>{100, 100, 900}));
}

TEST(MergeProfiles, PairsOfFewRunsGo) {
    const TaskGraph with = zbs::test::made({1, 1, 1}, {{0, 1, 10, 1}, {1, 2, 5, 1}}),
                    without = zbs::test::made({1, 1, 1}, {{0, 1, 10, 1}});
    EXPECT_EQ(merged({&with, &without, &without}).graph, without);
    EXPECT_EQ(merged({&with, &with, &without}).graph, with);
    EXPECT_EQ(merged({&with, &without}).graph.edges()[1].bytes, 2.5);
}

TEST(MergeProfiles, LongerRunsOfTheSamePatternKeepIt) {
    const TaskGraph truth = test::plane().graph(16);
    const auto times = [&](double factor) {
        std::vector<TaskEdge> edges(truth.edges().begin(), truth.edges().end());
        for (TaskEdge& edge : edges) edge.bytes *= factor;
        return zbs::test::made({truth.compute().begin(), truth.compute().end()}, edges);
    };
    const TaskGraph half = times(0.5), twice = times(2);
    EXPECT_EQ(merged({&twice, &half, &truth}).graph, truth);
}

TEST(MergeProfiles, RunsThatWereCutShortCountOnlyWhereThereAreNoOthers) {
    const TaskGraph whole = pair_of(100), cut = pair_of(10), cut_later = pair_of(40);
    const std::vector<MergeInput> both = {{&whole, true}, {&cut, false}, {&cut_later, false}};
    EXPECT_EQ(merge_profiles(both)->graph, whole);
    EXPECT_EQ(merge_profiles(both)->runs, 1U);
    EXPECT_TRUE(merge_profiles(both)->complete);
    const MergedProfile bound = merged({&cut, &cut_later, &cut}, false);
    EXPECT_EQ(bound.graph, cut_later);
    EXPECT_FALSE(bound.complete);
}

TEST(PredictRunTime, IsTheMedianOfTheNewestRunsOfThatSize) {
    const std::vector<TimedRun> runs = {{4, 1}, {4, 1}, {4, 10}, {4, 11}, {8, 3}, {4, 900}, {4, 12}, {4, 13}};
    EXPECT_THAT(predict_run_time(runs, 4), Optional(DoubleEq(12)));
    EXPECT_THAT(predict_run_time(std::vector<TimedRun>{{4, 10}, {4, 20}}, 4), Optional(DoubleEq(15)));
}

TEST(PredictRunTime, FollowsAPowerLawFromOtherSizes) {
    EXPECT_THAT(predict_run_time(std::vector<TimedRun>{{4, 80}, {16, 20}}, 64), Optional(testing::DoubleNear(5, 1e-9)));
    EXPECT_FALSE(predict_run_time(std::vector<TimedRun>{{4, 80}}, 8)) << "one size tells no law";
    EXPECT_FALSE(predict_run_time({}, 8));
    EXPECT_FALSE(predict_run_time(std::vector<TimedRun>{{8, 0}, {8, -1}}, 8)) << "no time is known";
}

}  // namespace
}  // namespace zbs::learning
