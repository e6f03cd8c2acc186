#include "services/common/messages/text/printable.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/base/rng.hpp"
#include "algorithms/base/utf8.hpp"

namespace zbs {
namespace {

TEST(PrintableText, ForgesNoLineAndHidesNothing) {
    using std::string_literals::operator""s;
    for (const auto& [text, shown] :
         {std::pair{"plain text"s, "plain text"s},
          {"caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80"s, "caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80"s},
          {"a\nallow b"s, "a\\x0aallow b"s},
          {"\x1b[2J"s, "\\x1b[2J"s},
          {"a\0b"s, "a\\x00b"s},
          {"a\x7f"s, "a\\x7f"s},
          {"\\x0a"s, "\\\\x0a"s},
          {"\xc2\x9b"s, "\\xc2\\x9b"s},           // C1: starts a terminal sequence
          {"\xe2\x80\xae"s, "\\xe2\\x80\\xae"s},  // writes from right to left
          {"\xe2\x80\xa8"s, "\\xe2\\x80\\xa8"s},  // ends a line
          {"\xff\xc3"s, "\\xff\\xc3"s},
          {"\xc0\xaf"s, "\\xc0\\xaf"s},            // overlong '/'
          {"\xed\xa0\x80"s, "\\xed\\xa0\\x80"s}})  // surrogate
        EXPECT_EQ(printable_text(text, 512), shown);
}

TEST(PrintableText, CutsBetweenCharacters) {
    EXPECT_EQ(printable_text("12345678", 8), "12345678");
    EXPECT_EQ(printable_text("123456789", 8), "12345...");
    EXPECT_EQ(printable_text("1234\xc3\xa9\xc3\xa9", 8), "1234\xc3\xa9\xc3\xa9");
    EXPECT_EQ(printable_text("1234\xc3\xa9\xc3\xa9z", 8), "1234...") << "half a character is none";
    EXPECT_EQ(printable_text("1234\n\n", 8), "1234...");
}

TEST(PrintableTextProperty, IsBoundedUtf8WithoutControlsForAnyBytes) {
    for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        std::string text;
        for (std::uint64_t n = rng.below(40); n > 0; --n) text += static_cast<char>(rng.below(256));
        const std::size_t most = 8 + rng.below(60);
        const std::string shown = printable_text(text, most);
        ASSERT_LE(shown.size(), most);
        ASSERT_TRUE(is_utf8(shown));
        ASSERT_TRUE(std::none_of(shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }));
    }
}

}  // namespace
}  // namespace zbs
