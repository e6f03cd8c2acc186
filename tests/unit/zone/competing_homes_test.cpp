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

/// How many calls zones put on record for each of 24 applications: a zone writes one entry about a call that may change
/// something, and another one where it refuses the call.
struct EntriesOnRecordTest : CompetingHomesTest {
    double entries_each(int reservations) {
        std::map<std::string, int> entries{{"submission", 0}};
        world.bend = [&](const std::string&, const std::string& what, const Result<PartStatus>& answer) {
            if (what != "status") entries[what] += 1;
            if (what != "status" && !answer) entries[what + " refused"] += 1;
        };
        for (const std::string& home : homes) {
            world.node(home).config.max_reservations = reservations;
            world.node(home).executor->script("", {.runtime = 20s});
        }
        for (int ranks = 1; ranks <= 16; ranks += 3)
            for (const std::string& home : homes) submit(home, ranks);
        run_to_the_end(60min);
        for (const auto& [id, home] : submitted)
            EXPECT_EQ(status(id).state, ApplicationState::kCompleted) << status(id).reason;
        entries["submission"] = static_cast<int>(submitted.size());
        double sum = 0;
        for (const auto& [what, count] : entries) sum += count;
        return sum / static_cast<double>(submitted.size());
    }
};

TEST_F(EntriesOnRecordTest, AnApplicationThatReservesNothingLeavesUnderTwelve) { EXPECT_LT(entries_each(0), 12); }

/// Of parts that run before their reserved start each has two holds and two commits on record.
TEST_F(EntriesOnRecordTest, AReservedStartCostsAHoldAndACommitOfEachPart) { EXPECT_LT(entries_each(16), 18); }

}  // namespace
}  // namespace zbs::test
