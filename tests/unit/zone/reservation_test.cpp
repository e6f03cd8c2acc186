// Advance reservations: at one zone, and the common start of an application over several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;

struct ReservationTest : testing::Test {
    FederationWorld world{{4, 4, 4}};
    const Caller home{CallerKind::kZone, "org-a", "a"};

    PartService& zone() { return *world.node("b").parts; }
    PartRequest part(int ranks, Duration start_in, Duration walltime = 5min) {
        PartRequest r{.id = PartId{world.ids.fresh()},
                      .application = ApplicationId{world.ids.fresh()},
                      .user = world.user(),
                      .home = "a"};
        for (int i = 0; i < ranks; ++i) r.ranks.push_back(i);
        r.graph = *TaskGraph::make(std::vector<double>(static_cast<std::size_t>(ranks), 1.0), {});
        r.walltime = walltime;
        r.start_in = start_in;
        return r;
    }
    PartStatus committed(const PartRequest& request) {
        const auto held = zone().hold(home, request);
        EXPECT_TRUE(held) << held.error();
        EXPECT_TRUE(zone().commit(home, held->id, held->token));
        return *held;
    }
    Result<PartStatus> launch(const PartStatus& held) {
        return zone().launch(home, held.id,
                             {.token = held.token,
                              .operation = "run-" + to_string(held.id),
                              .options = {{"control-port", "127.0.0.1:9"}},
                              .proxies = {{0, zone().status(home, held.id)->assignment[0].machine}}});
    }
    Capacity ask(int processors, Duration walltime = 5min, std::optional<ApplicationId> without = {}) {
        return *zone().capacity(
            home, {.user = world.user(), .processors = processors, .walltime = walltime, .without = without});
    }

    ApplicationId submit(int ranks, Duration walltime = 10min) {
        ApplicationRequest request = world.request(ranks);
        request.walltime = walltime;
        EXPECT_TRUE(world.node("a").applications->submit(world.user(), request));
        return request.id;
    }
    void run_for(Duration runtime, bool overruns = false) {
        for (const char* name : {"a", "b", "c"})
            world.node(name).executor->script("", {.runtime = runtime, .overruns = overruns});
    }
    ApplicationState state(const ApplicationId& id) { return world.status(id).state; }
    Time at(const ApplicationId& id, ApplicationState wanted) {
        for (const StateChange& change : world.status(id).history)
            if (change.state == wanted) return change.at;
        return {};
    }
};

TEST_F(ReservationTest, ReservedProcessorsAreFreeUntilTheirStartAndOnlyForWhatEndsBefore) {
    const PartStatus reserved = committed(part(4, 1h));
    EXPECT_EQ(reserved.starts_in, 1h);
    EXPECT_EQ(ask(4, 50min).processors, 4);
    EXPECT_EQ(ask(4, 60min).processors, 0);  // could still run when the reservation starts
    EXPECT_EQ(zone().hold(home, part(1, 0s, 60min)).error().code, ErrorCode::kRejected);
    EXPECT_TRUE(zone().hold(home, part(4, 0s, 50min)));
}

TEST_F(ReservationTest, WindowsTellWhenHowManyAreFree) {
    const PartStatus runs = committed(part(3, 0s, 10min));
    ASSERT_TRUE(launch(runs));
    const Capacity capacity = ask(4);
    EXPECT_EQ(capacity.processors, 1);
    ASSERT_EQ(capacity.windows.size(), 1U);
    EXPECT_EQ(capacity.windows[0].processors, 4);
    EXPECT_GE(capacity.windows[0].after, 10min);
    EXPECT_LE(capacity.windows[0].after, 10min + 10s);
    // What is told can be had.
    EXPECT_TRUE(zone().hold(home, part(4, capacity.windows[0].after)));
    EXPECT_EQ(zone().hold(home, part(4, capacity.windows[0].after - 1min)).error().code, ErrorCode::kRejected);
}

TEST_F(ReservationTest, NoLaunchBeforeTheStartNorOntoWhatStillRuns) {
    world.node("b").executor->script("run-", {.overruns = true});
    const PartStatus runs = committed(part(4, 0s, 1min));
    ASSERT_TRUE(launch(runs));
    const PartStatus next = committed(part(4, ask(4).windows.at(0).after));
    EXPECT_EQ(launch(next).error().code, ErrorCode::kConflict);
    world.run(next.starts_in);
    EXPECT_FALSE(zone().status(home, next.id)->ready);
    EXPECT_EQ(launch(next).error().code, ErrorCode::kUnavailable);
    world.node("b").executor->end("run-" + to_string(runs.id) + "-p0", 0);
    world.run(1s);
    EXPECT_TRUE(zone().status(home, next.id)->ready);
    EXPECT_TRUE(launch(next));
}

TEST_F(ReservationTest, WhatOverrunsKeepsItsProcessorsBetweenTwoLooksOfTheWatch) {
    world.node("b").config.poll_every = 1h;
    world.node("b").executor->script("run-", {.overruns = true});
    ASSERT_TRUE(launch(committed(part(4, 0s, 1min))));
    world.run(2min);
    EXPECT_EQ(zone().hold(home, part(1, 0s)).error().code, ErrorCode::kRejected);
    world.run(2min);
    EXPECT_EQ(ask(4).processors, 0);
}

TEST_F(ReservationTest, LaunchWindowCountsFromTheStart) {
    const PartStatus next = committed(part(4, 10min));
    world.run(10min + world.node("b").config.launch_window - 1s);
    EXPECT_EQ(zone().status(home, next.id)->state, PartState::kCommitted);
    world.run(2s);
    EXPECT_EQ(zone().status(home, next.id)->state, PartState::kReleased);
    EXPECT_EQ(zone().free_processors(), 4);
}

TEST_F(ReservationTest, UncommittedReservationExpiresLikeAnyHold) {
    ASSERT_TRUE(zone().hold(home, part(4, 1h)));
    world.run(world.node("b").config.hold_ttl + 1s);
    EXPECT_EQ(ask(4, 2h).processors, 4);
}

TEST_F(ReservationTest, ReservationAndItsStartSurviveTheZone) {
    const PartStatus next = committed(part(4, 10min));
    world.crash("b");
    world.run(5min);
    world.restart("b");
    EXPECT_EQ(zone().status(home, next.id)->starts_in, 5min);
    EXPECT_EQ(ask(4, 10min).processors, 0);
    world.run(5min);
    EXPECT_TRUE(launch(next));
}

TEST_F(ReservationTest, StartTooFarAheadIsRefusedWithTheLimit) {
    const auto held = zone().hold(home, part(1, 25h));
    EXPECT_EQ(held.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(held.error().pointer, "/start_in_s");
}

TEST_F(ReservationTest, APartTakesThePlaceOfAnotherInOneStepOrNotAtAll) {
    const PartRequest later = part(4, 1h);
    const PartStatus old = committed(later);
    EXPECT_EQ(ask(4, 2h).processors, 0);
    EXPECT_EQ(ask(4, 2h, later.application).processors, 4);
    PartRequest sooner = part(4, 10min, 2h);
    sooner.replaces = old.id;
    EXPECT_EQ(zone().hold(home, sooner).error().code, ErrorCode::kConflict);  // of another application
    sooner.application = later.application;
    PartRequest too_many = sooner;
    too_many.id = PartId{world.ids.fresh()};
    for (int i = 4; i < 6; ++i) too_many.ranks.push_back(i);
    too_many.graph = *TaskGraph::make(std::vector<double>(6, 1.0), {});
    EXPECT_FALSE(zone().hold(home, too_many));
    EXPECT_EQ(zone().status(home, old.id)->state, PartState::kCommitted);
    const auto held = zone().hold(home, sooner);
    ASSERT_TRUE(held) << held.error();
    EXPECT_EQ(zone().status(home, old.id)->state, PartState::kReleased);
    EXPECT_EQ(zone().hold(home, sooner)->token, held->token);
}

TEST_F(ReservationTest, NothingTakesThePlaceOfWhatRuns) {
    const PartRequest first = part(2, 0s);
    const PartStatus runs = committed(first);
    ASSERT_TRUE(launch(runs));
    PartRequest other = part(2, 0s);
    other.application = first.application;
    other.replaces = runs.id;
    EXPECT_EQ(zone().hold(home, other).error().code, ErrorCode::kConflict);
}

TEST_F(ReservationTest, WhatRanShorterThanItsWalltimeShortensTheHopedForStart) {
    for (int i = 0; i < 20; ++i) {
        const PartStatus short_one = committed(part(4, 0s, 100min));
        ASSERT_TRUE(launch(short_one));
        world.run(10min);
        world.node("b").executor->end("run-" + to_string(short_one.id) + "-p0", 0);
        world.run(1s);
    }
    ASSERT_TRUE(launch(committed(part(4, 0s, 100min))));
    const StartWindow window = ask(4).windows.at(0);
    EXPECT_GE(window.after, 100min);
    EXPECT_LT(window.expected, 15min);
    EXPECT_GT(window.expected, 9min);
}

TEST_F(ReservationTest, NotAllFreeNowReservesACommonStartAndTakesAnEarlierOne) {
    run_for(5min);
    const ApplicationId first = submit(9);
    world.run(3s);
    const ApplicationId second = submit(9);
    world.run(5s);
    ASSERT_EQ(state(second), ApplicationState::kCommitted);
    ASSERT_TRUE(world.status(second).start);
    EXPECT_GE(*world.status(second).start - at(first, ApplicationState::kRunning), 10min);
    world.run(5min + 5s);  // the first ends after half of its walltime
    ASSERT_EQ(state(first), ApplicationState::kCompleted);
    EXPECT_EQ(state(second), ApplicationState::kRunning);
    world.run(6min);
    EXPECT_EQ(state(second), ApplicationState::kCompleted);
    EXPECT_EQ(world.held(), 0);
}

TEST_F(ReservationTest, WhereNothingEndsEarlyItStartsAtTheReservedTime) {
    run_for(10min - 1s);
    submit(9);
    world.run(3s);
    const ApplicationId second = submit(9);
    world.run(5s);
    const Time start = *world.status(second).start;
    world.run(11min);
    ASSERT_EQ(state(second), ApplicationState::kRunning);
    EXPECT_LE(at(second, ApplicationState::kRunning) - start, 2s);
}

TEST_F(ReservationTest, ShortOnesFillTheGapLongOnesWait) {
    run_for(10min - 1s);
    submit(9);
    world.run(3s);
    const ApplicationId large = submit(12);
    world.run(3s);
    const Time start = *world.status(large).start;
    run_for(1min);
    const ApplicationId little = submit(3, 2min), lengthy = submit(3, 30min);
    world.run(5s);
    EXPECT_EQ(state(little), ApplicationState::kRunning);
    EXPECT_LT(state(lengthy), ApplicationState::kLaunching);
    world.run(11min);
    EXPECT_LE(at(large, ApplicationState::kRunning) - start, 2s);
}

TEST_F(ReservationTest, StartThatSlipsIsPlannedAgain) {
    run_for(15min, true);  // the first does not end at its walltime of 10 minutes
    submit(9);
    world.run(3s);
    run_for(1min);
    const ApplicationId second = submit(9);
    world.run(12min);
    EXPECT_LT(state(second), ApplicationState::kLaunching);
    std::vector<std::string> slips;
    for (const ApplicationEvent& event : world.status(second).events)
        if (event.what == "ready" && !event.ok) slips.push_back(event.zone);
    EXPECT_FALSE(slips.empty());
    world.run(6min);
    EXPECT_EQ(state(second), ApplicationState::kCompleted) << world.status(second).reason;
    EXPECT_EQ(world.held(), 0);
}

TEST_F(ReservationTest, ZoneThatVanishesBeforeTheStartIsPlannedAround) {
    run_for(5min);
    submit(4);
    submit(4);
    world.run(3s);
    run_for(1min);
    const ApplicationId second = submit(8);
    world.run(5s);
    ASSERT_EQ(state(second), ApplicationState::kCommitted);
    ASSERT_TRUE(world.status(second).start);
    std::string lost;
    for (const ApplicationPart& part : world.status(second).parts)
        if (part.zone != "a") lost = part.zone;
    world.crash(lost);
    world.run(20min);
    EXPECT_EQ(state(second), ApplicationState::kCompleted) << world.status(second).reason;
    for (const ApplicationPart& part : world.status(second).parts) EXPECT_NE(part.zone, lost);
}

TEST_F(ReservationTest, AHoldForAnotherStartThanTheCommonOneIsNotTaken) {
    for (const Duration off : {3s, -3s, 9s, -9s}) {
        SCOPED_TRACE(to_seconds(off));
        FederationWorld other{{4, 4, 4}};
        for (const char* name : {"a", "b", "c"}) other.node(name).executor->script("", {.runtime = 5min});
        ASSERT_TRUE(other.node("a").applications->submit(other.user(), other.request(9)));
        other.run(3s);
        other.bend = [&](const std::string& from, const std::string& call, Result<PartStatus>& answer) {
            if (from == "b" && call == "hold" && answer && answer->starts_in > 0s) answer->starts_in += off;
        };
        const ApplicationRequest request = other.request(8);
        ASSERT_TRUE(other.node("a").applications->submit(other.user(), request));
        other.run(5s);
        bool told = false;
        for (const ApplicationEvent& event : other.status(request.id).events)
            told |= event.zone == "b" && event.what == "hold" && !event.ok &&
                    event.answer.find("another start") != std::string::npos;
        EXPECT_TRUE(told);
        for (const ApplicationPart& part : other.status(request.id).parts) EXPECT_NE(part.zone, "b");
        other.run(20min);
        EXPECT_EQ(other.status(request.id).state, ApplicationState::kCompleted) << other.status(request.id).reason;
    }
}

TEST_F(ReservationTest, HowLongAHoldMayTakeIsWhatTheLaunchCanWait) {
    for (const auto& [window, taken] : {std::pair<Duration, bool>{30s, true}, {6s, false}}) {
        SCOPED_TRACE(to_seconds(window));
        FederationWorld slow{{4, 4, 4}};
        for (const char* name : {"a", "b", "c"}) {
            slow.node(name).executor->script("", {.runtime = 5min});
            slow.node(name).config.launch_window = window;
        }
        ASSERT_TRUE(slow.node("a").applications->submit(slow.user(), slow.request(9)));
        slow.run(3s);
        slow.answer_delay = [](const std::string& from, const std::string& call) {
            return from == "b" && call == "hold" ? Duration{4s} : Duration{0};
        };
        const ApplicationRequest request = slow.request(12);  // not without b
        ASSERT_TRUE(slow.node("a").applications->submit(slow.user(), request));
        slow.run(8s);
        EXPECT_EQ(slow.status(request.id).state == ApplicationState::kCommitted, taken);
    }
}

TEST_F(ReservationTest, HomeThatRestartsKeepsTheStart) {
    run_for(10min - 1s);
    submit(9);
    world.run(3s);
    const ApplicationId second = submit(9);
    world.run(5s);
    const Time start = *world.status(second).start;
    world.crash("a");
    world.run(1min);
    world.restart("a");
    world.run(2s);
    EXPECT_EQ(*world.status(second).start, start);
    world.run(11min);
    EXPECT_LE(at(second, ApplicationState::kRunning) - start, 2s);
}

TEST_F(ReservationTest, CancelledReservationIsGivenBackEverywhere) {
    run_for(10min - 1s);
    submit(9);
    world.run(3s);
    const ApplicationId second = submit(12);
    world.run(5s);
    ASSERT_EQ(state(second), ApplicationState::kCommitted);
    ASSERT_TRUE(world.node("a").applications->cancel(world.user(), second));
    world.run(5s);
    EXPECT_EQ(state(second), ApplicationState::kCancelled);
    EXPECT_TRUE(world.status(second).releasing.empty());
    for (const char* name : {"a", "b", "c"})
        for (const PartRecord* record : world.node(name).parts->parts())
            EXPECT_EQ(record->status.state, PartState::kRunning);
}

TEST_F(ReservationTest, DryRunTellsARangeForEachZone) {
    run_for(10min - 1s);
    submit(12);
    world.run(3s);
    std::optional<ApplicationPlan> plan;
    world.node("a").applications->dry_run(world.user(), world.request(6), [&](const Result<ApplicationPlan>& made) {
        ASSERT_TRUE(made) << made.error();
        plan = *made;
    });
    world.run(1s);
    ASSERT_TRUE(plan);
    EXPECT_GE(plan->start_in, 9min);
    for (const ZoneVerdict& verdict : plan->zones) {
        if (verdict.ranks == 0) continue;
        ASSERT_TRUE(verdict.start) << verdict.zone;
        EXPECT_LE(verdict.start->from, verdict.start->to);
        EXPECT_GE(verdict.start->to, 9min);
    }
    EXPECT_EQ(world.held(), 12);  // nothing was changed
}

}  // namespace
}  // namespace zbs::test
