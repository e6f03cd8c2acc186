#include "services/zone_scheduler/assembly/commit_barrier.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_executor.hpp"
#include "tests/support/memory_audit_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs {
namespace {

class FakeJournal : public Journal {
  public:
    bool dirty = false;
    int commits = 0;
    std::optional<Error> fault;
    bool ours = true;
    bool is_ours() const override { return ours; }
    bool is_dirty() const override { return dirty; }
    Result<void> commit() override {
        ++commits;
        if (fault) return *fault;
        dirty = false;
        return {};
    }
};

struct CommitBarrierTest : testing::Test {
    test::VirtualClock clock;
    FakeJournal journal;
    test::MemoryAuditLog audit;
    int failures = 0;
    CommitBarrier barrier{clock, journal, audit, [this](const Error&) { ++failures; }};
    std::vector<int> seen;

    void effect(int number) {
        barrier.after_commit([this, number] { seen.push_back(number); });
    }
};

TEST_F(CommitBarrierTest, NothingWaitsWhereNothingWasWritten) {
    effect(1);
    EXPECT_EQ(seen, std::vector{1});
    EXPECT_EQ(journal.commits, 0);
}

TEST_F(CommitBarrierTest, EffectsOfManyWritesShareOneCommitAndKeepTheirOrder) {
    journal.dirty = true;
    for (int i = 1; i <= 3; ++i) effect(i);
    EXPECT_TRUE(seen.empty());
    clock.settle();
    EXPECT_EQ(seen, (std::vector{1, 2, 3}));
    EXPECT_EQ(journal.commits, 1);
}

TEST_F(CommitBarrierTest, EffectBehindAWaitingOneWaitsToo) {
    journal.dirty = true;
    effect(1);
    journal.dirty = false;  // a process start made it durable meanwhile
    effect(2);
    EXPECT_TRUE(seen.empty());
    clock.settle();
    EXPECT_EQ(seen, (std::vector{1, 2}));
}

TEST_F(CommitBarrierTest, NothingGetsOutAfterACommitThatFailed) {
    journal.dirty = true;
    journal.fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    effect(1);
    clock.settle();
    journal.fault.reset();
    effect(2);
    clock.settle();
    EXPECT_TRUE(seen.empty());
    EXPECT_FALSE(barrier.commit_now());
    EXPECT_EQ(failures, 1);
    EXPECT_EQ(journal.commits, 1) << "a failed sync is never tried again";
}

TEST_F(CommitBarrierTest, NothingGetsOutOnceAnotherHasTakenOver) {
    journal.dirty = true;
    effect(1);
    journal.ours = false;
    clock.settle();
    effect(2);  // also what needs no commit
    EXPECT_FALSE(barrier.commit_now());
    EXPECT_TRUE(seen.empty());
    EXPECT_EQ(journal.commits, 0);
    EXPECT_EQ(failures, 1);
}

TEST_F(CommitBarrierTest, AnAnswerWithoutAWriteNeedsTheZoneToBeOursToo) {
    journal.ours = false;
    effect(1);
    EXPECT_TRUE(seen.empty());
    EXPECT_EQ(failures, 1);
}

TEST_F(CommitBarrierTest, RecordThatRidesOnTheJournalCostsNoSyncOfItsOwnAndReachesTheLogSoon) {
    audit.rides = true;
    barrier.start();
    ASSERT_TRUE(audit.append({.action = "createUser"}, AuditUrgency::kWithWrites));
    barrier.await_record();
    journal.dirty = true;
    effect(1);
    clock.settle();
    EXPECT_EQ(seen, std::vector{1});
    EXPECT_EQ(journal.commits, 1);
    EXPECT_TRUE(audit.durable().empty());
    clock.advance(std::chrono::seconds{1});
    EXPECT_EQ(audit.durable().size(), 1U);
}

TEST_F(CommitBarrierTest, LogThatCannotTakeItsRecordsEndsTheZone) {
    audit.rides = true;
    barrier.start();
    ASSERT_TRUE(audit.append({.action = "createUser"}, AuditUrgency::kWithWrites));
    audit.fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    clock.advance(std::chrono::seconds{3});
    EXPECT_EQ(failures, 1);
    EXPECT_FALSE(barrier.commit_now());
}

TEST_F(CommitBarrierTest, RecordIsDurableBeforeWhatItAllowsIsTold) {
    ASSERT_TRUE(audit.append({.action = "createUser"}, AuditUrgency::kSoon));
    barrier.await_record();
    effect(1);
    EXPECT_TRUE(audit.durable().empty());
    clock.settle();
    EXPECT_EQ(audit.durable().size(), 1u);
    EXPECT_EQ(seen, std::vector{1});
}

TEST_F(CommitBarrierTest, RecordThatCannotBeKeptStopsAll) {
    ASSERT_TRUE(audit.append({.action = "createUser"}, AuditUrgency::kSoon));
    audit.fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    barrier.await_record();
    effect(1);
    clock.settle();
    EXPECT_TRUE(seen.empty());
    EXPECT_EQ(failures, 1);
}

TEST_F(CommitBarrierTest, WhatNobodySeesIsDurableWithinASecondAllTheSame) {
    barrier.start();
    clock.advance(std::chrono::milliseconds{500});
    journal.dirty = true;
    clock.advance(std::chrono::seconds{1});
    EXPECT_FALSE(journal.dirty);
}

TEST_F(CommitBarrierTest, ProcessStartsOnlyAfterItsIntentIsDurable) {
    test::FakeExecutor processes(clock);
    DurableExecutor executor(barrier, processes);
    journal.dirty = true;
    ASSERT_TRUE(executor.start({.step_id = "one"}));
    EXPECT_FALSE(journal.dirty);
    EXPECT_EQ(processes.running(), 1);

    journal.dirty = true;
    journal.fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_FALSE(executor.start({.step_id = "two"}));
    EXPECT_EQ(processes.running(), 1);
}

TEST_F(CommitBarrierTest, FilesOfAStepGoOnlyAfterWhatSaysThatNobodyNeedsThem) {
    test::FakeExecutor processes(clock);
    processes.script("", {.files = {{"a", "1"}, {"b", "2"}}});
    DurableExecutor executor(barrier, processes);
    ASSERT_TRUE(executor.start({.step_id = "one"}));
    journal.dirty = true;
    ASSERT_TRUE(executor.remove_files("one", {"a"}));
    EXPECT_FALSE(journal.dirty);
    EXPECT_FALSE(executor.read("one", "a", 0, 1));

    journal.dirty = true;
    journal.fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_FALSE(executor.remove_files("one", {"b"}));
    EXPECT_TRUE(executor.read("one", "b", 0, 1));
}

}  // namespace
}  // namespace zbs
