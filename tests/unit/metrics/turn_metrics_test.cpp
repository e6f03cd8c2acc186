#include "algorithms/metrics/turn_metrics.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {

using namespace std::chrono_literals;

/// One job on 8 of 10 processors for 50 s.
const Workload kOne{.name = "one", .processors = 10, .jobs = {{{.walltime = 50s, .processors = 8}, 50s}}};

TurnMetrics of(std::vector<double> used, std::vector<Duration> rows, const TurnCosts& costs = {},
               std::uint64_t resized = 0) {
    return turn_metrics(kOne, {used, rows, 10, resized, 100}, costs);
}

TEST(TurnMetrics, FragmentationCountsWhileJobsRunAndUtilizationAlways) {
    const TurnMetrics found = of({400}, {20s, 80s});
    EXPECT_DOUBLE_EQ(found.utilization, 0.4);
    EXPECT_DOUBLE_EQ(found.fragmentation, 0.5);
    EXPECT_EQ(found.switching, 0);  // one row is never switched
    EXPECT_DOUBLE_EQ(found.accumulated_efficiency, 0.65);
}

TEST(TurnMetrics, SwitchingIsPartOfEachSliceOrOfAShortOne) {
    EXPECT_DOUBLE_EQ(of({400}, {0s, 40s, 60s}).switching, 0.06);
    EXPECT_DOUBLE_EQ(of({400}, {0s, 40s, 60s}, {.level = 4}).switching, 0.03);
    EXPECT_DOUBLE_EQ(of({400}, {0s, 40s, 60s}).effective_utilization, 0.34);
}

TEST(TurnMetrics, ResizingByEightProcessorsCostsEightTenthsOfAMillisecond) {  // T6
    EXPECT_NEAR(of({400}, {0s, 100s}, {}, 8).resizing * 10 * 100, 0.0008, 1e-12);
}

TEST(TurnMetrics, MoreProcessorSecondsForTheSameWorkAreLessEfficient) {
    EXPECT_DOUBLE_EQ(of({520}, {0s, 100s}).accumulated_efficiency, 0.5);  // on 16: 0.65 of the time, twice the size
}

}  // namespace
}  // namespace zbs
