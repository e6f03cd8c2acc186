#include "algorithms/base/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs {
namespace {

enum class Colour { kRed, kDarkBlue };
constexpr auto words_of(Colour) { return std::array{"red", "dark blue"}; }

TEST(Words, StandForTheValuesInBothDirections) {
    EXPECT_EQ(std::string(to_string(Colour::kDarkBlue)), "dark blue");
    EXPECT_EQ(find_word<Colour>("red"), Colour::kRed);
    EXPECT_EQ(find_word<Colour>("blue"), std::nullopt);
    EXPECT_THAT(kAll<Colour>, testing::ElementsAre(Colour::kRed, Colour::kDarkBlue));
}

}  // namespace
}  // namespace zbs
