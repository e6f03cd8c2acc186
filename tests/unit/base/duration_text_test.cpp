#include "algorithms/base/duration_text.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {

using namespace std::chrono_literals;

TEST(ParseDuration, ReadsWhatPeopleWrite) {
    const std::pair<const char*, Duration> cases[] = {
        {"90", 90s},           {"90s", 90s},
        {"15m", 15min},        {"1h30m", 90min},
        {"2d", 48h},           {"200ms", 200ms},
        {"200ms", 200ms},      {"1s500us", 1000500us},
        {"1.5h", 90min},       {"00:10:00", 10min},
        {"10:30", 630s},       {"0", 0s},
        {"366d", 366 * 24h},   {"15min", 15min},
        {"1 h 30 min", 90min}, {"2 days", 48h},
        {"1w", 168h},          {"45 seconds", 45s},
        {"1-12:00:00", 36h},   {"1-12:30", 36h + 30min},
        {"2-6", 54h},          {"0-0:0:1", 1s},
        {"PT1H30M", 90min},    {"P1DT12H", 36h},
        {"P1W", 168h},         {"5mins", 5min},
        {"2 hrs", 2h},         {"1hr", 1h},
        {"30secs", 30s},       {"2weeks", 336h},
        {"PT0.5S", 500ms},     {"P2D", 48h},
        {"PT90M", 90min},      {"1:02:03.5", 3723500ms},
        {"100:00", 100min},
    };
    for (const auto& [text, expected] : cases) {
        const Result<Duration> read = parse_duration(text);
        ASSERT_TRUE(read.has_value()) << text;
        EXPECT_EQ(*read, expected) << text;
    }
}

TEST(ParseDuration, RefusesEverythingElse) {
    for (const char* text : {"",       "s",      "-1",      "1x",    "1:2:3:4", ":5",
                             "5:",     "367d",   "nan",     "inf",   "1e3",     "99999999999999999999",
                             "0x10",   "1h30x",  "1h  30m", "1 ",    " 1",      "1h ",
                             "1 h 30", "1h30",   "P",       "PT",    "P1",      "P1H",
                             "PT1D",   "PT1M1H", "P1DT",    "PTT1H", "P1M",     "P1Y",
                             "p1d",    "1-",     "-1-2",    "1-2-3", "1d-2",    "1-1:2:3:4",
                             "1-1h",   "1:2h",   "PT1H30",  "1-P1D"})
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
