#include "services/zone_scheduler/records/retention.hpp"

#include <gtest/gtest.h>

#include "services/zone_scheduler/records/part_view.hpp"
#include "tests/support/fake_executor.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
constexpr Duration kDay = 24h;

class RetentionTest : public testing::Test {
  protected:
    RetentionTest() {
        config.results_kept = 10 * kDay;
        retention.start();
    }
    /// One that ends now, with output.
    ApplicationId application(ApplicationState state = ApplicationState::kCompleted, int files = 3) {
        Application made{some_user(), some_application_request(), {}};
        made.request.id = {ids.fresh(made.owner)};
        made.status.state = state;
        made.status.history = {{ApplicationState::kAccepted, clock.now()}, {state, clock.now()}};
        made.status.launcher_step = StepId("mpi-" + to_string(made.request.id));
        run(made.status.launcher_step, files);
        EXPECT_TRUE(store.insert(made));
        return made.request.id;
    }
    PartId part(PartState state = PartState::kCompleted) {
        PartRecord made = some_part_record();
        made.request.id = made.status.id = {ids.fresh(made.home_caller)};
        made.status.state = state;
        made.operation = "run-" + to_string(made.request.id);
        made.ended = clock.now();
        for (const StepId& step : step_ids(made.operation, made.proxies)) run(step, 2);
        EXPECT_TRUE(store.save(made));
        return made.request.id;
    }
    void run(const StepId& step_id, int files) {
        FakeExecutor::Script script{.runtime = Duration{0}};
        for (int i = 0; i < files; ++i) script.files[".zbs-out." + std::to_string(i)] = "text";
        executor.script(step_id, script);
        ASSERT_TRUE(executor.start({.step_id = step_id, .argv = {"/bin/app"}}));
    }
    bool is_there(const ApplicationId& id) { return store.find_application(id)->has_value(); }
    bool is_there(const PartId& id) { return store.find_part(id)->has_value(); }

    VirtualClock clock;
    ZoneConfig config;
    MemoryZoneStore store;
    FakeExecutor executor{clock};
    SilentLog log;
    CountingIds ids;
    Retention retention{config, clock, store, store, store, executor, nullptr, log};
};

TEST_F(RetentionTest, ResultsStayForTheirDaysAndThenGoWithTheirFiles) {
    const ApplicationId application = this->application();
    const PartId part = this->part();
    clock.advance(10 * kDay - 1min);
    EXPECT_TRUE(is_there(application) && is_there(part));
    EXPECT_EQ(executor.steps().size(), 3U);
    clock.advance(Retention::kIdle + 1min);
    EXPECT_FALSE(is_there(application));
    EXPECT_FALSE(is_there(part));
    EXPECT_TRUE(executor.steps().empty());
    EXPECT_TRUE(*store.was_removed(application) && *store.was_removed(part));
}

TEST_F(RetentionTest, WhatHasNotEndedOrHasSomethingToGiveBackStays) {
    const ApplicationId running = application(ApplicationState::kRunning);
    const ApplicationId ended = application();
    const PartId held = part(PartState::kHeld);
    ApplicationStatus status = store.find_application(ended).value()->status;
    status.releasing = some_application_status().releasing;
    ASSERT_TRUE(store.update(ended, status));
    clock.advance(100 * kDay);
    EXPECT_TRUE(is_there(running) && is_there(ended) && is_there(held));
    status.releasing.clear();
    ASSERT_TRUE(store.update(ended, status));
    clock.advance(Retention::kIdle);
    EXPECT_FALSE(is_there(ended));
}

TEST_F(RetentionTest, RemovesALittleASecond) {
    for (int i = 0; i < 50; ++i) application();
    clock.advance(10 * kDay);
    const std::size_t before = store.all_applications().size();
    ASSERT_EQ(before, 50U);
    clock.advance(Retention::kIdle);  // within it the first look that finds them, and all that follow
    EXPECT_TRUE(store.all_applications().empty());

    application(ApplicationState::kCompleted, 3 * static_cast<int>(Retention::kFilesPerCheck));
    clock.advance(10 * kDay);
    std::size_t left = 3 * Retention::kFilesPerCheck;
    while (!executor.steps().empty()) {
        clock.advance(Retention::kBusy);
        const std::size_t now = executor.steps().empty() ? 0 : executor.steps().begin()->second.script.files.size();
        EXPECT_LE(left - now, Retention::kFilesPerCheck);
        EXPECT_EQ(store.all_applications().size(), executor.steps().size()) << "the record goes last";
        left = now;
    }
}

TEST_F(RetentionTest, AFolderThatResistsKeepsNoOther) {
    const ApplicationId first = application();
    const ApplicationId second = application();
    executor.unremovable.insert(StepId("mpi-" + to_string(first)));
    clock.advance(10 * kDay + Retention::kIdle);
    EXPECT_FALSE(is_there(first));
    EXPECT_FALSE(is_there(second));
    EXPECT_EQ(executor.steps().size(), 1U);
}

TEST_F(RetentionTest, AClockThatJumpsAheadRemovesNothingForADay) {
    const ApplicationId application = this->application();
    clock.advance(kDay);
    clock.set_wall(clock.now() + 400 * kDay);
    clock.advance(23h);
    EXPECT_TRUE(is_there(application));
    clock.set_wall(clock.now() - 400 * kDay);  // somebody has put it right
    clock.advance(2 * kDay);
    EXPECT_TRUE(is_there(application));
    clock.advance(7 * kDay);
    EXPECT_FALSE(is_there(application)) << "and from then on it is believed";
}

struct SecondLife {
    const char* name;
    Duration off, jump;
    bool removed_at_once;
};
class RetentionAfterAStart : public RetentionTest, public testing::WithParamInterface<SecondLife> {};
INSTANTIATE_TEST_SUITE_P(, RetentionAfterAStart,
                         testing::Values(SecondLife{"AtOnceAfterAShortPause", 20h, 0h, true},
                                         SecondLife{"NotWhereTheClockStandsAYearAhead", 1h, 366 * kDay, false},
                                         SecondLife{"NotWhereItStandsBehind", 1h, -5h, false},
                                         SecondLife{"NotAfterAWeekOff", 7 * kDay, 0h, false}),
                         [](const auto& param_info) { return param_info.param.name; });

TEST_P(RetentionAfterAStart, OldResultsGo) {
    config.results_kept = 2 * kDay;
    const ApplicationId old = application();
    clock.advance(2 * kDay - 4h);  // by the end of any pause it is old enough
    ASSERT_TRUE(is_there(old));
    MemoryZoneStore later = store;  // what the next life finds
    VirtualClock second(clock.now() + GetParam().off + GetParam().jump, 7h);
    if (GetParam().jump < Duration{0}) second.set_wall(second.now());
    Retention again{config, second, later, later, later, executor, nullptr, log};
    again.start();
    const auto there = [&] { return later.find_application(old)->has_value(); };
    second.advance(Retention::kIdle + 5min);
    EXPECT_EQ(!there(), GetParam().removed_at_once);
    second.advance(23h);
    EXPECT_EQ(!there(), GetParam().removed_at_once) << "an operator has a day";
    second.advance(2h);
    EXPECT_FALSE(there());
}

TEST_F(RetentionTest, AClockThatIsPutRightWithinTheDayHasRemovedNothing) {
    const ApplicationId young = application();
    clock.advance(kDay + 1h);
    MemoryZoneStore later = store;
    VirtualClock second(clock.now() + 366 * kDay, 7h);
    Retention again{config, second, later, later, later, executor, nullptr, log};
    again.start();
    second.advance(12h);
    second.set_wall(second.now() - 366 * kDay);
    second.advance(3 * kDay);
    EXPECT_TRUE(later.find_application(young)->has_value());
    second.advance(10 * kDay);
    EXPECT_FALSE(later.find_application(young)->has_value());
}

TEST_F(RetentionTest, AStoreThatFailsIsAskedAgainLater) {
    const ApplicationId application = this->application();
    clock.advance(kDay);
    store.fault = Error{ErrorCode::kUnavailable, "disk", {}};
    clock.advance(20 * kDay);
    store.fault.reset();
    EXPECT_TRUE(is_there(application));
    clock.advance(Retention::kIdle);
    EXPECT_FALSE(is_there(application));
}

}  // namespace
}  // namespace zbs::test
