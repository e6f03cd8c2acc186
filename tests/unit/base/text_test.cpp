#include "algorithms/base/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/base/utf8.hpp"

namespace zbs {
namespace {

using testing::ElementsAre;

TEST(Text, IsDividedAndJoined) {
    EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
    EXPECT_THAT(split("", ','), ElementsAre(""));
    const std::vector<std::string> words{"a", "b", "c"};
    EXPECT_EQ(joined(words, ", "), "a, b, c");
    EXPECT_EQ(joined(words, ", ", " or "), "a, b or c");
    EXPECT_EQ(joined(std::vector<std::string>{}, ", "), "");
}

TEST(Text, IsANumberAsAWholeOnly) {
    EXPECT_EQ(parse_number<int>("-12"), -12);
    EXPECT_EQ(parse_number<unsigned>("ff", 16), 255U);
    for (const char* text : {"", "1x", " 1", "+1", "99999999999"}) EXPECT_FALSE(parse_number<int>(text)) << text;
}

TEST(Text, ShowsBytesAndSizes) {
    EXPECT_EQ(hexadecimal({"\x00\xaf\x7f", 3}), "00af7f");
    EXPECT_EQ(number_text("%+.1f %%", 2.25), "+2.2 %");
    EXPECT_EQ(human_bytes(12), "12 B");
    EXPECT_EQ(human_bytes(1024), "1.0 KiB");
    EXPECT_EQ(human_bytes(1536), "1.5 KiB");
    EXPECT_EQ(human_bytes(5.0 * (1LL << 40)), "5.0 TiB");
    EXPECT_EQ(human_bytes(3e18), "2664.5 PiB");
}

TEST(Text, IsASecretOnlyWhereAllOfItIsTheSame) {
    EXPECT_TRUE(is_same_secret("abc", "abc"));
    EXPECT_FALSE(is_same_secret("abd", "abc"));
    EXPECT_FALSE(is_same_secret("ab", "abc"));
}

TEST(Utf8, HasItsCharactersOneByOne) {
    EXPECT_EQ(front_of("\xe2\x82\xac!").value, U'\u20ac');
    EXPECT_EQ(front_of("\xe2\x82\xac!").length, 3U);
    for (const char* text : {"\x80", "\xc0\x80", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
        EXPECT_EQ(front_of(text).length, 0U) << text;
        EXPECT_FALSE(is_utf8(text)) << text;
    }
    EXPECT_TRUE(is_utf8("caf\xc3\xa9 \xf0\x9f\x98\x80"));
}

}  // namespace
}  // namespace zbs
