#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "tests/support/zones.hpp"

// Jobs that take turns, or are preempted: whole schedules traced by hand.
namespace zbs {
namespace {

using namespace std::chrono_literals;
using test::PlainJob;
using test::workload;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int> ends_under(const std::string& policy, const PolicyOptions& options, const Workload& jobs,
                            const SimulationOptions& how) {
    const Result<SimulationOutcome> outcome = simulate(jobs, **make_policy(policy, options), how);
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message;
    std::vector<int> ends;
    for (const Time end : outcome->end)
        ends.push_back(static_cast<int>(std::chrono::floor<std::chrono::seconds>(end.time_since_epoch()).count()));
    return ends;
}

const SimulationOptions kTenSeconds{.slice = 10s};

TEST(Gang, TwoWideJobsTakeTurns) {
    // Slices of 10 s: job 1 at 0, 20 and 40; job 2 at 10 and 30.
    EXPECT_THAT(ends_under("gang", {}, workload(4, {{0, 4, 25}, {0, 4, 15}}), kTenSeconds), ElementsAre(40, 35));
}

TEST(Gang, JobsThatFitBesideEachOtherShareARow) {
    EXPECT_THAT(ends_under("gang", {}, workload(4, {{0, 2, 25}, {3, 2, 15}}), kTenSeconds), ElementsAre(25, 18));
}

TEST(Gang, JobBeyondTheLastSliceWaitsInOrder) {
    // Two rows at most: job 3 enters when job 2 ends at 20, job 4, which would fit beside it, not before job 3.
    const Workload jobs = workload(4, {{0, 4, 40}, {0, 4, 10}, {1, 4, 10}, {2, 1, 5}});
    const Result<SimulationOutcome> outcome = simulate(jobs, **make_policy("gang", {{"slices", "2"}}), kTenSeconds);
    ASSERT_TRUE(outcome.has_value());
    EXPECT_THAT(outcome->start, ElementsAre(Time{0s}, Time{0s}, Time{20s}, Time{40s}));
}

TEST(Gang, OneSliceIsFirstComeFirstServed) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(seed);
        const Workload jobs = test::random_workload({.seed = seed});
        const Result<SimulationOutcome> gang = simulate(jobs, **make_policy("gang", {{"slices", "1"}}), {});
        const Result<SimulationOutcome> fcfs = simulate(jobs, **make_policy("fcfs"), {});
        ASSERT_TRUE(gang.has_value() && fcfs.has_value());
        ASSERT_EQ(gang->start, fcfs->start);
        ASSERT_EQ(gang->end, fcfs->end);
    }
}

TEST(Gang, FilledSlotsAreUsed) {
    // Job 1 is on half the machine; job 2 needs all of it. Rows {1}, {2}: nothing to fill. With {1}, {2, 3} the copy of
    // job 1 fits into no row, but job 3 gets a slot beside job 1 on its own processor.
    const Workload jobs = workload(4, {{0, 3, 100}, {0, 2, 100}, {0, 1, 100}, {0, 2, 100}});
    // First fit: row 0: jobs 1 and 3; row 1: jobs 2 and 4. No room: every job runs every other slice.
    EXPECT_THAT(ends_under("gang", {{"choice", "lowest"}, {"fill", "false"}}, jobs, kTenSeconds),
                ElementsAre(190, 200, 190, 200));
    const Workload loose = workload(4, {{0, 3, 100}, {0, 2, 100}, {0, 1, 100}});
    // Row 0: jobs 1 and 3 (on processor 3); row 1: job 2 (on 0 and 1), and filled with a copy of job 3.
    EXPECT_THAT(ends_under("gang", {{"choice", "lowest"}, {"fill", "false"}}, loose, kTenSeconds),
                ElementsAre(190, 200, 190));
    EXPECT_THAT(ends_under("gang", {{"choice", "lowest"}, {"fill", "true"}}, loose, kTenSeconds),
                ElementsAre(190, 200, 100));
}

TEST(Gang, MemoryOfAllResidentJobsMustFit) {
    Workload jobs = workload(2, {{0, 2, 20}, {0, 2, 20}, {0, 1, 20}});
    for (WorkloadJob& job : jobs.jobs) job.job.memory_bytes = 600;
    jobs.jobs[2].job.memory_bytes = 100;
    const SimulationOptions small{.slice = 10s, .memory_bytes = 1'000};
    // Without limit three rows. With 1,000 bytes jobs 1 and 2 exclude each other; memory fit lets job 3 pass.
    EXPECT_THAT(ends_under("gang", {}, jobs, kTenSeconds), ElementsAre(40, 50, 60));
    EXPECT_THAT(ends_under("gang", {{"packing", "memory-fit"}}, jobs, small), ElementsAre(30, 60, 40));
    EXPECT_THAT(ends_under("gang", {}, jobs, small), ElementsAre(20, 50, 60));
}

TEST(Gang, BuddyNeedsAPowerOfTwo) {
    const Result<SimulationOutcome> outcome =
        simulate(workload(100, {{0, 4, 25}}), **make_policy("gang", {{"packing", "buddy"}}), {});
    ASSERT_FALSE(outcome.has_value());
    EXPECT_THAT(outcome.error().message, HasSubstr("power of two"));
}

TEST(Gang, SliceMustLast) {
    const Result<SimulationOutcome> outcome = simulate(workload(4, {{0, 4, 25}}), **make_policy("gang"), {.slice = 0s});
    ASSERT_FALSE(outcome.has_value());
    EXPECT_THAT(outcome.error().message, HasSubstr("slice"));
}

TEST(LazyGang, NobodySwitchesWhileAllHavePatience) {
    const Workload jobs = workload(4, {{0, 4, 3000}, {1, 4, 3000}});
    const PolicyOptions patient{{"patience", "1h,1h,1h"}, {"debug", "0"}};
    EXPECT_THAT(ends_under("lazy-gang", patient, jobs, {}), ElementsAre(3000, 6000));
}

TEST(LazyGang, JobThatHasWaitedTooLongPreempts) {
    // Batch jobs wait at most 100 s: job 2, come at 1, takes over at 101; job 1 at 201, with 2899 s left; and so on.
    const Workload jobs = workload(4, {{0, 4, 150}, {1, 4, 150}});
    const PolicyOptions hasty{{"patience", "1s,10s,100s"}, {"debug", "0"}};
    // Job 1: 0-101 and 201-250. Job 2: 101-201 and 250-300.
    EXPECT_THAT(ends_under("lazy-gang", hasty, jobs, {}), ElementsAre(250, 300));
    const Result<SimulationOutcome> outcome = simulate(jobs, **make_policy("lazy-gang", hasty), {});
    ASSERT_EQ(outcome->interruptions.size(), 2u);
    EXPECT_EQ(outcome->interruptions[0].stopped, Time{101s});
    EXPECT_EQ(outcome->interruptions[0].resumed, Time{201s});
    EXPECT_EQ(outcome->start[0], Time{0s});
}

TEST(LazyGang, ShortRunsWaitLess) {
    // Job 2 is a debugging run: it takes over after 10 s.
    const Workload jobs = workload(4, {{0, 4, 150}, {1, 4, 20}});
    const PolicyOptions options{{"patience", "1s,10s,100s"}, {"debug", "30s"}};
    EXPECT_THAT(ends_under("lazy-gang", options, jobs, {}), ElementsAre(170, 31));
}

}  // namespace
}  // namespace zbs
