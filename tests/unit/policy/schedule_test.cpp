#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/zones.hpp"

// Whole schedules of a few jobs, traced by hand.
namespace zbs {
namespace {

using test::starts_under;
using test::workload;
using testing::ElementsAre;

TEST(FcfsSchedule, EachJobWaitsForTheOneAhead) {
    const Workload jobs = workload(4, {{0, 3, 10}, {1, 2, 5}, {2, 1, 1}});
    EXPECT_THAT(starts_under("fcfs", {}, jobs), ElementsAre(0, 10, 10));
}

TEST(EasySchedule, ShortJobPassesTheHead) {
    const Workload jobs = workload(4, {{0, 3, 10}, {1, 2, 5}, {2, 1, 1}});
    EXPECT_THAT(starts_under("easy", {}, jobs), ElementsAre(0, 10, 2));
}

TEST(EasySchedule, SecondInLineIsPassed) {
    // Job 3 needs the whole machine and is not the head yet when job 4 takes the extra processor.
    const Workload jobs = workload(4, {{0, 3, 10}, {1, 3, 10}, {2, 4, 5}, {3, 1, 30}});
    EXPECT_THAT(starts_under("easy", {}, jobs), ElementsAre(0, 10, 33, 3));
    EXPECT_THAT(starts_under("conservative", {}, jobs), ElementsAre(0, 10, 20, 25));
}

TEST(ConservativeSchedule, EarlyEndMovesPromisesForward) {
    const Workload jobs = workload(2, {{0, 2, 10, 4}, {1, 1, 10}, {2, 2, 5}});
    EXPECT_THAT(starts_under("conservative", {}, jobs), ElementsAre(0, 4, 14));
}

TEST(ConservativeSchedule, CompressionTriesEachJobOnceInOrderOfArrival) {
    // At 4 job 2 moves to 4, job 3 is tried while job 4 still holds 10..20, then job 4 moves to 4. At 14 job 3 moves.
    const Workload jobs = workload(2, {{0, 2, 10, 4}, {1, 1, 10}, {2, 2, 5}, {3, 1, 10}});
    EXPECT_THAT(starts_under("conservative", {}, jobs), ElementsAre(0, 4, 14, 4));
}

TEST(BackfillSchedule, WithoutReservationAWideJobStarvesWhileNarrowOnesCome) {
    Workload jobs = workload(2, {{0, 1, 10}, {1, 2, 10}});
    for (int i = 1; i <= 20; ++i) {
        const Workload next = workload(2, {{5 * i, 1, 10}});
        jobs.jobs.push_back(next.jobs[0]);
        jobs.jobs.back().job.id = JobId{i + 2};
    }
    EXPECT_EQ(starts_under("backfill", {{"depth", "0"}}, jobs)[1], 110);
    EXPECT_EQ(starts_under("backfill", {{"depth", "1"}}, jobs)[1], 10);
}

TEST(SelectiveSchedule, WideJobGetsItsReservationAfterAWhile) {
    // Job 2's slowdown exceeds 2 after it has waited 10 s: it is seen at 15 when job 5 comes, and promised 20.
    const Workload jobs = workload(2, {{0, 1, 10}, {1, 2, 10}, {5, 1, 10}, {10, 1, 10}, {15, 1, 10}, {20, 1, 10}});
    EXPECT_THAT(starts_under("selective", {{"threshold", "2"}}, jobs), ElementsAre(0, 20, 5, 10, 30, 30));
}

TEST(DynamicSchedule, HeadIsDelayedNoFurtherThanAllowed) {
    // The head, job 2, is promised 10; job 3 would move it to 13.
    const Workload jobs = workload(4, {{0, 3, 10}, {1, 4, 10}, {2, 1, 11}, {20, 1, 1}});
    EXPECT_THAT(starts_under("dynamic", {{"max_delay", "5s"}, {"gain", "0"}}, jobs), ElementsAre(0, 13, 2, 23));
    EXPECT_THAT(starts_under("dynamic", {{"max_delay", "2s"}, {"gain", "0"}}, jobs), ElementsAre(0, 10, 20, 20));
}

TEST(SlackSchedule, EveryJobStartsWithinItsSlack) {
    // Job 2 is promised 10; job 3 may push it to 14 where its slack allows.
    const Workload jobs = workload(4, {{0, 3, 10}, {1, 4, 10}, {2, 1, 12}});
    EXPECT_THAT(starts_under("slack", {{"slack", "0.5"}}, jobs), ElementsAre(0, 14, 2));
    EXPECT_THAT(starts_under("slack", {{"slack", "0.3"}}, jobs), ElementsAre(0, 10, 20));
}

TEST(MultiqueueSchedule, QueuesServeTheirOwnPartitions) {
    // Two processors for jobs up to 10 s, two for longer ones.
    const Workload jobs = workload(4, {{0, 2, 100}, {1, 2, 100}, {2, 2, 10}, {3, 2, 10}, {4, 1, 5}});
    EXPECT_THAT(starts_under("multiqueue", {{"bounds", "10s"}, {"shares", "1,1"}}, jobs),
                ElementsAre(0, 100, 2, 12, 22));
}

TEST(LosSchedule, FullerSetThanEasy) {
    // At 1 five processors are free for 3 s: 3 + 1 in order, 3 + 2 with lookahead.
    const Workload jobs = workload(10, {{0, 5, 4}, {1, 7, 9}, {1, 3, 3}, {1, 1, 3}, {1, 2, 3}});
    EXPECT_THAT(starts_under("easy", {}, jobs), ElementsAre(0, 4, 1, 1, 4));
    EXPECT_THAT(starts_under("los", {}, jobs), ElementsAre(0, 4, 1, 4, 1));
}

}  // namespace
}  // namespace zbs
