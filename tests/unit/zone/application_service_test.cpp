#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/home/application_output.hpp"
#include "services/zone_scheduler/trust/peering_request.hpp"
#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;

struct ApplicationServiceTest : testing::Test {
    FederationWorld world{{4, 4, 4}};

    ApplicationId submit(int ranks) {
        const ApplicationRequest request = world.request(ranks);
        EXPECT_TRUE(world.node("a").applications->submit(world.user(), request));
        return request.id;
    }
    void run_for(Duration runtime, int exit_code = 0) {
        for (const char* zone : {"a", "b", "c"})
            world.node(zone).executor->script("", {.runtime = runtime, .exit_code = exit_code});
    }
    /// Until this one has ended and nothing is held or runs.
    void run_to_the_end(FederationWorld& of, const ApplicationId& id, Duration most) {
        of.run_until(most, [&] { return is_final(of.status(id).state) && of.held() == 0 && of.running_steps() == 0; });
    }
    void expect_nothing_left() {
        EXPECT_EQ(world.held(), 0);
        EXPECT_EQ(world.running_steps(), 0);
    }
};

TEST_F(ApplicationServiceTest, RunsOverThreeZonesToItsEnd) {
    run_for(10s);
    const ApplicationId id = submit(9);
    world.run(2s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kRunning);
    EXPECT_EQ(world.held(), 9);
    world.run(30s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted);
    EXPECT_EQ(world.status(id).exit_code, 0);
    expect_nothing_left();
    std::vector<ApplicationState> seen;
    for (const StateChange& change : world.status(id).history) seen.push_back(change.state);
    using enum ApplicationState;
    EXPECT_EQ(seen, (std::vector{kAccepted, kPlanned, kHeld, kCommitted, kLaunching, kRunning, kCompleted}));
}

TEST_F(ApplicationServiceTest, RanksShareProcessorsWhereEachZoneAllowsIt) {
    run_for(10s);
    world.node("b").config.max_overcommit = 3;
    ApplicationRequest request = world.request(18);
    request.overcommit = 3;
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    const ApplicationId behind = submit(2);
    world.run(2s);
    const ApplicationStatus status = world.status(request.id);
    EXPECT_EQ(status.state, ApplicationState::kRunning) << status.reason;
    int processors = 0;
    for (const ApplicationPart& part : status.parts) {
        EXPECT_EQ(part.overcommit, part.zone == "b" ? 3 : 1) << part.zone;
        EXPECT_EQ(part.ranks.size(), part.status.assignment.size());
        processors += static_cast<int>(processors_in(part.status.assignment).size());
    }
    EXPECT_EQ(processors, 10) << "12 ranks on 4 processors of b, 6 on as many of the others";
    EXPECT_EQ(world.status(behind).state, ApplicationState::kRunning) << "two are left";
    world.run(30s);
    EXPECT_EQ(world.status(request.id).state, ApplicationState::kCompleted);
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, ManyAtOnceAreAcceptedAtOnceAndPlannedByAndBy) {
    std::vector<ApplicationId> ids;
    for (int i = 0; i < 500; ++i) ids.push_back(submit(12));  // all there is: one runs, the others get a reason
    const auto examined_count = [&] {
        return std::count_if(ids.begin(), ids.end(), [&](const ApplicationId& id) {
            const ApplicationStatus status = world.status(id);
            return status.state != ApplicationState::kAccepted || !status.reason.empty();
        });
    };
    world.run(100ms);
    EXPECT_GE(examined_count(), 1);
    world.run(5s);
    EXPECT_EQ(examined_count(), 500);
}

TEST_F(ApplicationServiceTest, SameIdSameAnswerOtherBodyRefused) {
    const ApplicationRequest request = world.request(2);
    ApplicationService& home = *world.node("a").applications;
    ASSERT_TRUE(home.submit(world.user(), request));
    world.run(1s);
    EXPECT_TRUE(home.submit(world.user(), request));
    EXPECT_EQ(home.list(world.user(), {})->size(), 1U);
    ApplicationRequest other = request;
    other.ranks = 3;
    EXPECT_EQ(home.submit(world.user(), other).error().code, ErrorCode::kIdReused);
}

TEST_F(ApplicationServiceTest, TheIdOfAnotherIsAnsweredAsOneThatNobodyUses) {
    const ApplicationRequest used = world.request(2), unused = world.request(2);
    ApplicationService& home = *world.node("a").applications;
    ASSERT_TRUE(home.submit(world.user(), used));
    const Caller bob{CallerKind::kUser, "org-a", "bob"};
    const Error answer = home.submit(bob, used).error();
    EXPECT_EQ(answer.code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(answer.pointer, "/id");
    EXPECT_EQ(answer, home.submit(bob, unused).error());
    EXPECT_TRUE(home.submit(world.user(), unused)) << "the attempt left nothing";
}

TEST_F(ApplicationServiceTest, WhatHasEndedIsAnsweredFromTheStoreAlsoAfterARestart) {
    run_for(5s);
    const ApplicationRequest request = world.request(2);
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    EXPECT_EQ(world.node("a").applications->open_count(), 1U);
    world.run(60s);
    for (const bool restarted : {false, true}) {
        if (restarted) {
            world.crash("a");
            world.restart("a");
        }
        ApplicationService& home = *world.node("a").applications;
        EXPECT_EQ(home.open_count(), 0U) << "nothing of it is kept in memory";
        EXPECT_EQ(home.find(world.user(), request.id).value()->status.state, ApplicationState::kCompleted);
        EXPECT_EQ(home.submit(world.user(), request)->status.state, ApplicationState::kCompleted);
        EXPECT_EQ(home.cancel(world.user(), request.id)->status.state, ApplicationState::kCompleted);
        EXPECT_TRUE(ApplicationOutput(home, *world.node("a").executor).logs(world.user(), request.id)->complete);
        EXPECT_EQ(**home.owner_of(request.id), world.user());
        EXPECT_EQ(home.list(world.user(), {})->at(0).state, ApplicationState::kCompleted);
        ApplicationRequest other = request;
        other.ranks = 3;
        EXPECT_EQ(home.submit(world.user(), other).error().code, ErrorCode::kIdReused);
    }
}

TEST_F(ApplicationServiceTest, AStoreThatCannotBeReadIsNotTakenForAnUnknownId) {
    run_for(1s);
    const ApplicationId id = submit(1);
    world.run(60s);
    world.node("a").store.fault = Error{ErrorCode::kUnavailable, "disk", {}};
    ApplicationService& home = *world.node("a").applications;
    EXPECT_EQ(home.find(world.user(), id).error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(home.owner_of(id).error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(home.submit(world.user(), world.request(1)).error().code, ErrorCode::kUnavailable);
}

TEST_F(ApplicationServiceTest, ManyThatWaitArePlannedInTurns) {
    world.run(1s);
    int asked = 0, most = 0;
    Duration instant{};
    world.on_message = [&](const std::string& from, const std::string&, const char* what) {
        if (from != "a" || std::string(what) != "capacity") return;
        if (std::exchange(instant, world.clock.steady_now()) != world.clock.steady_now()) asked = 0;
        most = std::max(most, ++asked);
    };
    run_for(1s);
    std::vector<ApplicationId> ids;
    for (int i = 0; i < 80; ++i) ids.push_back(submit(1));
    world.run(Duration{0});
    EXPECT_GT(most, 0);
    EXPECT_LE(most, 32 * 3) << "not all at once";
    world.run(3min);
    for (const ApplicationId& id : ids) EXPECT_TRUE(is_final(world.status(id).state)) << "everybody has a turn";
    EXPECT_EQ(world.node("a").applications->open_count(), 0U);
}

TEST_F(ApplicationServiceTest, UnfinishedOnesAreCountedForEachUserAndEndedOnesAreNot) {
    ApplicationService& home = *world.node("a").applications;
    ApplicationId last;
    for (int i = 0; i < limits::kMaxUnfinishedPerUser; ++i) last = submit(1);
    EXPECT_EQ(home.submit(world.user(), world.request(1)).error().code, ErrorCode::kTooManyRequests);
    EXPECT_TRUE(
        home.submit({CallerKind::kUser, "org-a", "bob"}, world.request(1, {CallerKind::kUser, "org-a", "bob"})));
    ASSERT_TRUE(home.cancel(world.user(), last));
    world.run(Duration{0});
    EXPECT_TRUE(home.submit(world.user(), world.request(1)));
    EXPECT_EQ(home.submit(world.user(), world.request(1)).error().code, ErrorCode::kTooManyRequests);
}

TEST_F(ApplicationServiceTest, OthersSeeNothing) {
    const ApplicationId id = submit(1);
    ApplicationService& home = *world.node("a").applications;
    const Caller bob{CallerKind::kUser, "org-a", "bob"};
    EXPECT_EQ(home.find(bob, id).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(home.cancel(bob, id).error().code, ErrorCode::kNotFound);
    EXPECT_TRUE(home.list(bob, {})->empty());
    EXPECT_EQ(home.submit({CallerKind::kUser, "org-b", "eve"}, world.request(1)).error().code, ErrorCode::kDenied);
}

TEST_F(ApplicationServiceTest, AnOperatorSeesWhoseTheyAreAndIsNamedWhereHeCancels) {
    run_for(60s);
    const ApplicationId anas = submit(1);
    ApplicationService& home = *world.node("a").applications;
    const Caller bob{CallerKind::kUser, "org-a", "bob"}, olga{CallerKind::kOperator, "org-a", "olga"};
    ApplicationRequest request = world.request(1, bob);
    request.name = "bob's";
    ASSERT_TRUE(home.submit(bob, request));
    world.run(2s);
    const auto rows = home.list(olga, {.owner = bob});
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->size(), 1U);
    EXPECT_EQ(rows->front().owner, bob);
    EXPECT_EQ(rows->front().name, "bob's");
    EXPECT_TRUE(home.list(world.user(), {.owner = bob})->empty());
    EXPECT_EQ(home.list(olga, {.states = {ApplicationState::kRunning}})->size(), 2U);
    EXPECT_EQ(home.counts(olga)->by_state.at(ApplicationState::kRunning), 2U);
    EXPECT_EQ(home.counts(bob)->by_state.at(ApplicationState::kRunning), 1U);
    ASSERT_TRUE(home.cancel(olga, request.id));
    ASSERT_TRUE(home.cancel(world.user(), anas));
    world.run(10s);
    EXPECT_EQ((*home.find(olga, request.id))->status.reason, "cancelled by the zone's operator 'olga'");
    EXPECT_EQ(world.status(anas).reason, "cancelled by its owner");
    EXPECT_EQ(home.counts(olga)->by_state,
              (std::map<ApplicationState, std::size_t>{{ApplicationState::kCancelled, 2}}));
}

TEST_F(ApplicationServiceTest, ZoneThatDiesWhileHeldIsPlannedAround) {
    run_for(5s);
    world.on_message = [&](const std::string&, const std::string& to, const char* what) {
        if (what == std::string("commit") && to == "b") world.crash("b");
    };
    const ApplicationId id = submit(8);
    world.run(60s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted);
    for (const ApplicationPart& part : world.status(id).parts) EXPECT_NE(part.zone, "b");
    EXPECT_EQ(world.status(id).plan->round, 2);
    EXPECT_EQ(world.status(id).releasing.size(), 1U);  // still owed to b, which is away
    world.on_message = nullptr;
    world.restart("b");
    world.run(60s);
    EXPECT_TRUE(world.status(id).releasing.empty());
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, ZoneThatDiesAndIsNeededIsWaitedFor) {
    run_for(5s);
    const ApplicationId id = submit(12);
    world.on_message = [&](const std::string&, const std::string& to, const char* what) {
        if (what == std::string("commit") && to == "c") world.crash("c");
    };
    world.run(20s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kAccepted);
    EXPECT_NE(world.status(id).reason.find("waiting for processors"), std::string::npos) << world.status(id).reason;
    EXPECT_EQ(world.held(), 0);
    world.on_message = nullptr;
    world.restart("c");
    world.run(60s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted);
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, WhatIsDeniedAndNotOnlyShortOfProcessorsIsTurnedAwayWithinSeconds) {
    for (const char* zone : {"b", "c"})
        ASSERT_TRUE(world.node(zone).peerings->change(
            "org-a", {.verb = PeeringVerb::kSet, .rights = RightsChange{.require_delegation = true}},
            {CallerKind::kOperator, OrganisationName(std::string("org-") + zone), "olga"}));
    const ApplicationId id = submit(12);
    world.run(15s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kRejected);
    EXPECT_THAT(world.status(id).reason, testing::HasSubstr("delegation"));
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, SilenceDoesNotKillWhatRuns) {
    run_for(120s);
    const ApplicationId id = submit(12);
    world.run(3s);
    ASSERT_EQ(world.status(id).state, ApplicationState::kRunning);
    world.cut = {{"a", "b"}, {"b", "a"}};
    world.run(60s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kRunning);
    EXPECT_EQ(world.node("b").executor->running(), 1);
    world.cut.clear();
    world.run(100s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted);
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, WorkOfARevokedOwnerEndsWhetherItRunsOrWaits) {
    const ApplicationRequest runs = world.request(8), waits = world.request(9);
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), runs));
    world.run(std::chrono::seconds{3});
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), waits));
    world.run(std::chrono::seconds{3});
    ASSERT_EQ(world.status(runs.id).state, ApplicationState::kRunning);
    ASSERT_LT(world.status(waits.id).state, ApplicationState::kLaunching);
    world.block("a", world.user());
    world.run(std::chrono::seconds{10});
    for (const ApplicationId& id : {runs.id, waits.id}) {
        EXPECT_EQ(world.status(id).state, ApplicationState::kCancelled);
        EXPECT_THAT(world.status(id).reason, testing::HasSubstr("revoked or blocked"));
    }
    EXPECT_EQ(world.running_steps(), 0);
    EXPECT_EQ(world.held(), 0);
}

TEST_F(ApplicationServiceTest, RefusedLaunchThatCannotBeStoredIsNotTriedAgainForTheSamePart) {
    run_for(60s);
    world.node("b").executor->script("run-", {.refusal = "no fork left"});
    const ApplicationId id = submit(12);
    int launches = 0;
    world.on_message = [&](const std::string&, const std::string& to, const char* what) {
        if (to == "b" && what == std::string("launch")) ++launches;
    };
    // The answer of zone c is on its way for longer than home waits before it looks again.
    world.answer_delay = [](const std::string& from, const std::string& what) {
        return from == "c" && what == "launch" ? Duration{4s} : Duration{0};
    };
    bool is_bent = false;
    world.bend = [&](const std::string& from, const std::string& what, Result<PartStatus>&) {
        if (from != "b" || what != "launch" || std::exchange(is_bent, true)) return;
        world.node("b").executor->script("run-", {.runtime = 60s});  // a second try would work
        world.node("a").store.fault = Error{ErrorCode::kUnavailable, "disk is full", {}};
        world.clock.after(2500ms, [&] { world.node("a").store.fault.reset(); });
    };
    world.run(3min);
    EXPECT_EQ(launches, 2) << "once for each of two parts";
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted) << world.status(id).reason;
    int running = 0;
    for (const StateChange& change : world.status(id).history) running += change.state == ApplicationState::kRunning;
    EXPECT_EQ(running, 1);
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, LauncherThatIsNotToldOfTheEndIsStoppedAfterAMinute) {
    run_for(5s);
    world.node("a").executor->script("mpi-", {});  // runs until it is stopped
    const ApplicationId id = submit(9);
    world.run(50s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kRunning) << "it may still be reported";
    world.run(30s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kFailed);
    EXPECT_NE(world.status(id).reason.find("connection to the MPI launcher was lost"), std::string::npos);
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, WhoseRanksWriteMoreThanTheZoneKeepsIsStopped) {
    run_for(60s);
    FederationWorld::Node& home = world.node("a");
    home.config.max_output_bytes = 3'000'000;
    home.executor->script(
        "mpi-", {.runtime = 60s,
                 .files = {{".zbs-out.0", std::string(1'600'000, 'x')}, {".zbs-err.2", std::string(1'400'001, 'x')}}});
    const ApplicationId id = submit(9);
    world.run(10s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kFailed);
    EXPECT_EQ(world.status(id).reason.find("its ranks have written more than the 2 MiB"), 0U)
        << world.status(id).reason;
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, LauncherOfOneZoneKeepsTheApplicationAtHome) {
    ApplicationRequest request = world.request(4);
    request.launcher = Launcher::kOpenMpi;
    request.zones = {"b", "c"};
    EXPECT_EQ(world.node("a").applications->submit(world.user(), request).error().pointer, "/zones");
    request.zones = {};
    request.launcher = Launcher::kSrunPmi2;
    EXPECT_EQ(world.node("a").applications->submit(world.user(), request).error().pointer, "/launcher")
        << "no Slurm here";
    request.launcher = Launcher::kOpenMpi;
    request.ranks = 12;  // more than home has
    request.model.reset();
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(40s);
    EXPECT_EQ(world.status(request.id).state, ApplicationState::kRejected);
}

TEST_F(ApplicationServiceTest, NameThatNoZoneHasIsRefusedAtSubmission) {
    world.run(10s);  // the zones know each other
    world.crash("c");
    world.run(5min);
    ApplicationService& home = *world.node("a").applications;
    ApplicationRequest request = world.request(2);
    request.zones = {"a", "c"};
    EXPECT_TRUE(home.submit(world.user(), request)) << "zone c is away, and known";
    request = world.request(2);
    request.zones = {"a", "remote-zone"};
    const Error refused = home.submit(world.user(), request).error();
    EXPECT_EQ(refused, invalid("zone 'remote-zone' is not known here; known are a, b, c", "/zones/1"));
    EXPECT_FALSE(home.find(world.user(), request.id)) << "nothing was accepted";
    std::optional<Error> planned;
    home.dry_run(world.user(), request, [&](const Result<ApplicationPlan>& plan) {
        if (!plan) planned = plan.error();
    });
    EXPECT_EQ(planned, refused);
    world.has_registry = false;
    world.crash("a");
    world.node("a").config.registry.url = "https://registry";
    world.restart("a");
    request = world.request(2);
    request.zones = {"a", "remote-zone"};
    EXPECT_TRUE(world.node("a").applications->submit(world.user(), request)) << "no registry has listed the zones yet";
}

TEST_F(ApplicationServiceTest, ZoneThatCannotStartStopsAll) {
    world.node("c").executor->script("run-", {.refusal = "cannot run the proxy"});
    const ApplicationId id = submit(12);
    world.run(5min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kFailed);
    EXPECT_EQ(world.status(id).exit_code, 1);
    EXPECT_NE(world.status(id).reason.find("zone c"), std::string::npos) << world.status(id).reason;
    EXPECT_EQ(world.status(id).reason.find("cannot run the proxy"), std::string::npos)
        << "what is inside another organisation's zone is its own business";
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, TheExitCodeOfACancelIsThatOfItsSignal) {
    run_for(1h);
    const ApplicationId id = submit(9);
    world.run(2s);
    ASSERT_EQ(world.status(id).state, ApplicationState::kRunning);
    ASSERT_TRUE(world.node("a").applications->cancel(world.user(), id));
    world.run(20s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCancelled);
    EXPECT_EQ(world.status(id).exit_code, 143) << "and not what the launcher makes of it";
}

TEST_F(ApplicationServiceTest, ACancelDuringTheGraceOfTheWalltimeLeavesItAsTheReason) {
    run_for(30s);
    for (const char* zone : {"a", "b", "c"})
        world.node(zone).executor->script("run-", {.runtime = 30s,
                                                   .exit_code = 143,
                                                   .reason = "walltime of 20 s reached",
                                                   .overruns = true,
                                                   .stop_takes = 20s});
    ApplicationRequest request = world.request(12);
    request.walltime = 20s;
    request.grace = 30s;
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(25s);
    ASSERT_EQ(world.status(request.id).state, ApplicationState::kRunning);
    ASSERT_TRUE(world.node("a").applications->cancel(world.user(), request.id));
    world.run(30s);
    EXPECT_EQ(world.status(request.id).state, ApplicationState::kFailed);
    EXPECT_THAT(world.status(request.id).reason, testing::StartsWith("walltime of 20 s reached in zone "));
    EXPECT_EQ(world.status(request.id).exit_code, 143);
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, AZoneThatWasAwayAtACancelStopsItsRanksWhenItIsBack) {
    run_for(1h);
    ApplicationRequest request = world.request(9);
    request.grace = 60s;
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(2s);
    world.crash("c");
    ASSERT_TRUE(world.node("a").applications->cancel(world.user(), request.id));
    world.run(3s);
    EXPECT_EQ(world.status(request.id).state, ApplicationState::kRunning) << "the launcher would end the ranks of c";
    world.restart("c");
    world.run(20s);
    EXPECT_EQ(world.status(request.id).state, ApplicationState::kCancelled) << "before its grace is over";
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, CancelAtEveryMomentLeavesNothing) {
    for (int ms = 0; ms < 400; ms += 3) {
        SCOPED_TRACE(ms);
        const ApplicationId id = submit(10);
        world.run(Duration{ms * 1'000});
        ASSERT_TRUE(world.node("a").applications->cancel(world.user(), id));
        run_to_the_end(world, id, 10s);
        EXPECT_EQ(world.status(id).state, ApplicationState::kCancelled);
        expect_nothing_left();
    }
    world.run(90s);
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, HomeCrashAtEveryMomentEndsWellAndRunsOnce) {
    run_for(3s);
    for (int ms = 0; ms < 400; ms += 3) {
        SCOPED_TRACE(ms);
        const ApplicationId id = submit(10);
        world.run(Duration{ms * 1'000});
        world.crash("a");
        world.run(1s);
        world.restart("a");
        run_to_the_end(world, id, 90s);
        EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted) << world.status(id).reason;
        expect_nothing_left();
    }
    world.run(90s);
    expect_nothing_left();
    int launchers = 0;
    for (const auto& [step_id, step] : world.node("a").executor->steps())
        launchers += step_id.str().starts_with("mpi-");
    EXPECT_EQ(launchers, 134);  // one for each application, never two
}

TEST_F(ApplicationServiceTest, CancelThenCrashAtEveryMomentLeavesNothing) {
    for (int ms = 0; ms < 400; ms += 3) {
        SCOPED_TRACE(ms);
        const ApplicationId id = submit(10);
        world.run(Duration{ms * 1'000});
        ASSERT_TRUE(world.node("a").applications->cancel(world.user(), id));
        world.run(Duration{ms % 7 * 1'000});
        world.crash("a");
        world.run(1s);
        world.restart("a");
        run_to_the_end(world, id, 90s);
        EXPECT_EQ(world.status(id).state, ApplicationState::kCancelled) << world.status(id).reason;
        expect_nothing_left();
    }
    world.run(90s);
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, FaultOfTheStoreAtEveryMomentEndsWell) {
    run_for(3s);
    for (int ms = 0; ms < 4'000; ms += 23) {
        SCOPED_TRACE(ms);
        const ApplicationId id = submit(10);
        world.run(Duration{ms * 1'000});
        world.node("a").store.fault = Error{ErrorCode::kUnavailable, "disk full", {}};
        world.run(300ms);
        world.node("a").store.fault.reset();
        run_to_the_end(world, id, 90s);
        const ApplicationStatus status = world.status(id);
        EXPECT_EQ(status.state, ApplicationState::kCompleted) << status.reason;
        std::size_t ranks = 0;
        for (const ApplicationPart& part : status.parts) ranks += part.ranks.size();
        EXPECT_EQ(ranks, 10U);
        expect_nothing_left();
    }
    world.run(90s);
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, StrangerThatWaitsTakesNoName) {
    FederationWorld::Node& b = world.node("b");
    const Caller self{CallerKind::kZone, "org-b", "b"};
    const FakeKeys keys({CallerKind::kZone, "org-x", "z"}, "BUNDLE org-x");
    const auto asked = make_peering_request({.zone = "z", .organisation = "org-x", .url = "http://127.0.0.1:1"}, self,
                                            world.clock.now(), keys, b.trust);
    ASSERT_TRUE(asked) << asked.error();
    const auto answer = b.peerings->request({}, *asked);
    ASSERT_TRUE(answer) << answer.error();
    EXPECT_EQ(answer->state, PeeringState::kRequested);
    for (const Peer& peer : b.peers->peers()) EXPECT_NE(peer.zone, "z");
    EXPECT_EQ(b.peerings->request({CallerKind::kZone, "org-a", "b"}, {"b", "org-a", "http://127.0.0.1:1"}).error().code,
              ErrorCode::kConflict);
}

TEST_F(ApplicationServiceTest, NoOutcomeOfLostMessagesHoldsForEver) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        FederationWorld rough{{4, 4, 4}};
        rough.rng = Rng(seed);
        rough.loss = 0.15;
        for (const char* zone : {"a", "b", "c"}) rough.node(zone).executor->script("", {.runtime = 5s});
        const ApplicationRequest request = rough.request(10);
        ASSERT_TRUE(rough.node("a").applications->submit(rough.user(), request));
        rough.run_until(600s, [&] { return is_final(rough.status(request.id).state); });
        rough.loss = 0;  // one that needs all three zones may be planned again as long as messages are lost
        run_to_the_end(rough, request.id, 120s);
        const ApplicationStatus status = rough.status(request.id);
        EXPECT_TRUE(is_final(status.state)) << to_string(status.state) << ": " << status.reason;
        EXPECT_EQ(rough.held(), 0);
        EXPECT_EQ(rough.running_steps(), 0);
    }
}

TEST_F(ApplicationServiceTest, TwoHomesThatTakeFromEachOtherBothEnd) {
    for (const char* zone : {"a", "b", "c"})
        world.node(zone).peerings->set_rules({FederationWorld::accept_all({"org-a", "org-b"})});
    world.run(40s);  // b is accepted by now
    run_for(5s);
    const ApplicationId first = submit(12);
    const Caller bob{CallerKind::kUser, "org-b", "bob"};
    const ApplicationRequest request = world.request(12, bob);
    ASSERT_TRUE(world.node("b").applications->submit(bob, request));
    world.run(120s);
    EXPECT_EQ(world.status(first).state, ApplicationState::kCompleted) << world.status(first).reason;
    const auto second = world.node("b").applications->find(bob, request.id);
    ASSERT_TRUE(second);
    EXPECT_EQ((*second)->status.state, ApplicationState::kCompleted) << (*second)->status.reason;
    expect_nothing_left();
}

TEST_F(ApplicationServiceTest, TooLargeForAllZonesIsRejectedWithBothNumbers) {
    const ApplicationId id = submit(13);
    world.run(2s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kRejected);
    EXPECT_NE(world.status(id).reason.find("13"), std::string::npos);
    EXPECT_NE(world.status(id).reason.find("12"), std::string::npos);
}

TEST_F(ApplicationServiceTest, PreloadsInAllZonesOrInNone) {
    for (const char* zone : {"a", "b"}) world.node(zone).config.profiler = "/lib/profiler.so";
    const auto with = [&](const char* zone, const std::pair<std::string, std::string>& variable) {
        int n = 0;
        for (const auto& [step_id, step] : world.node(zone).executor->steps())
            n += static_cast<int>(std::ranges::count(step.spec.environment, variable));
        return n;
    };
    const auto preloaded = [&](const char* zone) { return with(zone, {"LD_PRELOAD", "/lib/profiler.so"}); };
    run_for(2s);
    submit(12);  // over a, b and c: c has no profiler
    world.run(30s);
    EXPECT_EQ(preloaded("a") + preloaded("b") + preloaded("c"), 0);
    submit(8);
    world.run(30s);
    const int profiled = preloaded("a");
    EXPECT_GT(profiled, 0);
    EXPECT_EQ(with("a", {"ZBS_PROFILE", "0"}), 0);
    // Without a profile the library still makes MPI_Finalize safe.
    ApplicationRequest request = world.request(8);
    request.profile = false;
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(30s);
    EXPECT_GT(preloaded("a"), profiled);
    EXPECT_EQ(with("a", {"ZBS_PROFILE", "0"}), preloaded("a") - profiled);
}

TEST_F(ApplicationServiceTest, PreloadsUnderTheLauncherOfOpenMpiAndRecordsNothing) {
    auto& home = world.node("a");
    home.config.profiler = "/lib/profiler.so";
    home.executor->script("mpi-",
                          {.runtime = 20s, .files = {{"daemons", "ZBS_DAEMON zbs0 orted -mca ess_base_vpid 1\n"}}});
    ApplicationRequest request = world.request(1);
    request.launcher = Launcher::kOpenMpi;
    ASSERT_TRUE(home.applications->submit(world.user(), request));
    world.run(10s);
    ASSERT_EQ(world.status(request.id).state, ApplicationState::kRunning) << world.status(request.id).reason;
    int daemons = 0;
    for (const auto& [step_id, step] : home.executor->steps()) {
        if (step.spec.argv[0] != home.config.orted) continue;
        ++daemons;
        EXPECT_THAT(step.spec.environment, testing::IsSupersetOf({testing::Pair("LD_PRELOAD", "/lib/profiler.so"),
                                                                  testing::Pair("ZBS_RANK_PRELOAD", "/lib/profiler.so"),
                                                                  testing::Pair("ZBS_RANK_MACHINE", "a.m0"),
                                                                  testing::Pair("ZBS_PROFILE", "0")}));
    }
    EXPECT_EQ(daemons, 1);
}

TEST_F(ApplicationServiceTest, DryRunChangesNothing) {
    std::optional<ApplicationPlan> plan;
    const int writes = world.node("a").store.writes + world.node("b").store.writes;
    world.node("a").applications->dry_run(world.user(), world.request(10),
                                          [&](const Result<ApplicationPlan>& made) { plan = *made; });
    world.run(2s);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->zone_of_rank.size(), 10U);
    EXPECT_EQ(world.node("a").store.writes + world.node("b").store.writes, writes);
    EXPECT_EQ(world.held(), 0);
}

}  // namespace
}  // namespace zbs::test
