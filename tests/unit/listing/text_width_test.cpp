
#include <gtest/gtest.h>

#include "services/common/listing/rows.hpp"

namespace zbs::listing {
namespace {

TEST(TextWidth, CountsColumnsOfATerminal) {
    const std::pair<const char*, std::size_t> cases[] = {
        {"", 0},
        {"abc", 3},
        {"caf\u00e9", 4},
        {"cafe\u0301", 4},    // combining
        {"\u8a08\u7b97", 4},  // wide
        {"\uff21", 2},        // full width
        {"\uff71", 1},        // half width
        {"\U0001f680", 2},    // emoji
        {"\u2581\u2588", 2},  // bars of a line
        {"\xff\xe8", 2},      // no UTF-8
    };
    for (const auto& [text, width] : cases) EXPECT_EQ(width_of(text), width) << text;
}

TEST(TextWidth, TablesAlign) {
    const Listing listing{"jobs",
                          {"PROGRAM", "RANKS"},
                          {{"\u8a08\u7b97\u30d7\u30ed\u30b0\u30e9\u30e0", 1}, {"e\u0301tude", 2}, {"solver", 3}}};
    EXPECT_EQ(written(listing, "table"),
              "PROGRAM         RANKS\n"
              "\u8a08\u7b97\u30d7\u30ed\u30b0\u30e9\u30e0  1\n"
              "e\u0301tude           2\n"
              "solver          3\n");
}

TEST(CutTo, CutsBetweenCharacters) {
    EXPECT_EQ(cut_to("abcdef\nx\ny\n", 2, 4), "abcd\nx\n");
    EXPECT_EQ(cut_to("\u8a08\u7b97\u6a5f\n", 1, 5), "\u8a08\u7b97\n") << "no half of a character";
    EXPECT_EQ(cut_to("abe\u0301f", 1, 3), "abe\u0301") << "an accent goes with its letter";
    EXPECT_EQ(cut_to("\u8a08"
                     "a",
                     1, 1),
              "")
        << "nothing comes behind what did not fit";
}

}  // namespace
}  // namespace zbs::listing
