#include "services/common/failpoint/failpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <set>

#include "services/common/messages/limits.hpp"

namespace {
using namespace zbs;
using namespace zbs::failpoint;
using testing::HasSubstr;

class FailpointTest : public testing::Test {
  protected:
    ~FailpointTest() override { disarm(); }

    void arm_text(const std::string& text) {
        const auto armings = parse(text, Program::kZone);
        ASSERT_TRUE(armings) << armings.error();
        arm(*armings, [this](const Arming& arming) { hits.push_back(arming.point); });
    }

    std::vector<Point> hits;
};

TEST_F(FailpointTest, UnarmedDoesNothing) {
    for (const Row& row : kTable) EXPECT_TRUE(reach(row.point));
    arm_text("");
    for (const Row& row : kTable) EXPECT_TRUE(reach(row.point));
}

TEST_F(FailpointTest, ErrorIsGivenOnceAndNamesThePoint) {
    arm_text("peer.hold_stored=error");
    EXPECT_TRUE(reach(Point::kPeerHoldDecided));
    const Result<void> first = reach(Point::kPeerHoldStored);
    ASSERT_FALSE(first);
    EXPECT_THAT(first.error().message, HasSubstr("peer.hold_stored"));
    EXPECT_TRUE(reach(Point::kPeerHoldStored));
    EXPECT_EQ(hits, std::vector<Point>{Point::kPeerHoldStored});
}

TEST_F(FailpointTest, NumberSaysWhichHitCounts) {
    arm_text("peer.hold_stored=error@3");
    std::string passed;
    for (int i = 0; i < 5; ++i) passed += reach(Point::kPeerHoldStored) ? 'y' : 'n';
    EXPECT_EQ(passed, "yynyy");
}

TEST_F(FailpointTest, StallLetsTimePass) {
    arm_text("store.before_commit=stall:30ms");
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(reach(Point::kStoreBeforeCommit));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds{30});
}

TEST_F(FailpointTest, CrashEndsTheProcessAsByKillNine) {
    const auto die = [this] {
        arm_text("home.after_end=crash");
        static_cast<void>(reach(Point::kHomeAfterEnd));
    };
    EXPECT_EXIT(die(), testing::KilledBySignal(SIGKILL), "");
}

TEST_F(FailpointTest, PointsOfStepsAreHandedOn) {
    arm_text("home.after_end=crash;step.after_fork=stall:1500ms@2;step.before_record=error");
    EXPECT_EQ(armed_for_steps(), "step.after_fork=stall:1500ms@2;step.before_record=error");
    EXPECT_TRUE(parse(armed_for_steps(), Program::kStep));
}

struct BadCase {
    const char* name;
    std::string text;
    const char* words;
};
class BadFailpoints : public testing::TestWithParam<BadCase> {};
INSTANTIATE_TEST_SUITE_P(
    , BadFailpoints,
    testing::Values(BadCase{"UnknownNameShowsAll", "home.nowhere=crash", "there are: store.before_write, "},
                    BadCase{"NoAction", "home.after_end", "can do crash, error or stall:DURATION"},
                    BadCase{"UnknownAction", "home.after_end=explode", "not 'explode'"},
                    BadCase{"StallWithoutTime", "home.after_end=stall", "can do crash, error or stall:DURATION"},
                    BadCase{"StallForNoTime", "home.after_end=stall:soon", "'soon' is no duration"},
                    BadCase{"HitZero", "home.after_end=crash@0", "from 1"},
                    BadCase{"HitNotANumber", "home.after_end=crash@2x", "from 1"},
                    BadCase{"HitTooLarge", "home.after_end=crash@99999999999", "from 1"},
                    BadCase{"Twice", "home.after_end=crash;home.after_end=error", "armed twice"},
                    BadCase{"EmptyEntry", ";home.after_end=crash", "no failpoint is named ''"},
                    BadCase{"OfAnotherProgram", "registry.announce_stored=crash", "a zone never comes by it"},
                    BadCase{"TooLong", std::string(limits::kMaxFailpointBytes + 1, 'x'), "at most 4096 bytes"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST_P(BadFailpoints, AreRefusedWithTheReason) {
    const auto armings = parse(GetParam().text, Program::kZone);
    ASSERT_FALSE(armings);
    EXPECT_THAT(armings.error().message, HasSubstr(GetParam().words));
}

TEST(FailpointText, GivesBackWhatItReads) {
    const std::string text = "audit.before_sync=stall:2000ms@7;answer.sent=error;store.after_commit=crash@2";
    const auto armings = parse(text, Program::kZone);
    ASSERT_TRUE(armings) << armings.error();
    EXPECT_EQ(to_text(*armings), text);
}

TEST(FailpointTable, NamesAreUnique) {
    std::set<std::string_view> names;
    for (const Row& row : kTable) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

}  // namespace
