#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Zones a (home) and b with four processors each, and an application that needs both.
struct MaintenanceTest : testing::Test {
    FederationWorld world{{4, 4}};
    bool drains = false;  ///< the zone that a test names

    void SetUp() override {
        for (const char* zone : {"a", "b"}) world.node(zone).executor->script("", {.runtime = 5s});
        world.run(1min);  // the zones know each other
    }
    void drain(const std::string& zone) {
        drains = true;
        world.node(zone).drains = [this] { return drains; };
    }
    ApplicationId submit(int ranks) {
        const ApplicationRequest request = world.request(ranks);
        EXPECT_TRUE(world.node("a").applications->submit(world.user(), request));
        return request.id;
    }
    /// The application waits for ten minutes, and runs once the maintenance is over.
    void expect_waits(const std::string& reason, const std::function<void()>& end_maintenance) {
        const ApplicationId id = submit(6);
        world.run(10min);
        EXPECT_EQ(world.status(id).state, ApplicationState::kAccepted);
        EXPECT_THAT(world.status(id).reason, HasSubstr(reason));
        end_maintenance();
        world.run(2min);
        EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted) << world.status(id).reason;
        EXPECT_EQ(world.held(), 0);
    }
    void change_peering(PeeringVerb verb) {
        ASSERT_TRUE(world.node("b").peerings->change("org-a", {.verb = verb},
                                                     Caller{CallerKind::kOperator, "org-b", "operator"}));
    }
};

TEST_F(MaintenanceTest, AnApplicationWaitsForAPeerThatDrains) {
    drain("b");
    world.node("b").standing = ZoneStanding::kDrain;
    world.run(1min);
    expect_waits("4 of 6 are free; b: drains", [this] {
        drains = false;
        world.node("b").standing = ZoneStanding::kActive;
    });
}

TEST_F(MaintenanceTest, AnApplicationWaitsForAPeerWhoseDrainTheRegistryDoesNotList) {
    drain("b");
    expect_waits("4 of 6 are free", [this] { drains = false; });
}

TEST_F(MaintenanceTest, AnApplicationWaitsForItsHomeThatDrains) {
    drain("a");
    expect_waits("4 of 6 are free; a: drains", [this] { drains = false; });
}

TEST_F(MaintenanceTest, AnApplicationWaitsForAPeerThatIsRestartedInOrder) {
    world.node("b").standing = ZoneStanding::kLeft;
    world.run(1min);
    world.crash("b");
    expect_waits("b: has stopped in order", [this] {
        world.node("b").standing = ZoneStanding::kActive;
        world.restart("b");
    });
}

TEST_F(MaintenanceTest, AnApplicationWaitsForAPeeringThatIsSuspended) {
    change_peering(PeeringVerb::kSuspend);
    expect_waits("suspended", [this] { change_peering(PeeringVerb::kResume); });
}

TEST_F(MaintenanceTest, ARefusedCallShowsAtOnceThatThePeeringIsSuspended) {
    const auto state_of_b = [this] {
        for (const Peer& peer : world.node("a").peers->peers())
            if (peer.zone == "b") return peer.outbound;
        return std::optional<PeeringState>{};
    };
    world.run(10s);  // the last exchange is some time ago, the next one far
    ASSERT_EQ(state_of_b(), PeeringState::kAccepted);
    change_peering(PeeringVerb::kSuspend);
    submit(6);
    world.run(1s);
    EXPECT_EQ(state_of_b(), PeeringState::kSuspended);
}

TEST_F(MaintenanceTest, ACallWithoutAnswerShowsThatAPeerIsDown) {
    const auto condition_of_b = [this] {
        for (const Peer& peer : world.node("a").peers->peers())
            if (peer.zone == "b") return peer.condition.value_or(PeerCondition{}).state;
        return PeerState::kUnlisted;
    };
    ASSERT_EQ(condition_of_b(), PeerState::kUp);
    world.crash("b");
    submit(6);
    world.run(12s);  // two calls, one after the other
    EXPECT_EQ(condition_of_b(), PeerState::kDown);
}

TEST_F(MaintenanceTest, AnApplicationThatNeedsMoreThanTheDrainedZonesHoldIsRejected) {
    drain("b");
    world.node("b").standing = ZoneStanding::kDrain;
    world.run(1min);
    const ApplicationId id = submit(9);
    world.run(10s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kRejected);
    EXPECT_THAT(world.status(id).reason, HasSubstr("needs 9 processors, but all zones that accept it hold 8"));
}

TEST_F(MaintenanceTest, APlanThatFitsElsewhereAvoidsTheZoneThatDrains) {
    drain("b");
    const ApplicationId id = submit(4);
    world.run(1min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted);
    EXPECT_EQ(world.status(id).plan->zone_of_rank, std::vector<ZoneName>(4, "a"));
    EXPECT_EQ(world.status(id).plan->round, 1);
}

TEST_F(MaintenanceTest, RefusedHoldsDoNotRejectAnApplicationThatWaits) {
    int refusals = 0;
    world.bend = [&](const std::string& from, const std::string& what, Result<PartStatus>& answer) {
        if (from != "b" || what != "hold" || refusals >= 40) return;
        if (answer)
            static_cast<void>(world.node("b").parts->release({CallerKind::kZone, "org-a", "a"}, answer->id, ""));
        ++refusals;
        answer = Error{ErrorCode::kUnavailable, "the zone restarts", {}};
    };
    const ApplicationId id = submit(6);
    world.run(10min);
    EXPECT_EQ(refusals, 40);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted) << world.status(id).reason;
}

}  // namespace
}  // namespace zbs::test
