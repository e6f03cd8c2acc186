#include "services/common/adapters/command_line/values.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace zbs::command_line {
namespace {

constexpr Time kNow = time_from_microseconds(1'800'000'000'000'000);

struct Case {
    const char* text;
    std::int64_t seconds;
};

class SinceTest : public testing::TestWithParam<Case> {
  protected:
    SinceTest() {
        setenv("TZ", "XYZ-2", 1);  // two hours east
        tzset();
    }
    ~SinceTest() override {
        unsetenv("TZ");
        tzset();
    }
};

INSTANTIATE_TEST_SUITE_P(
    , SinceTest,
    testing::Values(Case{"6h", 1'799'978'400}, Case{"-6h", 1'799'978'400}, Case{"1 h 30 min", 1'799'994'600},
                    Case{"2026-11-24", 1'795'471'200}, Case{"2026-11-24 13:00", 1'795'518'000},
                    Case{"2026-11-24T13:00:05", 1'795'518'005}, Case{"2026-11-24T13:00:05Z", 1'795'525'205},
                    Case{"2026-11-24t13:00:05z", 1'795'525'205}, Case{"2026-11-24T13:00:05+01:00", 1'795'521'605},
                    Case{"2026-11-24T13:00-05:30", 1'795'545'000}));

TEST_P(SinceTest, IsThatInstant) {
    const Result<Time> since = parse_since(GetParam().text, kNow);
    ASSERT_TRUE(since) << since.error().message;
    EXPECT_EQ(to_microseconds(*since), GetParam().seconds * 1'000'000);
}

TEST(Since, HowLongAgoCountsFromNowAndAnInstantDoesNot) {
    for (const char* text : {"6h", "-6h", "1 h 30 min"}) EXPECT_TRUE(counts_from_now(text)) << text;
    for (const char* text : {"2026-11-24", "2026-11-24 13:00", "2026-11-24T13:00:05Z"})
        EXPECT_FALSE(counts_from_now(text)) << text;
}

TEST(Since, AFractionIsKeptToTheMicrosecond) {
    EXPECT_EQ(to_microseconds(*parse_since("2026-11-24T13:00:05.2500019Z", kNow)), 1'795'525'205'250'001);
}

TEST(Since, WhatIsNoTimeIsRefusedWithWhatIs) {
    for (const char* text : {"", "-", "soon", "2026-13-01", "2026-02-30", "2026-11-24T", "2026-11-24T25:00",
                             "2026-11-24Tx", "2026-11-24T13:00+1", "2026-11-24T13:00Zx", "26-11-24", "2026-11-24Z",
                             "--6h", "2026-11-24T13:00:05+01:00 "}) {
        const Result<Time> since = parse_since(text, kNow);
        ASSERT_FALSE(since) << text;
        EXPECT_EQ(since.error().pointer, "--since");
        EXPECT_NE(since.error().message.find("2026-11-24T13:00:00Z"), std::string::npos);
    }
}

TEST(Since, ANumberAloneIsRefusedAsOfAWalltime) {
    for (const char* text : {"90", "-90"}) {
        const Result<Time> since = parse_since(text, kNow);
        ASSERT_FALSE(since) << text;
        EXPECT_EQ(since.error().message, "'" + std::string(text) + "' has no unit: 90m for minutes, 90s for seconds");
    }
}

}  // namespace
}  // namespace zbs::command_line
