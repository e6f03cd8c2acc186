// A zone that commits and does not start its part: no rank begins before all have, so the application goes elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/zone_scheduler/home/zone_backoff.hpp"
#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct LaunchFaultsTest : testing::Test {
    FederationWorld world{{4, 4, 4}};
    std::map<std::string, int> launches;  ///< calls, by zone

    LaunchFaultsTest() {
        for (const char* zone : {"a", "b", "c"}) world.node(zone).executor->script("", {.runtime = 20s});
        world.on_message = [this](const std::string&, const std::string& to, const char* what) {
            if (what == std::string("launch")) ++launches[to];
        };
    }
    ApplicationId submit(int ranks, std::vector<ZoneName> zones = {}) {
        ApplicationRequest request = world.request(ranks);
        request.zones = std::move(zones);
        EXPECT_TRUE(world.node("a").applications->submit(world.user(), request));
        return request.id;
    }
    /// Zone c answers each launch so, and has started nothing.
    void swallow(const Result<PartStatus>& answer) {
        world.node("c").executor->script("run-", {.refusal = "no"});
        world.bend = [answer](const std::string& from, const std::string& what, Result<PartStatus>& given) {
            if (from != "c" || (what != "launch" && what != "status")) return;
            if (!answer || what == "launch" || (given && given->state == PartState::kFailed)) {
                const PartId id = given ? given->id : PartId{};
                if (what == "launch" || answer) given = answer;
                if (given) given->id = id;
            }
        };
    }
    int times_in(const ApplicationId& id, ApplicationState state) {
        int times = 0;
        for (const StateChange& change : world.status(id).history) times += change.state == state;
        return times;
    }
    void expect_all_well(const std::vector<ApplicationId>& ids) {
        for (const ApplicationId& id : ids) {
            const ApplicationStatus status = world.status(id);
            EXPECT_EQ(status.state, ApplicationState::kCompleted) << status.reason;
            for (const ApplicationPart& part : status.parts) EXPECT_NE(part.zone, "c");
            EXPECT_EQ(times_in(id, ApplicationState::kRunning), 1);
        }
        EXPECT_EQ(world.held(), 0);
        EXPECT_EQ(world.running_steps(), 0);
    }
};

TEST_F(LaunchFaultsTest, AZoneThatDeniesEachHoldCostsNoJobWhileTheOthersAreBusy) {
    world.bend = [](const std::string& from, const std::string& what, Result<PartStatus>& given) {
        if (from == "c" && what == "hold") given = Error{ErrorCode::kDenied, "not you", {}};
    };
    std::vector<ApplicationId> ids;
    for (int i = 0; i < 12; ++i) ids.push_back(submit(4));
    world.run(20min);
    expect_all_well(ids);
}

TEST_F(LaunchFaultsTest, TenJobsThroughABlackHoleEndWell) {
    swallow(Error{ErrorCode::kNotFound, "no such part", {}});
    std::vector<ApplicationId> ids;
    for (int i = 0; i < 10; ++i) ids.push_back(submit(6));
    world.run(10min);
    expect_all_well(ids);
    EXPECT_LT(launches["c"], 10) << "it is left out for longer and longer, by all";
    EXPECT_GE(launches["c"], 1);
}

TEST_F(LaunchFaultsTest, AfterALauncherThatIsSilentTheApplicationIsPlannedAgain) {
    bool& is_silent = world.node("a").executor->is_launcher_silent = true;
    const ApplicationId id = submit(6);
    world.run(9s);
    is_silent = false;
    world.run(2min);
    expect_all_well({id});
    EXPECT_EQ(times_in(id, ApplicationState::kLaunching), 2);
}

TEST_F(LaunchFaultsTest, ALauncherThatIsAlwaysSilentEndsTheApplication) {
    world.node("a").executor->is_launcher_silent = true;
    const ApplicationId id = submit(6);
    world.run(2min);
    const ApplicationStatus status = world.status(id);
    EXPECT_EQ(status.state, ApplicationState::kFailed);
    EXPECT_EQ(status.reason, "the MPI launcher did not ask for its proxies in 10 s, 3 times");
    EXPECT_EQ(times_in(id, ApplicationState::kLaunching), 3);
    EXPECT_EQ(world.held(), 0);
    EXPECT_EQ(world.running_steps(), 0);
}

TEST_F(LaunchFaultsTest, AZoneThatSaysRunningAndStartsNothingIsFoundAndLeftOut) {
    PartStatus running{.zone = "c"};
    running.state = PartState::kRunning;
    swallow(running);
    world.node("a").executor->script("mpi-", {.runtime = 60s});
    const ApplicationId beside = submit(4, {"b"}), id = submit(6);
    world.run(20s);
    ASSERT_EQ(world.status(id).state, ApplicationState::kLaunching) << "no rank has begun";
    EXPECT_EQ(launches["c"], 1);
    world.run(11s);
    const ApplicationId later = submit(8);
    world.run(10min);
    expect_all_well({beside, id, later});
    std::string reasons;
    for (const ApplicationEvent& event : world.status(later).events) reasons += event.answer + "\n";
    EXPECT_THAT(reasons, HasSubstr("did not start the last part that it had committed"));
    EXPECT_EQ(launches["c"], 1);
}

/// Zone d says that its parts run, and starts none. Nobody sees which zone of three it is.
TEST_F(LaunchFaultsTest, AZoneThatHidesBehindHonestOnesFailsNoJob) {
    FederationWorld four{{1, 2, 2, 3}, {"org-*"}};
    // Longer than a launch waits for proxies.
    for (const char* zone : {"a", "b", "c"}) four.node(zone).executor->script("", {.runtime = 40s});
    four.node("d").executor->script("run-", {.refusal = "no"});
    int lies = 0;
    four.bend = [&](const std::string& from, const std::string& what, Result<PartStatus>& given) {
        if (from != "d" || (what != "launch" && what != "status") || !given) return;
        if (what == "launch" || given->state == PartState::kFailed) given->state = PartState::kRunning, ++lies;
    };
    std::vector<ApplicationId> ids;
    for (int i = 0; i < 3; ++i) {
        const ApplicationRequest request = four.request(5);
        ASSERT_TRUE(four.node("a").applications->submit(four.user(), request));
        ids.push_back(request.id);
    }
    four.run(30min);
    EXPECT_GE(lies, 1);
    for (const ApplicationId& id : ids) {
        EXPECT_EQ(four.status(id).state, ApplicationState::kCompleted) << four.status(id).reason;
        for (const ApplicationPart& part : four.status(id).parts) EXPECT_NE(part.zone, "d");
    }
    EXPECT_EQ(four.held(), 0);
}

TEST_F(LaunchFaultsTest, WhereNoOtherZoneHasRoomItFailsAfterSomeTriesWithTheZone) {
    swallow(Error{ErrorCode::kInvalidArgument, "the proxy here knows no option --new", "/options"});
    const ApplicationId id = submit(12);
    world.run(1s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kAccepted) << "it waits for the zone to be tried again";
    world.run(10min);
    const ApplicationStatus status = world.status(id);
    EXPECT_EQ(status.state, ApplicationState::kFailed);
    EXPECT_THAT(status.reason, HasSubstr("zone c did not start its part: the proxy here knows no option --new"));
    EXPECT_EQ(times_in(id, ApplicationState::kLaunching), 3);
    EXPECT_EQ(times_in(id, ApplicationState::kRunning), 0);
    EXPECT_TRUE(status.releasing.empty());
    EXPECT_EQ(world.held(), 0);
    EXPECT_EQ(world.running_steps(), 0);
}

TEST_F(LaunchFaultsTest, AZoneThatIsAwayForMostOfTheLaunchWindowDelaysTheStartAndNoMore) {
    bool was_away = false;
    world.on_message = [&](const std::string&, const std::string& to, const char* what) {
        if (to != "c" || what != std::string("launch") || std::exchange(was_away, true)) return;
        world.crash("c");
        world.clock.after(15s, [&] { world.restart("c"); });
    };
    const ApplicationId id = submit(12);
    world.run(90s);
    EXPECT_TRUE(was_away);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted) << world.status(id).reason;
    EXPECT_EQ(times_in(id, ApplicationState::kLaunching), 1) << "the same plan";
}

TEST_F(LaunchFaultsTest, AHomeThatRestartsWhileItGivesALaunchUpPlansAgain) {
    swallow(Error{ErrorCode::kNotFound, "no such part", {}});
    world.node("a").executor->script("mpi-", {.runtime = 20s, .stop_takes = 5s});
    bool is_down = false;
    world.on_message = [&](const std::string&, const std::string& to, const char* what) {
        if (to != "c" || what != std::string("launch") || std::exchange(is_down, true)) return;
        world.clock.after(500ms, [&] {
            world.crash("a");
            world.clock.after(2s, [&] { world.restart("a"); });
        });
    };
    submit(4, {"b"});
    const ApplicationId id = submit(6);
    world.run(3min);
    EXPECT_TRUE(is_down);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted) << world.status(id).reason;
    EXPECT_EQ(times_in(id, ApplicationState::kRunning), 1);
    EXPECT_EQ(world.running_steps(), 0);
}

TEST_F(LaunchFaultsTest, ACancelWhileProxiesAreAwaitedLeavesNothing) {
    PartStatus running{.zone = "c"};
    running.state = PartState::kRunning;
    swallow(running);
    const ApplicationId id = submit(12);
    world.run(5s);
    ASSERT_EQ(world.status(id).state, ApplicationState::kLaunching);
    EXPECT_TRUE(world.node("a").applications->cancel(world.user(), id));
    world.run(60s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCancelled);
    EXPECT_EQ(world.held(), 0);
    EXPECT_EQ(world.running_steps(), 0);
}

TEST(ZoneBackoff, DoublesWithFailuresInARowAndIsClearedByASuccess) {
    ZoneBackoff backoff;
    EXPECT_FALSE(backoff.left("z", 0s));
    backoff.record_failure("z", 0s);
    EXPECT_EQ(backoff.left("z", 0s), Duration{2s});
    backoff.record_failure("z", 1s);  // planned before it was left out
    EXPECT_EQ(backoff.left("z", 1s), Duration{1s});
    EXPECT_FALSE(backoff.left("z", 2s));
    backoff.record_failure("z", 2s);
    EXPECT_EQ(backoff.left("z", 2s), Duration{4s});
    EXPECT_EQ(backoff.failures("z"), 2);
    Duration now = 6s;
    for (int i = 0; i < 80; ++i) {
        backoff.record_failure("z", now);
        now += *backoff.left("z", now);
    }
    backoff.record_failure("z", now);
    EXPECT_EQ(backoff.left("z", now), Duration{30min});
    EXPECT_FALSE(backoff.left("y", now));
    backoff.record_success("z");
    EXPECT_FALSE(backoff.left("z", now));
    EXPECT_EQ(backoff.failures("z"), 0);
}

}  // namespace
}  // namespace zbs::test
