// How long a part waits for its files, and for whom it does not.
#include "tests/unit/zone/staging_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;

TEST_F(StagingTest, WhoWaitsForFilesTakesNothingOfWhatWasPromisedForLater) {
    PartService& zone = *world.node("b").parts;
    world.node("b").config.staging.window = 1h;
    const PartStatus part = committed();
    PartRequest later{.id = PartId{world.ids.fresh(home)},
                      .application = ApplicationId{world.ids.fresh(world.user())},
                      .user = world.user(),
                      .home = "a",
                      .ranks = {0, 1, 2, 3}};
    later.graph = *TaskGraph::make({1.0, 1.0, 1.0, 1.0}, {});
    later.walltime = 5min;
    later.start_in = zone.table().promise_of(part.id).end - world.clock.steady_now() + 2min;
    const auto held = zone.hold(home, later);
    ASSERT_TRUE(held) << held.error();
    ASSERT_TRUE(zone.commit(home, later.id, held->token));
    const Duration start = zone.table().promise_of(later.id).begin;
    const StagedFile file{.name = "x", .digest = MemoryDepot::digest_of("abc"), .size = 3};
    const Duration before = zone.table().promise_of(part.id).end;
    Duration last = before;
    for (; world.clock.steady_now() < start; world.run(5s)) {
        static_cast<void>(zone.stage(home, part.id, {part.token, {.inputs = {file}, .results = {}}}));
        if (zone.status(home, part.id)->state == PartState::kCommitted) last = zone.table().promise_of(part.id).end;
        ASSERT_LE(last, start) << "its walltime would not end before the other's start";
    }
    EXPECT_GT(last, before) << "but as long as it may";
    EXPECT_EQ(zone.status(home, part.id)->state, PartState::kReleased);
    EXPECT_TRUE(zone.launch(home, later.id,
                            {.token = held->token,
                             .operation = launch_operation(later.id),
                             .options = {{"control-port", "127.0.0.1:9"}},
                             .proxies = {{0, zone.status(home, later.id)->assignment[0].machine}}}));
}

TEST_F(StagingTest, TheLaunchWindowGoesOnWhileFilesComeButNotForEver) {
    PartService& zone = *world.node("b").parts;
    world.node("b").config.staging.window = 2min;
    const PartStatus part = committed();
    const StagedFile file{.name = "x", .digest = MemoryDepot::digest_of("abc"), .size = 3};
    const StagingRequest announced{part.token, {.inputs = {file}, .results = {}}};
    for (int i = 0; i < 6; ++i) {
        ASSERT_TRUE(zone.stage(home, part.id, announced)) << i;
        world.run(20s);
    }
    int more = 0;
    while (more < 10 && zone.stage(home, part.id, announced)) {
        world.run(20s);
        ++more;
    }
    EXPECT_LT(more, 4);
    EXPECT_EQ(zone.status(home, part.id)->state, PartState::kReleased);
}

}  // namespace
}  // namespace zbs::test
