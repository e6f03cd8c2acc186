#include <gtest/gtest.h>

#include "algorithms/policy/registry.hpp"
#include "tests/support/zones.hpp"

// One decision of every policy in a hand-made zone.
namespace zbs {
namespace {

using namespace std::chrono_literals;
using test::zone;
using test::ZoneBuilder;

Time in(Duration from_now) { return ZoneBuilder::kNow + from_now; }

struct Case {
    std::string name;
    std::string policy;
    PolicyOptions options;
    ZoneBuilder zone;
    std::vector<std::int64_t> starts;
    std::vector<Reservation> reservations;
    friend std::ostream& operator<<(std::ostream& out, const Case& which) { return out << which.name; }
};

class QueuePolicyTest : public testing::TestWithParam<Case> {};

TEST_P(QueuePolicyTest, StartsAndPromises) {
    const Result<std::unique_ptr<Policy>> policy = make_policy(GetParam().policy, GetParam().options);
    ASSERT_TRUE(policy.has_value()) << policy.error().message;
    const Plan plan = (*policy)->plan(GetParam().zone.snapshot());
    std::vector<JobId> starts;
    for (const std::int64_t id : GetParam().starts) starts.push_back(JobId{id});
    EXPECT_EQ(plan.starts, starts);
    EXPECT_EQ(plan.reservations, GetParam().reservations) << plan;
    EXPECT_TRUE(plan.preemptions.empty());
}

std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Fcfs, QueuePolicyTest,
    testing::Values(
        Case{"HeadsThatFitStart", "fcfs", {}, zone(4).queued(1, 2, 9s).queued(2, 2, 9s).queued(3, 1, 9s), {1, 2}, {}},
        Case{"NobodyPassesTheHead", "fcfs", {}, zone(4).running(9, 3, 5s).queued(1, 4, 9s).queued(2, 1, 5s), {}, {}}),
    name_of);

// Six processors, three of them busy for 5 s: a head that needs four has its shadow at 5 s and leaves two extra.
ZoneBuilder six() { return zone(6).running(9, 3, 5s).queued(1, 4, 9s); }

INSTANTIATE_TEST_SUITE_P(
    Easy, QueuePolicyTest,
    testing::Values(Case{"HeadThatFitsStarts", "easy", {}, zone(4).queued(1, 2, 9s), {1}, {}},
                    Case{"ShortJobEndsBeforeShadow",
                         "easy",
                         {},
                         zone(4).running(9, 3, 5s).queued(1, 4, 9s).queued(2, 1, 5s),
                         {2},
                         {{JobId{1}, in(5s)}}},
                    Case{"LongJobWouldDelayHead",
                         "easy",
                         {},
                         zone(4).running(9, 3, 5s).queued(1, 4, 9s).queued(2, 1, 6s),
                         {},
                         {{JobId{1}, in(5s)}}},
                    Case{"LongJobsShareTheExtraProcessors",
                         "easy",
                         {},
                         six().queued(2, 2, 100s).queued(3, 1, 100s).queued(4, 1, 5s),
                         {2, 4},
                         {{JobId{1}, in(5s)}}},
                    Case{"JobsThatEndTogetherCountTogether",
                         "easy",
                         {},
                         zone(6).running(8, 2, 5s).running(9, 2, 5s).queued(1, 4, 9s).queued(2, 2, 100s),
                         {2},
                         {{JobId{1}, in(5s)}}},
                    Case{"InOrderOfArrival",
                         "easy",
                         {},
                         six().queued(2, 3, 5s).queued(3, 1, 2s).queued(4, 2, 3s),
                         {2},
                         {{JobId{1}, in(5s)}}},
                    Case{"ByEstimate",
                         "easy",
                         {{"order", "estimate"}},
                         six().queued(2, 3, 5s).queued(3, 1, 2s).queued(4, 2, 3s),
                         {3, 4},
                         {{JobId{1}, in(5s)}}},
                    Case{"SjbfIsEasyByEstimate",
                         "sjbf",
                         {},
                         six().queued(2, 3, 5s).queued(3, 1, 2s).queued(4, 2, 3s),
                         {3, 4},
                         {{JobId{1}, in(5s)}}},
                    Case{"BySlowdown",
                         "easy",
                         {{"order", "slowdown"}},
                         six().queued(2, 3, 5s).queued(3, 1, 2s).queued(4, 2, 3s, {.waited = 100s}),
                         {4, 3},
                         {{JobId{1}, in(5s)}}},
                    Case{"ByPriority",
                         "easy",
                         {{"order", "priority"}},
                         six().queued(2, 3, 5s).queued(3, 1, 2s, {.priority = 5}).queued(4, 2, 3s, {.priority = 9}),
                         {4, 3},
                         {{JobId{1}, in(5s)}}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(Conservative, QueuePolicyTest,
                         testing::Values(Case{"EveryJobIsPromisedAStart",
                                              "conservative",
                                              {},
                                              six().queued(2, 3, 5s).queued(3, 2, 20s).queued(4, 1, 1s),
                                              {2},
                                              {{JobId{1}, in(5s)}, {JobId{3}, in(5s)}, {JobId{4}, in(14s)}}},
                                         Case{"SecondInLineIsNotDelayedEither",
                                              "conservative",
                                              {},
                                              six().queued(2, 6, 3s).queued(3, 2, 100s),
                                              {},
                                              {{JobId{1}, in(5s)}, {JobId{2}, in(14s)}, {JobId{3}, in(17s)}}}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(
    Backfill, QueuePolicyTest,
    testing::Values(Case{"WithoutReservationsAllThatFitsStarts",
                         "backfill",
                         {{"depth", "0"}},
                         six().queued(2, 6, 3s).queued(3, 2, 100s).queued(4, 1, 20s),
                         {3, 4},
                         {}},
                    Case{"OneReservation",
                         "backfill",
                         {{"depth", "1"}},
                         six().queued(2, 6, 3s).queued(3, 2, 100s).queued(4, 1, 20s),
                         {3},
                         {{JobId{1}, in(5s)}}},
                    Case{"TwoReservations",
                         "backfill",
                         {{"depth", "2"}},
                         six().queued(2, 6, 3s).queued(3, 2, 100s).queued(4, 1, 20s).queued(5, 2, 9s),
                         {5},
                         {{JobId{1}, in(5s)}, {JobId{2}, in(14s)}}},
                    Case{"UnlimitedReservations",
                         "backfill",
                         {{"depth", "unlimited"}},
                         six().queued(2, 6, 3s).queued(3, 2, 100s),
                         {},
                         {{JobId{1}, in(5s)}, {JobId{2}, in(14s)}, {JobId{3}, in(17s)}}},
                    Case{"DepthTwoByEstimate",
                         "backfill",
                         {{"depth", "2"}, {"order", "estimate"}},
                         six().queued(2, 6, 3s).queued(3, 3, 4s).queued(4, 2, 2s),
                         {4},
                         {{JobId{1}, in(5s)}, {JobId{2}, in(14s)}}}),
    name_of);

// The head needs 8 of 10, 6 are busy for 100 s; a job of 4 for 105 s would delay it by 5 s.
ZoneBuilder ten() { return zone(10).running(9, 6, 100s).queued(1, 8, 50s).queued(2, 4, 105s); }

INSTANTIATE_TEST_SUITE_P(Dynamic, QueuePolicyTest,
                         testing::Values(Case{"SlightDelayForMuchUse",
                                              "dynamic",
                                              {{"max_delay", "10s"}, {"gain", "0.3"}},
                                              ten(),
                                              {2},
                                              {{JobId{1}, in(105s), in(110s)}}},
                                         Case{"TooLittleUse",
                                              "dynamic",
                                              {{"max_delay", "10s"}, {"gain", "0.5"}},
                                              ten(),
                                              {},
                                              {{JobId{1}, in(100s), in(110s)}}},
                                         Case{"TooMuchDelay",
                                              "dynamic",
                                              {{"max_delay", "4s"}, {"gain", "0.3"}},
                                              ten(),
                                              {},
                                              {{JobId{1}, in(100s), in(104s)}}},
                                         Case{"WithoutDelayAsEasy",
                                              "dynamic",
                                              {{"max_delay", "0s"}},
                                              ten().queued(3, 2, 500s),
                                              {3},
                                              {{JobId{1}, in(100s), in(100s)}}}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(
    Slack, QueuePolicyTest,
    testing::Values(Case{"EarlyStartWithinTheSlackOfOthers",
                         "slack",
                         {{"slack", "1"}},
                         zone(4).running(9, 3, 10s).queued(1, 4, 10s).queued(2, 1, 15s),
                         {2},
                         {{JobId{1}, in(15s), in(20s)}}},
                    Case{"BeyondTheSlackOfOthers",
                         "slack",
                         {{"slack", "0.4"}},
                         zone(4).running(9, 3, 10s).queued(1, 4, 10s).queued(2, 1, 15s),
                         {},
                         {{JobId{1}, in(10s), in(14s)}, {JobId{2}, in(20s), in(26s)}}},
                    Case{"ImportantJobsHaveLittleSlack",
                         "slack",
                         {{"slack", "1"}},
                         zone(4).running(9, 3, 10s).queued(1, 4, 10s, {.priority = 4}).queued(2, 1, 15s),
                         {},
                         {{JobId{1}, in(10s), in(12s)}, {JobId{2}, in(20s), in(35s)}}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Selective, QueuePolicyTest,
    testing::Values(Case{"NewJobHasNoReservation",
                         "selective",
                         {{"threshold", "2"}},
                         zone(4).running(9, 3, 10s).queued(1, 4, 10s).queued(2, 1, 100s),
                         {2},
                         {}},
                    Case{"JobThatHasWaitedLongHasOne",
                         "selective",
                         {{"threshold", "2"}},
                         zone(4).running(9, 3, 10s).queued(1, 4, 10s, {.waited = 11s}).queued(2, 1, 100s),
                         {},
                         {{JobId{1}, in(10s)}}},
                    Case{"AtTheThresholdNotYet",
                         "selective",
                         {{"threshold", "2"}},
                         zone(4).running(9, 3, 10s).queued(1, 4, 10s, {.waited = 10s}).queued(2, 1, 100s),
                         {2},
                         {}}),
    name_of);

// Half of ten processors for jobs up to a minute; the other half is busy.
ZoneBuilder halves() { return zone(10).running(9, 5, 1000s).queued(1, 3, 500s).queued(2, 2, 10s).queued(3, 4, 10s); }

INSTANTIATE_TEST_SUITE_P(Multiqueue, QueuePolicyTest,
                         testing::Values(Case{"ShortJobsDoNotQueueBehindLongOnes",
                                              "multiqueue",
                                              {{"bounds", "60s"}, {"shares", "1,1"}},
                                              halves(),
                                              {2},
                                              {{JobId{1}, in(1000s)}, {JobId{3}, in(10s)}}},
                                         Case{"BorrowingUsesAllThatIsIdle",
                                              "multiqueue",
                                              {{"bounds", "60s"}, {"shares", "1,1"}, {"borrow", "true"}},
                                              halves(),
                                              {1, 2},
                                              {{JobId{3}, in(500s)}}},
                                         Case{"JobWiderThanItsPartitionGoesToLongerJobs",
                                              "multiqueue",
                                              {{"bounds", "60s"}, {"shares", "2,8"}},
                                              zone(10).queued(1, 7, 10s).queued(2, 2, 10s),
                                              {1, 2},
                                              {}},
                                         Case{"JobWiderThanAllPartitionsSpansThem",
                                              "multiqueue",
                                              {{"bounds", "60s"}, {"shares", "1,1"}},
                                              zone(10).queued(1, 9, 10s).queued(2, 1, 10s),
                                              {1, 2},
                                              {}}),
                         name_of);

// The example of the source, at t = 25: see tests/golden/ShmueliFeitelson2005.
ZoneBuilder example(Duration walltime) {
    return zone(10)
        .running(9, 5, 3s)
        .queued(1, 7, walltime)
        .queued(2, 3, walltime)
        .queued(3, 1, walltime)
        .queued(4, 2, walltime)
        .queued(5, 2, walltime);
}

INSTANTIATE_TEST_SUITE_P(
    Los, QueuePolicyTest,
    testing::Values(
        Case{"PicksTheFullestSet", "los", {}, example(3s), {2, 4}, {{JobId{1}, in(3s)}}},
        Case{"BackfillingInOrderReachesLess", "easy", {}, example(3s), {2, 3}, {{JobId{1}, in(3s)}}},
        Case{"LongJobsFillTheExtraProcessorsOnly", "los", {}, example(4s), {2}, {{JobId{1}, in(3s)}}},
        Case{"WithoutReservationTheHeadIsOneOfMany", "los", {{"reserve", "false"}}, example(4s), {2, 4}, {}},
        Case{"LookaheadEndsBeforeTheBetterSet", "los", {{"lookahead", "2"}}, example(3s), {2, 3}, {{JobId{1}, in(3s)}}},
        Case{"HeadThatFitsStartsFirst",
             "los",
             {},
             zone(5).queued(1, 1, 9s).queued(2, 5, 9s),
             {1},
             {{JobId{2}, in(9s)}}}),
    name_of);

}  // namespace
}  // namespace zbs
