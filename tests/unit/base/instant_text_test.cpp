#include "algorithms/base/instant_text.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {

struct Case {
    const char* text;
    std::int64_t us;
};

TEST(ParseInstant, ReadsRfc3339ToTheMicrosecond) {
    for (const auto& [text, us] :
         {Case{"1970-01-01T00:00:00Z", 0}, Case{"1970-01-01T01:00:00+01:00", 0},
          Case{"2026-11-24T13:00:05Z", 1'795'525'205'000'000}, Case{"2026-11-24t13:00:05.25z", 1'795'525'205'250'000},
          Case{"2026-11-24 13:00:05.0000019Z", 1'795'525'205'000'001},
          Case{"2026-11-24T13:00-05:30", 1'795'545'000'000'000}, Case{"1970-01-01T00:00:00+00:01", -60'000'000}}) {
        const std::optional<Time> read = parse_instant(text);
        ASSERT_TRUE(read) << text;
        EXPECT_EQ(to_microseconds(*read), us) << text;
    }
}

TEST(ParseInstant, RefusesWhatIsNoInstant) {
    for (const char* text :
         {"", "0", "soon", "2026-11-24", "2026-11-24T13:00:05", "2026-02-30T13:00:05Z", "2026-11-24T24:00:00Z",
          "2026-11-24T13:00:05Z ", "2026-11-24T13:00:05+1", "1969-12-31T23:59:59Z", "2026-11-24Z",
          "2026-11-24T13:00:61Z", "10000-01-01T00:00:00Z", "2026-11-24T13Z"})
        EXPECT_FALSE(parse_instant(text)) << text;
}

TEST(FormatInstant, IsReadAgain) {
    EXPECT_EQ(format_instant(Time{}), "1970-01-01T00:00:00.000000Z");
    for (const std::int64_t us : {1LL, 1'795'525'205'250'001LL, 253'402'300'799'999'999LL}) {
        const std::optional<Time> read = parse_instant(format_instant(time_from_microseconds(us)));
        ASSERT_TRUE(read) << us;
        EXPECT_EQ(to_microseconds(*read), us);
    }
}

}  // namespace
}  // namespace zbs
