#include "algorithms/model/zone_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Time at(int seconds) { return Time{std::chrono::seconds{seconds}}; }
Job job(std::int64_t id, std::int32_t processors, Duration walltime = 10s) {
    return {.id = JobId{id}, .submit = at(0), .walltime = walltime, .processors = processors};
}
void expect_refused(const Result<void>& result, ErrorCode code, const std::string& part) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, code);
    EXPECT_THAT(result.error().message, HasSubstr(part));
}

class ZoneStateTest : public testing::Test {
  protected:
    void apply(int seconds, const ZoneEvent& event) {
        const Result<void> done = zone.apply(at(seconds), event);
        ASSERT_TRUE(done.has_value()) << done.error().message;
    }
    std::vector<std::int64_t> waiting() const {
        std::vector<std::int64_t> ids;
        const ZoneSnapshot snapshot = zone.snapshot();
        snapshot.waiting.visit(
            [&](const WaitingJob& each) { return ids.push_back(snapshot.record(each.handle).job.id.value), true; });
        return ids;
    }
    ZoneState zone{{.processors = 4}};
};

TEST_F(ZoneStateTest, JobWaitsRunsAndEnds) {
    apply(0, JobSubmitted{job(1, 3)});
    EXPECT_EQ(zone.find(JobId{1})->phase, JobPhase::kWaiting);
    EXPECT_EQ(zone.snapshot().free_processors, 4);
    apply(5, JobStarted{JobId{1}});
    EXPECT_EQ(zone.find(JobId{1})->expected_end, at(15));
    EXPECT_EQ(zone.snapshot().free_processors, 1);
    EXPECT_EQ(zone.running_count(), 1u);
    apply(9, JobEnded{JobId{1}});
    EXPECT_EQ(zone.find(JobId{1}), nullptr);
    EXPECT_EQ(zone.snapshot().free_processors, 4);
}

TEST_F(ZoneStateTest, PreemptedJobTakesItsOldPlaceInTheQueue) {
    for (int i = 1; i <= 3; ++i) apply(0, JobSubmitted{job(i, 2)});
    apply(0, JobStarted{JobId{1}});
    EXPECT_THAT(waiting(), testing::ElementsAre(2, 3));
    apply(4, JobPreempted{JobId{1}});
    EXPECT_THAT(waiting(), testing::ElementsAre(1, 2, 3));
    EXPECT_EQ(zone.snapshot().free_processors, 4);
    EXPECT_EQ(zone.find(JobId{1})->start, kNever);
}

TEST_F(ZoneStateTest, OverdueJobHoldsItsProcessors) {
    apply(0, JobSubmitted{job(1, 4)});
    apply(0, JobStarted{JobId{1}});
    apply(10, ClockAdvanced{});
    EXPECT_EQ(zone.snapshot().free_processors, 0);
    EXPECT_EQ(zone.find(JobId{1})->expected_end, at(11));
    apply(12, ClockAdvanced{});
    EXPECT_EQ(zone.find(JobId{1})->expected_end, at(13));
    apply(12, JobEnded{JobId{1}});
    EXPECT_EQ(zone.snapshot().free_processors, 4);
}

TEST_F(ZoneStateTest, UnderReferenceRulesAnOverdueJobCountsAsGone) {
    ZoneState gone({.processors = 4, .overdue = ZoneState::Overdue::kGone});
    ASSERT_TRUE(gone.apply(at(0), JobSubmitted{job(1, 4)}).has_value());
    ASSERT_TRUE(gone.apply(at(0), JobStarted{JobId{1}}).has_value());
    ASSERT_TRUE(gone.apply(at(10), ClockAdvanced{}).has_value());
    EXPECT_EQ(gone.snapshot().free_processors, 4);
    EXPECT_EQ(gone.find(JobId{1})->phase, JobPhase::kLeaving);
    ASSERT_TRUE(gone.apply(at(10), JobEnded{JobId{1}}).has_value());
    EXPECT_EQ(gone.snapshot().free_processors, 4);
}

TEST_F(ZoneStateTest, PromiseStandsUntilTheJobStarts) {
    apply(0, JobSubmitted{job(1, 4)});
    apply(0, JobReserved{JobId{1}, at(7), at(9)});
    EXPECT_EQ(zone.find(JobId{1})->reserved, at(7));
    EXPECT_EQ(zone.find(JobId{1})->latest_start, at(9));
    apply(3, JobStarted{JobId{1}});
    EXPECT_EQ(zone.find(JobId{1})->reserved, kNever);
}

TEST_F(ZoneStateTest, ChangesSinceTheLastPlan) {
    apply(0, JobSubmitted{job(1, 3)});
    apply(0, JobStarted{JobId{1}});
    EXPECT_EQ(zone.snapshot().changes.size(), 2u);
    zone.changes_planned();
    EXPECT_TRUE(zone.snapshot().changes.empty());
    EXPECT_EQ(zone.snapshot().change_base, 2u);
    apply(3, JobEnded{JobId{1}});
    ASSERT_EQ(zone.snapshot().changes.size(), 1u);
    EXPECT_EQ(zone.snapshot().changes[0].kind, ZoneChange::Kind::kEnded);
    EXPECT_EQ(zone.snapshot().changes[0].expected_end, at(10));
}

TEST_F(ZoneStateTest, RefusesBadJobs) {
    expect_refused(zone.apply(at(0), JobSubmitted{job(-1, 1)}), ErrorCode::kInvalidArgument, "negative");
    expect_refused(zone.apply(at(0), JobSubmitted{job(1, 0)}), ErrorCode::kInvalidArgument, "at least one processor");
    expect_refused(zone.apply(at(0), JobSubmitted{job(1, 5)}), ErrorCode::kInvalidArgument, "the zone has 4");
    expect_refused(zone.apply(at(0), JobSubmitted{job(1, 1, 0s)}), ErrorCode::kInvalidArgument, "walltime");
    apply(0, JobSubmitted{job(1, 1)});
    expect_refused(zone.apply(at(0), JobSubmitted{job(1, 1)}), ErrorCode::kConflict, "already");
    EXPECT_EQ(zone.waiting_count(), 1u);
}

TEST_F(ZoneStateTest, RefusesWhatDoesNotFitTheJobsPhase) {
    apply(0, JobSubmitted{job(1, 3)});
    apply(0, JobSubmitted{job(2, 2)});
    expect_refused(zone.apply(at(0), JobEnded{JobId{1}}), ErrorCode::kConflict, "waits");
    expect_refused(zone.apply(at(0), JobPreempted{JobId{1}}), ErrorCode::kConflict, "waits");
    apply(0, JobStarted{JobId{1}});
    expect_refused(zone.apply(at(0), JobStarted{JobId{1}}), ErrorCode::kConflict, "runs");
    expect_refused(zone.apply(at(0), JobWithdrawn{JobId{1}}), ErrorCode::kConflict, "runs");
    expect_refused(zone.apply(at(0), JobReserved{JobId{1}, at(5)}), ErrorCode::kConflict, "runs");
    expect_refused(zone.apply(at(0), JobStarted{JobId{2}}), ErrorCode::kConflict, "1 are free");
    expect_refused(zone.apply(at(0), JobEnded{JobId{9}}), ErrorCode::kNotFound, "job 9");
    EXPECT_EQ(zone.running_count(), 1u);
    EXPECT_EQ(zone.snapshot().free_processors, 1);
}

TEST_F(ZoneStateTest, RefusesTimesThatGoBackOrLeaveTheRange) {
    apply(5, ClockAdvanced{});
    expect_refused(zone.apply(at(4), ClockAdvanced{}), ErrorCode::kInvalidArgument, "order of time");
    expect_refused(zone.apply(Time::max(), ClockAdvanced{}), ErrorCode::kInvalidArgument, "out of range");
    EXPECT_EQ(zone.now(), at(5));
    apply(5, JobSubmitted{job(1, 1)});
    expect_refused(zone.apply(at(5), JobReserved{JobId{1}, at(4)}), ErrorCode::kInvalidArgument, "lie ahead");
    expect_refused(zone.apply(at(5), JobReserved{JobId{1}, at(8), at(7)}), ErrorCode::kInvalidArgument, "end before");
}

TEST_F(ZoneStateTest, ProcessorsOfRunningJobsDoNotLeave) {
    apply(0, JobSubmitted{job(1, 3)});
    apply(0, JobStarted{JobId{1}});
    expect_refused(zone.apply(at(0), ProcessorsChanged{2}), ErrorCode::kConflict, "held by running jobs");
    apply(0, ProcessorsChanged{3});
    EXPECT_EQ(zone.snapshot().free_processors, 0);
    apply(0, ProcessorsChanged{10});
    EXPECT_EQ(zone.snapshot().free_processors, 7);
    expect_refused(zone.apply(at(0), ProcessorsChanged{0}), ErrorCode::kInvalidArgument, "processors");
}

TEST_F(ZoneStateTest, MalleableJobsChangeTheirSize) {
    Job flexible = job(1, 2);
    flexible.flexibility = Flexibility::kMalleable;
    apply(0, JobSubmitted{flexible});
    apply(0, JobResized{JobId{1}, 1});
    apply(0, JobStarted{JobId{1}});
    EXPECT_EQ(zone.snapshot().free_processors, 3);
    apply(2, JobResized{JobId{1}, 4});
    EXPECT_EQ(zone.snapshot().free_processors, 0);
    EXPECT_EQ(zone.find(JobId{1})->allocated, 4);
    expect_refused(zone.apply(at(2), JobResized{JobId{1}, 5}), ErrorCode::kInvalidArgument, "5 of 4");
    apply(3, JobResized{JobId{1}, 2});
    apply(3, JobSubmitted{job(2, 2)});
    apply(3, JobStarted{JobId{2}});
    expect_refused(zone.apply(at(3), JobResized{JobId{1}, 3}), ErrorCode::kConflict, "more processors than are free");
    expect_refused(zone.apply(at(3), JobResized{JobId{2}, 1}), ErrorCode::kConflict, "rigid");
    apply(4, JobEnded{JobId{1}});
    EXPECT_EQ(zone.snapshot().free_processors, 2);
}

TEST_F(ZoneStateTest, MoldableJobsChooseTheirSizeOnce) {
    Job flexible = job(1, 2);
    flexible.flexibility = Flexibility::kMoldable;
    apply(0, JobSubmitted{flexible});
    apply(0, JobResized{JobId{1}, 3});
    apply(0, JobStarted{JobId{1}});
    EXPECT_EQ(zone.snapshot().free_processors, 1);
    expect_refused(zone.apply(at(1), JobResized{JobId{1}, 2}), ErrorCode::kConflict, "moldable");
}

TEST_F(ZoneStateTest, LoadFoundStandsInTheSnapshot) {
    EXPECT_EQ(zone.snapshot().load, std::nullopt);
    apply(3, LoadFound{Load::kHigh});
    apply(5, ClockAdvanced{});
    EXPECT_EQ(zone.snapshot().load, (FoundLoad{Load::kHigh, at(3)}));
}

TEST_F(ZoneStateTest, TurnsCountAsServiceByRowsAndSize) {
    ZoneState turns({.processors = 4, .sharing = ZoneState::Sharing::kTime});
    Job flexible = job(1, 2);
    flexible.flexibility = Flexibility::kMalleable;
    const auto take = [&turns](int seconds, const ZoneEvent& event) {
        ASSERT_TRUE(turns.apply(at(seconds), event).has_value());
    };
    const auto matrix = [](std::vector<std::vector<std::int32_t>> rows) {
        auto diagram = std::make_shared<TraceDiagram>(4);
        for (std::size_t row = 0; row < rows.size(); ++row)
            diagram->place(diagram->add_row(), JobId{static_cast<std::int64_t>(row) + 1}, rows[row]);
        return DiagramChanged{diagram};
    };
    take(0, JobSubmitted{flexible});
    take(0, JobStarted{JobId{1}});
    take(0, matrix({{0, 1}}));
    take(10, JobSubmitted{job(2, 4)});
    take(10, JobStarted{JobId{2}});
    take(10, matrix({{0, 1}, {0, 1, 2, 3}}));
    EXPECT_EQ(served(*turns.find(JobId{1}), at(20)), 15s);  // alone, then every other slice
    take(20, JobResized{JobId{1}, 4});
    take(20, matrix({{0, 1, 2, 3}, {0, 1, 2, 3}}));
    // S(4) / S(2) = 2 / 1.3
    EXPECT_NEAR(to_seconds(served(*turns.find(JobId{1}), at(33))), 15 + 6.5 * 2 / 1.3, 1e-5);
}

TEST_F(ZoneStateTest, SharesAreThoseOfAllRunningJobs) {
    ZoneState shared({.processors = 4, .sharing = ZoneState::Sharing::kShare});
    const auto give = [&](int seconds, std::vector<ShareOfProcessors> shares) {
        return shared.apply(at(seconds), SharesChanged{std::move(shares)});
    };
    for (const int id : {1, 2}) {
        ASSERT_TRUE(shared.apply(at(0), JobSubmitted{job(id, 4)}).has_value());
        ASSERT_TRUE(shared.apply(at(0), JobStarted{JobId{id}}).has_value());
    }
    expect_refused(give(0, {{JobId{1}, 60}}), ErrorCode::kConflict, "no share");
    expect_refused(give(0, {{JobId{1}, 60}, {JobId{2}, 50}}), ErrorCode::kConflict, "110 per cent");
    expect_refused(give(0, {{JobId{1}, 60}, {JobId{2}, 0}}), ErrorCode::kInvalidArgument, "0 per cent");
    expect_refused(give(0, {{JobId{1}, 60}, {JobId{1}, 10}}), ErrorCode::kConflict, "two shares");
    expect_refused(give(0, {{JobId{1}, 60}, {JobId{3}, 10}}), ErrorCode::kConflict, "does not run");
    ASSERT_TRUE(give(0, {{JobId{1}, 60}, {JobId{2}, 40}}).has_value());
    ASSERT_TRUE(give(10, {{JobId{1}, 20}, {JobId{2}, 80}}).has_value());
    EXPECT_EQ(served(*shared.find(JobId{1}), at(15)), 7s);
    EXPECT_EQ(served(*shared.find(JobId{2}), at(15)), 8s);
    expect_refused(zone.apply(at(0), SharesChanged{}), ErrorCode::kConflict, "do not have shares");
}

TEST_F(ZoneStateTest, JobsWithRanksHaveSlots) {
    ZoneState ranked({.processors = 4, .sharing = ZoneState::Sharing::kPriority});
    for (const int id : {1, 2}) {
        ASSERT_TRUE(ranked.apply(at(0), JobSubmitted{job(id, 4)}).has_value());
        ASSERT_TRUE(ranked.apply(at(0), JobStarted{JobId{id}}).has_value()) << "processors can be had twice";
    }
    auto diagram = std::make_shared<TraceDiagram>(4);
    diagram->place(diagram->add_row(), JobId{1}, std::vector<std::int32_t>{0, 1, 2, 3});
    expect_refused(ranked.apply(at(0), DiagramChanged{std::make_shared<TraceDiagram>(*diagram)}), ErrorCode::kConflict,
                   "2 jobs run");
    diagram->place(diagram->add_row(), JobId{2}, std::vector<std::int32_t>{0, 1, 2, 3});
    ASSERT_TRUE(ranked.apply(at(0), DiagramChanged{diagram}).has_value());
    EXPECT_EQ(*ranked.snapshot().diagram, *diagram);
    EXPECT_EQ(ranked.find(JobId{1})->expected_end, kNever);
    expect_refused(ranked.apply(at(1), ProcessorsChanged{5}), ErrorCode::kConflict, "share the slots");
}

TEST_F(ZoneStateTest, WaitingJobsExchangeTheirPlaces) {
    for (const int id : {1, 2, 3, 4}) apply(0, JobSubmitted{job(id, 1)});
    apply(0, JobStarted{JobId{2}});
    apply(1, WaitingOrdered{{JobId{4}, JobId{1}}});
    EXPECT_THAT(waiting(), testing::ElementsAre(4, 3, 1));
    EXPECT_EQ(zone.find(JobId{4})->arrival, 0U);
    apply(2, WaitingOrdered{{JobId{4}, JobId{3}, JobId{1}}});
    EXPECT_THAT(waiting(), testing::ElementsAre(4, 3, 1));
    expect_refused(zone.apply(at(3), WaitingOrdered{{JobId{1}, JobId{2}}}), ErrorCode::kConflict, "job 2 runs");
    expect_refused(zone.apply(at(3), WaitingOrdered{{JobId{3}, JobId{3}}}), ErrorCode::kConflict, "two places");
    EXPECT_THAT(waiting(), testing::ElementsAre(4, 3, 1));
}

TEST_F(ZoneStateTest, AnotherEndIsExpected) {
    apply(0, JobSubmitted{job(1, 1)});
    expect_refused(zone.apply(at(0), EndExpected{JobId{1}, at(5)}), ErrorCode::kConflict, "job 1 waits");
    apply(0, JobStarted{JobId{1}});
    apply(0, EndExpected{JobId{1}, at(25)});
    EXPECT_EQ(zone.find(JobId{1})->expected_end, at(25));
    apply(24, ClockAdvanced{});
    EXPECT_EQ(zone.snapshot().running.front().expected_end, at(25));
    expect_refused(zone.apply(at(24), EndExpected{JobId{1}, at(24)}), ErrorCode::kInvalidArgument, "ahead");
}

TEST(ZoneStateRecovery, AnotherStateGoesOn) {
    const ZoneState::Options options{.processors = 4, .sharing = ZoneState::Sharing::kTime};
    ZoneState zone(options);
    const auto apply = [&zone](int seconds, const ZoneEvent& event) {
        const Result<void> done = zone.apply(at(seconds), event);
        ASSERT_TRUE(done.has_value()) << done.error().message;
    };
    for (const int id : {1, 2, 3}) apply(0, JobSubmitted{job(id, 2)});
    for (const int id : {1, 2}) apply(1, JobStarted{JobId{id}});
    auto diagram = std::make_shared<TraceDiagram>(4);
    for (const int id : {1, 2}) diagram->place(diagram->add_row(), JobId{id}, std::vector{0, 1});
    apply(1, DiagramChanged{diagram});
    apply(3, LoadFound{Load::kHigh});
    ZoneRecovered all{{}, diagram, zone.snapshot().load, zone.next_arrival()};
    for (const int id : {1, 2, 3}) all.records.push_back(*zone.find(JobId{id}));
    ZoneState other(options);
    ASSERT_TRUE(other.apply(at(3), all));
    for (const int id : {1, 2, 3}) EXPECT_EQ(*other.find(JobId{id}), *zone.find(JobId{id}));
    EXPECT_EQ(other.snapshot().load, zone.snapshot().load);
    EXPECT_EQ(served(*other.find(JobId{1}), at(11)), 5s);
    EXPECT_EQ(other.next_arrival(), 3U);

    expect_refused(other.apply(at(3), all), ErrorCode::kConflict, "takes those of no other");
    ZoneRecovered wrong = all;
    wrong.records[1].arrival = 0;
    expect_refused(ZoneState(options).apply(at(3), wrong), ErrorCode::kInvalidArgument, "job 2 has the number or");
    wrong = all;
    wrong.records[0].phase = JobPhase::kWaiting;
    expect_refused(ZoneState(options).apply(at(3), wrong), ErrorCode::kInvalidArgument, "job 1 has slots");
    wrong = all;
    wrong.records.pop_back();
    wrong.records.pop_back();
    expect_refused(ZoneState(options).apply(at(3), wrong), ErrorCode::kInvalidArgument, "a job that is not there");
    wrong = all;
    wrong.diagram = nullptr;
    expect_refused(ZoneState(options).apply(at(3), wrong), ErrorCode::kInvalidArgument, "of another zone");
}

TEST_F(ZoneStateTest, FindsEachOfManyJobs) {
    ZoneState large({.processors = 4});
    for (std::int64_t id = 0; id < 5'000; ++id)
        ASSERT_TRUE(large.apply(at(0), JobSubmitted{job(id * 7, 1)}).has_value());
    for (std::int64_t id = 0; id < 5'000; id += 2)
        ASSERT_TRUE(large.apply(at(0), JobWithdrawn{JobId{id * 7}}).has_value());
    for (std::int64_t id = 0; id < 5'000; ++id) {
        const JobRecord* const found = large.find(JobId{id * 7});
        ASSERT_EQ(found != nullptr, id % 2 == 1);
        if (found != nullptr) {
            ASSERT_EQ(found->job.id.value, id * 7);
        }
    }
    EXPECT_EQ(large.find(JobId{1}), nullptr);
    EXPECT_EQ(large.waiting_count(), 2'500u);
}

}  // namespace
}  // namespace zbs
