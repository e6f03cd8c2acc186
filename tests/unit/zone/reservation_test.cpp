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
        PartRequest r{.id = PartId{world.ids.fresh(home)},
                      .application = ApplicationId{world.ids.fresh(world.user())},
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
    // A promise can be kept.
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
    EXPECT_EQ(zone().table().free_processors(), 4);
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
    too_many.id = PartId{world.ids.fresh(home)};
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
    world.look_rarely();
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

/// An application of 9 ranks has its processors for 10 minutes; a second one waits for what it leaves.
struct ReservedStartTest : ReservationTest {
    ApplicationId first, second;

    /// `runtime` is of the first, with a walltime of 10 minutes.
    void fill(Duration runtime, bool overruns = false) {
        world.look_rarely();
        run_for(runtime, overruns);
        first = submit(9);
        world.run(3s);
    }
    void submit_second(int ranks) {
        second = submit(ranks);
        world.run(5s);
    }
    void expect_reserved() {
        ASSERT_EQ(state(second), ApplicationState::kCommitted);
        ASSERT_TRUE(world.status(second).start);
    }
    void drain(const std::string& name, bool on = true) {
        world.node(name).drains = [on] { return on; };
        world.node(name).standing = on ? ZoneStanding::kDrain : ZoneStanding::kActive;
    }
    void undrain(const std::string& name) { drain(name, false); }
    Time start() { return world.status(second).start.value(); }
    void expect_started_on_time(Time promised) {
        ASSERT_GE(state(second), ApplicationState::kRunning);
        EXPECT_LE(at(second, ApplicationState::kRunning) - promised, 2s);
    }
    /// Zones with a failed step of this kind, in words that contain `words`.
    std::set<std::string> refusals(const std::string& what, const std::string& words = {}) {
        std::set<std::string> zones;
        for (const ApplicationEvent& event : world.status(second).events)
            if (event.what == what && !event.ok && event.answer.find(words) != std::string::npos)
                zones.insert(event.zone);
        return zones;
    }
    bool uses(const std::string& zone) {
        const std::vector<ApplicationPart> parts = world.status(second).parts;
        return std::any_of(parts.begin(), parts.end(), [&](const auto& part) { return part.zone == zone; });
    }
};

TEST_F(ReservedStartTest, NotAllFreeNowReservesACommonStartAndTakesAnEarlierOne) {
    fill(5min);
    submit_second(9);
    expect_reserved();
    EXPECT_GE(start() - at(first, ApplicationState::kRunning), 10min);
    world.run(5min + 5s);  // the first ends after half of its walltime
    ASSERT_EQ(state(first), ApplicationState::kCompleted);
    EXPECT_EQ(state(second), ApplicationState::kRunning);
    world.run(6min);
    EXPECT_EQ(state(second), ApplicationState::kCompleted);
    EXPECT_EQ(world.held(), 0);
}

TEST_F(ReservedStartTest, WhereNothingEndsEarlyItStartsAtTheReservedTime) {
    fill(10min - 1s);
    submit_second(9);
    const Time promised = start();
    world.run(11min);
    expect_started_on_time(promised);
}

TEST_F(ReservedStartTest, ShortOnesFillTheGapLongOnesWait) {
    fill(10min - 1s);
    submit_second(12);
    const Time promised = start();
    run_for(1min);
    const ApplicationId little = submit(3, 2min), lengthy = submit(3, 30min);
    world.run(5s);
    EXPECT_EQ(state(little), ApplicationState::kRunning);
    EXPECT_LT(state(lengthy), ApplicationState::kLaunching);
    world.run(11min);
    expect_started_on_time(promised);
}

TEST_F(ReservedStartTest, StartThatSlipsIsPlannedAgain) {
    fill(15min, true);  // the first does not end at its walltime of 10 minutes
    run_for(1min);
    submit_second(9);
    world.run(12min);
    EXPECT_LT(state(second), ApplicationState::kLaunching);
    EXPECT_FALSE(refusals("ready").empty());
    world.run(6min);
    EXPECT_EQ(state(second), ApplicationState::kCompleted) << world.status(second).reason;
    EXPECT_EQ(world.held(), 0);
}

TEST_F(ReservedStartTest, ZoneThatVanishesBeforeTheStartIsPlannedAround) {
    run_for(5min);
    submit(4);
    submit(4);
    world.run(3s);
    run_for(1min);
    submit_second(8);
    expect_reserved();
    const std::string lost = uses("b") ? "b" : "c";
    world.crash(lost);
    world.run(20min);
    EXPECT_EQ(state(second), ApplicationState::kCompleted) << world.status(second).reason;
    EXPECT_FALSE(uses(lost));
}

TEST_F(ReservedStartTest, ReasonNamesTheZoneThatDrainsAndAnEarlierStartWaitsForIt) {
    run_for(5min);
    submit(12);
    world.run(3s);
    submit_second(12);
    drain("b");
    world.run(6min);  // the first has ended after half of its walltime
    expect_reserved();
    EXPECT_THAT(world.status(second).reason, testing::HasSubstr("zone b drains"));
    undrain("b");
    world.run(10s);
    EXPECT_EQ(state(second), ApplicationState::kRunning) << world.status(second).reason;
}

TEST_F(ReservedStartTest, ZoneThatDrainsKeepsTheStartThatItPromised) {
    fill(10min - 1s);
    submit_second(12);
    const Time promised = start();
    drain("b");
    world.run(11min);
    expect_started_on_time(promised);
}

TEST_F(ReservedStartTest, ZoneThatDrainsIsPlannedAroundWhereOthersHaveProcessors) {
    run_for(5min);
    submit(12);
    world.run(3s);
    submit_second(4);
    expect_reserved();
    const std::string drained = world.status(second).parts.at(0).zone;
    drain(drained);
    world.run(6min);
    EXPECT_EQ(state(second), ApplicationState::kRunning) << world.status(second).reason;
    EXPECT_FALSE(uses(drained));
}

TEST_F(ReservedStartTest, HomeThatRestartsKeepsTheStart) {
    fill(10min - 1s);
    submit_second(9);
    const Time promised = start();
    world.crash("a");
    world.run(1min);
    world.restart("a");
    world.run(2s);
    EXPECT_EQ(start(), promised);
    world.run(11min);
    expect_started_on_time(promised);
}

TEST_F(ReservedStartTest, CancelledReservationIsGivenBackEverywhere) {
    fill(10min - 1s);
    submit_second(12);
    expect_reserved();
    ASSERT_TRUE(world.node("a").applications->cancel(world.user(), second));
    world.run(5s);
    EXPECT_EQ(state(second), ApplicationState::kCancelled);
    EXPECT_TRUE(world.status(second).releasing.empty());
    for (const char* name : {"a", "b", "c"})
        for (const PartRecord* record : world.node(name).parts->table().records())
            EXPECT_EQ(record->status.state, PartState::kRunning);
}

struct SlowHold {
    Duration launch_window;
    bool is_taken;
};
/// Zone b takes 4 s to answer; home waits at the start for a third of its launch window.
class SlowHoldTest : public ReservedStartTest, public testing::WithParamInterface<SlowHold> {};
INSTANTIATE_TEST_SUITE_P(, SlowHoldTest, testing::Values(SlowHold{30s, true}, SlowHold{6s, false}));

TEST_P(SlowHoldTest, IsTakenWhereTheLaunchCanWaitAsLong) {
    world.node("a").config.launch_window = GetParam().launch_window;
    fill(5min);
    world.answer_delay = [](const std::string& from, const std::string& call) {
        return from == "b" && call == "hold" ? Duration{4s} : Duration{0};
    };
    submit_second(12);  // not without b
    EXPECT_EQ(state(second) == ApplicationState::kCommitted, GetParam().is_taken);
    EXPECT_EQ(refusals("hold", "not known well enough").empty(), GetParam().is_taken);
}

/// By how much the start that zone b promises is beside the common one.
class BesideTheStart : public ReservedStartTest, public testing::WithParamInterface<Duration> {};
INSTANTIATE_TEST_SUITE_P(, BesideTheStart, testing::Values(3s, -3s, 9s, -9s));

TEST_P(BesideTheStart, IsAnotherStartAndTheZoneIsPlannedAround) {
    fill(5min);
    world.bend = [](const std::string& from, const std::string& call, Result<PartStatus>& answer) {
        if (from == "b" && call == "hold" && answer && answer->starts_in > 0s) answer->starts_in += GetParam();
    };
    submit_second(8);
    EXPECT_EQ(refusals("hold", "another start"), std::set<std::string>{"b"});
    EXPECT_FALSE(uses("b"));
    world.run(20min);
    EXPECT_EQ(state(second), ApplicationState::kCompleted) << world.status(second).reason;
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
