#include "algorithms/base/ids.hpp"

#include <gtest/gtest.h>

#include "algorithms/base/rng.hpp"

namespace zbs {
namespace {

TEST(Id128, TextRoundTripsForRandomIds) {
    Rng rng(7);
    for (int i = 0; i < 1'000; ++i) {
        const Id128 id = make_id128(static_cast<std::int64_t>(rng.below(1ULL << 48)), rng.next(), rng.next());
        const std::string text = to_string(id);
        ASSERT_EQ(text.size(), 26U);
        const auto back = parse_id128(text);
        ASSERT_TRUE(back.has_value()) << text;
        EXPECT_EQ(*back, id) << text;
    }
}

TEST(Id128, KnownUlidReadsAsItsTime) {
    // 01ARZ3NDEKTSV4RRFFQ69G5FAV is the example of the ULID text form; its time is 1469922850259 ms.
    const auto id = parse_id128("01ARZ3NDEKTSV4RRFFQ69G5FAV");
    ASSERT_TRUE(id.has_value());
    std::int64_t ms = 0;
    for (std::size_t i = 0; i < 6; ++i) ms = ms * 256 + id->bytes[i];
    EXPECT_EQ(ms, 1469922850259);
    EXPECT_EQ(to_string(*id), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
}

TEST(Id128, TextOrderIsTimeOrder) {
    EXPECT_LT(to_string(make_id128(1000, ~0ULL, ~0ULL)), to_string(make_id128(1001, 0, 0)));
}

TEST(Id128, RefusesWhatIsNoId) {
    for (const char* text :
         {"", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAVX", "81ARZ3NDEKTSV4RRFFQ69G5FAV",
          "01ARZ3NDEKTSV4RRFFQ69G5FAU", "../../etc/passwd0123456789"}) {
        EXPECT_FALSE(parse_id128(text).has_value()) << text;
    }
}

}  // namespace
}  // namespace zbs
