// Homes that want the same processors at the same time. No deadlock: a hold is refused at once, so nobody waits while
// holding, and what is held runs out by itself. No livelock: who loses gives all back and tries again after a random
// time that grows with every round, or reserves a start behind the winner.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;

struct CompetingHomesTest : testing::Test {
    FederationWorld world{{4, 4, 4, 4}, {"org-*"}};
    const std::vector<std::string> homes = {"a", "b", "c", "d"};
    std::map<ApplicationId, std::string> submitted;

    void submit(const std::string& home, int ranks) {
        const Caller user{CallerKind::kUser, OrganisationName("org-" + home), "ana"};
        const ApplicationRequest request = world.request(ranks, user);
        ASSERT_TRUE(world.node(home).applications->submit(user, request));
        submitted.emplace(request.id, home);
    }
    void run_to_the_end(Duration most) {
        world.run_until(most, [&] {
            return world.held() == 0 &&
                   std::ranges::all_of(submitted, [&](const auto& one) { return is_final(status(one.first).state); });
        });
    }
    ApplicationStatus status(const ApplicationId& id) {
        const std::string& home = submitted.at(id);
        return (*world.node(home).applications->find({CallerKind::kUser, OrganisationName("org-" + home), "ana"}, id))
            ->status;
    }
};

TEST_F(CompetingHomesTest, AllGetTheWholeFederationOneAfterTheOther) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        world.rng = Rng(seed);
        for (const std::string& home : homes) world.node(home).executor->script("", {.runtime = 20s});
        for (const std::string& home : homes) submit(home, 16);  // at the same instant, each all there is
        run_to_the_end(10min);
        for (const auto& [id, home] : submitted) {
            EXPECT_EQ(status(id).state, ApplicationState::kCompleted) << "seed " << seed << ": " << status(id).reason;
        }
        EXPECT_EQ(world.held(), 0);
    }
}

TEST_F(CompetingHomesTest, TwentyThatOverlapInPairsOfZonesAllEndWellUnderLoss) {
    world.loss = 0.02;
    for (const std::string& home : homes) world.node(home).executor->script("", {.runtime = 20s});
    for (int i = 0; i < 5; ++i)
        for (const std::string& home : homes) submit(home, 6);
    run_to_the_end(60min);
    for (const auto& [id, home] : submitted) {
        EXPECT_TRUE(is_final(status(id).state)) << to_string(status(id).state) << ": " << status(id).reason;
        EXPECT_NE(status(id).state, ApplicationState::kRejected) << status(id).reason;
    }
    EXPECT_EQ(world.held(), 0);
}

}  // namespace
}  // namespace zbs::test
