#include "docs/examples/policy/narrow_first.hpp"

#include <gtest/gtest.h>

#include "algorithms/sim/workload_simulation.hpp"
#include "tests/support/zones.hpp"

// The example of docs/policy.md.
namespace zbs {
namespace {

using namespace std::chrono_literals;
using examples::NarrowFirst;
using test::zone;
using test::ZoneBuilder;

std::vector<JobId> starts(const ZoneBuilder& zone) { return NarrowFirst(60s).plan(zone.snapshot()).starts; }

TEST(NarrowFirst, StartsTheNarrowestThatFit) {
    EXPECT_EQ(starts(zone(4).queued(1, 3, 9s).queued(2, 1, 9s).queued(3, 2, 9s)), (std::vector{JobId{2}, JobId{3}}));
}

TEST(NarrowFirst, NobodyPassesAJobThatHasWaitedTooLong) {
    EXPECT_EQ(starts(zone(4).running(9, 3, 5s).queued(1, 4, 9s, {.waited = 61s}).queued(2, 1, 5s)),
              std::vector<JobId>{});
    EXPECT_EQ(starts(zone(4).running(9, 3, 5s).queued(1, 4, 9s, {.waited = 59s}).queued(2, 1, 5s)),
              (std::vector{JobId{2}}));
}

TEST(NarrowFirst, EveryJobRuns) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        const Workload jobs = test::random_workload({.seed = seed});
        NarrowFirst policy(60s);
        const Result<SimulationOutcome> outcome = simulate(jobs, policy, {});
        ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
        for (std::size_t i = 0; i < jobs.jobs.size(); ++i) ASSERT_NE(outcome->start[i], kNever);
    }
}

}  // namespace
}  // namespace zbs
