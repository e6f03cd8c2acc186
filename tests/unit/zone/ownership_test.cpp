// Whose a committed part is: the zone's that runs it. What home says, or does not say any more, ends nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;

struct OwnershipTest : testing::Test {
    FederationWorld world{{4, 4, 4}};
    ApplicationId id;

    void run_everywhere(Duration runtime) {
        for (const char* name : {"a", "b", "c"}) world.node(name).executor->script("", {.runtime = runtime});
        const ApplicationRequest request = world.request(12);
        id = request.id;
        ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
        world.run(3s);
        ASSERT_EQ(world.status(id).state, ApplicationState::kRunning);
    }
    PartId part_in(const std::string& zone) {
        for (const ApplicationPart& part : world.status(id).parts)
            if (part.zone == zone) return part.id;
        return {};
    }
    PartState state_in(const std::string& zone, const PartId& part) {
        return world.node(zone).parts->status({CallerKind::kZone, "org-a", "a"}, part)->state;
    }
};

TEST_F(OwnershipTest, HomeLostForEverLetsItsPartRunToTheWalltimeAndNoLonger) {
    run_everywhere(24h);
    const PartId part = part_in("b");
    world.crash("a");
    world.run(9min);
    EXPECT_EQ(state_in("b", part), PartState::kRunning);
    EXPECT_EQ(world.node("b").executor->running(), 1);
    world.run(2min);  // the walltime is ten minutes
    EXPECT_TRUE(is_final(state_in("b", part)));
    EXPECT_EQ(world.node("b").executor->running(), 0);
    EXPECT_EQ(world.node("b").parts->table().free_processors(), 4);
}

TEST_F(OwnershipTest, HomeLostForEverBeforeTheLaunchCostsALaunchWindowOnly) {
    world.on_message = [&](const std::string&, const std::string&, const char* what) {
        if (what == std::string("launch")) world.crash("a");
    };
    const ApplicationRequest request = world.request(12);
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(3s);
    ASSERT_FALSE(world.node("a").up);
    EXPECT_EQ(world.node("b").parts->table().free_processors(), 0);
    world.run(world.node("b").config.launch_window + 2s);
    for (const char* name : {"b", "c"}) EXPECT_EQ(world.node(name).parts->table().free_processors(), 4) << name;
}

TEST_F(OwnershipTest, ZoneCutOffFromHomeFinishesKeepsItsOutputAndIsHeardAfterwards) {
    run_everywhere(60s);
    const PartId part = part_in("b");
    StepId step;
    for (const auto& [operation, unused] : world.node("b").executor->steps()) step = operation;
    world.node("b").executor->write(step, ".zbs-out.0", "result");
    world.cut = {{"a", "b"}, {"b", "a"}};
    world.run(3min);
    EXPECT_EQ(state_in("b", part), PartState::kCompleted);
    EXPECT_EQ(world.node("b").parts->table().free_processors(), 4);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted);  // the launcher at home saw its ranks end
    EXPECT_FALSE(world.status(id).releasing.empty());                 // b has not said so yet
    EXPECT_EQ(*world.node("b").executor->read(step, ".zbs-out.0", 0, 100), "result");
    world.cut.clear();
    world.run(40s);
    EXPECT_TRUE(world.status(id).releasing.empty());
}

TEST_F(OwnershipTest, ZoneThatRestartsWhileCutOffTakesItsPartUpAgain) {
    run_everywhere(60s);
    const PartId part = part_in("b");
    world.cut = {{"a", "b"}, {"b", "a"}};
    world.crash("b");
    world.run(10s);
    world.restart("b");
    EXPECT_EQ(state_in("b", part), PartState::kRunning);
    world.run(2min);
    EXPECT_EQ(state_in("b", part), PartState::kCompleted);
}

}  // namespace
}  // namespace zbs::test
