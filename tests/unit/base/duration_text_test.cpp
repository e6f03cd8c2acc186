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

}  // namespace
}  // namespace zbs
