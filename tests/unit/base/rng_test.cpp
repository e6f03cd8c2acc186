#include "algorithms/base/rng.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace zbs {
namespace {

TEST(Rng, EqualSeedsGiveEqualStreams) {
    Rng a(42), b(42), c(43);
    bool differs = false;
    for (int i = 0; i < 100; ++i) {
        const auto x = a.next();
        EXPECT_EQ(x, b.next());
        differs |= x != c.next();
    }
    EXPECT_TRUE(differs);
}

TEST(Rng, BelowIsUniform) {
    Rng rng(1);
    std::vector<int> seen(7);
    for (int i = 0; i < 70'000; ++i) ++seen[rng.below(7)];
    for (const int n : seen) EXPECT_NEAR(n, 10'000, 500);  // five standard deviations
}

TEST(Rng, ShuffleKeepsEveryItem) {
    Rng rng(5);
    std::vector<int> items(50);
    std::iota(items.begin(), items.end(), 0);
    const std::vector<int> before = items;
    rng.shuffle(items);
    EXPECT_NE(items, before);
    std::sort(items.begin(), items.end());
    EXPECT_EQ(items, before);
}

}  // namespace
}  // namespace zbs
