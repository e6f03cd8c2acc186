#include "algorithms/elmer/nice_level.hpp"

#include <gtest/gtest.h>

namespace zbs::elmer {
namespace {

TEST(NiceLevel, IsAsFarFromTheNextAsCanBe) {
    EXPECT_EQ(nice_level(0, 1), 0);
    EXPECT_EQ(nice_level(0, 2), 0);
    EXPECT_EQ(nice_level(1, 2), 19);
    for (std::int32_t degree = 2; degree <= 16; ++degree) {
        EXPECT_EQ(nice_level(degree - 1, degree), kLowestNice);
        for (std::int32_t level = 1; level < degree; ++level)
            EXPECT_GT(nice_level(level, degree), nice_level(level - 1, degree)) << degree;
    }
}

}  // namespace
}  // namespace zbs::elmer
