// What home notes of zones that keep their word, and of those that do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using Conduct = FederationWorld::Conduct;
using testing::IsEmpty;

Error fault(ErrorCode code) { return {code, "for no reason", {}}; }
PartStatus in_state(PartStatus honest, PartState state) {
    honest.state = state;
    return honest;
}

struct Lie {
    const char* name;
    const char* call;
    std::function<Result<PartStatus>(const PartStatus& honest)> tells;
    bool breaks_word;
};
class ZoneThatHolds : public testing::TestWithParam<Lie> {};
INSTANTIATE_TEST_SUITE_P(
    , ZoneThatHolds,
    testing::Values(
        Lie{"DeniesAtCommit", "commit", [](const auto&) { return fault(ErrorCode::kConflict); }, true},
        Lie{"KnowsNothingAtCommit", "commit", [](const auto&) { return fault(ErrorCode::kNotFound); }, true},
        Lie{"SaysThatTheTimeIsOver", "commit", [](const auto& s) { return in_state(s, PartState::kExpired); }, true},
        Lie{"DeniesAtLaunch", "launch", [](const auto&) { return fault(ErrorCode::kConflict); }, true},
        Lie{"KnowsNothingOfWhatRuns", "status", [](const auto&) { return fault(ErrorCode::kNotFound); }, true},
        Lie{"TookTheRightBack", "commit", [](const auto&) { return fault(ErrorCode::kDenied); }, false},
        Lie{"IsInTrouble", "commit", [](const auto&) { return fault(ErrorCode::kUnavailable); }, false},
        Lie{"EndedThePartByItsOperator", "status", [](const auto& s) { return in_state(s, PartState::kReleased); },
            false},
        Lie{"CouldNotStartIt", "launch", [](const auto& s) { return in_state(s, PartState::kFailed); }, false},
        Lie{"DislikesTheOptions", "launch", [](const auto&) { return fault(ErrorCode::kInvalidArgument); }, false}),
    [](const auto& param_info) { return param_info.param.name; });

TEST_P(ZoneThatHolds, IsChargedOnceWhereItDeniesWithoutAReason) {
    FederationWorld world{{4, 4, 4}};
    for (const char* zone : {"a", "b", "c"}) world.node(zone).executor->script("", {.runtime = 20s});
    int reports = 0;
    world.bend = [&](const std::string& from, const std::string& call, Result<PartStatus>& answer) {
        if (from != "b" || call != GetParam().call || !answer) return;
        answer = GetParam().tells(*answer);
        ++reports;
    };
    const ApplicationRequest request = world.request(10);
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(8s);
    EXPECT_GT(reports, 0);
    EXPECT_EQ(!world.conduct.empty(), GetParam().breaks_word);
    EXPECT_LE(world.conduct.size(), world.node("b").store.all_parts().size()) << "each part is one word";
    for (const Conduct& one : world.conduct) EXPECT_EQ(one, (Conduct{"org-b", TrustEvent::kBrokenWord}));
}

TEST(ConductTest, AZoneThatNeverSaidHowLongItHoldsHasNoWordToBreak) {
    FederationWorld world{{4, 4, 4}};
    world.bend = [](const std::string& from, const std::string& call, Result<PartStatus>& answer) {
        if (from == "b" && call == "hold" && answer) answer->expires_in = Duration{0};
        if (from == "b" && call == "commit") answer = fault(ErrorCode::kConflict);
    };
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), world.request(10)));
    world.run(20s);
    EXPECT_THAT(world.conduct, IsEmpty());
}

TEST(ConductTest, TheLastMomentsOfALeaseAreNotSure) {
    FederationWorld world{{4, 4, 4}};
    world.bend = [](const std::string& from, const std::string& call, Result<PartStatus>& answer) {
        if (from == "b" && call == "commit") answer = fault(ErrorCode::kConflict);
        if (from == "b" && call == "hold" && answer) answer->expires_in = 400ms;  // clocks may differ by more
    };
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), world.request(10)));
    world.run(20s);
    EXPECT_THAT(world.conduct, IsEmpty());
}

TEST(ConductTest, PartThatItsOperatorEndedIsNoBrokenWord) {
    FederationWorld world{{4, 4, 4}};
    world.bend = [](const std::string& from, const std::string& call, Result<PartStatus>& answer) {
        if (from == "b" && call == "commit") answer = fault(ErrorCode::kConflict);
        if (from == "b" && call == "status" && answer) answer->state = PartState::kReleased;
    };
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), world.request(10)));
    world.run(8s);
    EXPECT_THAT(world.conduct, IsEmpty());
}

TEST(ConductTest, NobodyIsChargedForWhatThisHostSleptThrough) {
    FederationWorld world{{4, 4, 4}};
    world.bend = [&](const std::string& from, const std::string& call, Result<PartStatus>& answer) {
        if (from != "b" || call != "commit") return;
        world.clock.set_wall(world.clock.now() + 1h);  // as after a suspension: only the wall clock went on
        answer = fault(ErrorCode::kNotFound);
    };
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), world.request(10)));
    world.run(8s);
    EXPECT_THAT(world.conduct, IsEmpty());
}

TEST(ConductTest, WhoRunsAPartToAGoodEndGains) {
    FederationWorld world{{4, 4, 4}};
    for (const char* zone : {"a", "b", "c"}) world.node(zone).executor->script("", {.runtime = 5s});
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), world.request(12)));
    world.run(60s);
    EXPECT_THAT(world.conduct, testing::UnorderedElementsAre(Conduct{"org-a", TrustEvent::kHoldKept},
                                                             Conduct{"org-b", TrustEvent::kHoldKept},
                                                             Conduct{"org-c", TrustEvent::kHoldKept}));
}

TEST(ConductTest, HonestZonesAreNeverChargedWhateverIsLostAndWhoeverRestarts) {
    std::size_t kept = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        SCOPED_TRACE(seed);
        FederationWorld world{{4, 4, 4}};
        world.rng = Rng(seed);
        world.loss = 0.15;
        for (const char* zone : {"a", "b", "c"}) {
            world.node(zone).config.hold_ttl = 3s;
            world.node(zone).config.launch_window = 6s;
            world.node(zone).executor->script("", {.runtime = 5s});
        }
        std::vector<ApplicationId> ids;
        for (int i = 0; i < 6; ++i) {
            const ApplicationRequest request = world.request(7);
            ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
            ids.push_back(request.id);
            world.run(Duration{static_cast<std::int64_t>(world.rng.below(4'000'000))});
            const std::string victim(1, static_cast<char>('a' + world.rng.below(3)));
            world.crash(victim);
            world.run(Duration{static_cast<std::int64_t>(world.rng.below(4'000'000))});
            world.restart(victim);
            if (world.rng.below(2) == 0) {
                ASSERT_TRUE(world.node("a").applications->cancel(world.user(), ids.front()));
            }
        }
        world.run(120s);
        for (const Conduct& one : world.conduct) EXPECT_EQ(one.what, TrustEvent::kHoldKept) << one.organisation;
        kept += world.conduct.size();
    }
    EXPECT_GT(kept, 0U);
}

}  // namespace
}  // namespace zbs::test
