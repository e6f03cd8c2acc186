#include "algorithms/base/duration_text.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {

using namespace std::chrono_literals;

TEST(ParseDuration, ReadsWhatPeopleWrite) {
    const std::pair<const char*, Duration> cases[] = {
        {"90", 90s},      {"90s", 90s},     {"15m", 15min},         {"1h30m", 90min}, {"2d", 48h},
        {"200ms", 200ms}, {"200ms", 200ms}, {"1s500us", 1000500us}, {"1.5h", 90min},  {"00:10:00", 10min},
        {"10:30", 630s},  {"0", 0s},        {"366d", 366 * 24h},
    };
    for (const auto& [text, expected] : cases) {
        const Result<Duration> read = parse_duration(text);
        ASSERT_TRUE(read.has_value()) << text;
        EXPECT_EQ(*read, expected) << text;
    }
}

TEST(ParseDuration, RefusesEverythingElse) {
    for (const char* text : {"", "s", "-1", "1x", "1h 30m", "1:2:3:4", ":5", "5:", "367d", "nan", "inf", "1e3",
                             "99999999999999999999", "0x10", "1h30x"})
        EXPECT_FALSE(parse_duration(text).has_value()) << text;
}

TEST(FormatDuration, TellsTheTwoLargestUnitsAndIsReadAgain) {
    const std::pair<const char*, Duration> table[] = {
        {"0s", Duration{0}},
        {"0.25s", Duration{250'000}},
        {"9s", std::chrono::seconds{9}},
        {"45s", std::chrono::seconds{45}},
        {"1h", std::chrono::hours{1}},
        {"1h30m", std::chrono::seconds{5'459}},
        {"2d", std::chrono::minutes{2 * 1'440 + 59}},
        {"2d3h", std::chrono::hours{51}},
        {"10m", std::chrono::minutes{10}},
    };
    for (const auto& [text, time] : table) {
        EXPECT_EQ(format_duration(time), text);
        EXPECT_TRUE(parse_duration(text)) << text;
    }
}

}  // namespace
}  // namespace zbs
