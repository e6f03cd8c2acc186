#include "studies/models/family.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "algorithms/base/rng.hpp"

namespace zbs::gang {
namespace {

std::vector<std::int32_t> after(std::vector<std::int32_t> counts) {
    for (const TaskMove& move : balance_family(counts)) {
        EXPECT_GT(move.tasks, 0);
        counts.at(static_cast<std::size_t>(move.from)) -= move.tasks;
        counts.at(static_cast<std::size_t>(move.to)) += move.tasks;
        EXPECT_GE(counts[static_cast<std::size_t>(move.from)], 0);
    }
    return counts;
}

TEST(BalanceFamily, HalfOfTheSurplusMoves) {
    EXPECT_EQ(balance_family(std::vector{5, 0}), (std::vector<TaskMove>{{0, 1, 2}}));
    EXPECT_TRUE(balance_family(std::vector{2, 1, 2}).empty());
    EXPECT_TRUE(balance_family({}).empty());
}

TEST(BalanceFamilyProperty, EveryProcessorEndsWithFloorOrCeiling) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        std::vector<std::int32_t> counts(1 + rng.below(20));
        for (std::int32_t& count : counts)
            count = static_cast<std::int32_t>(rng.below(4) == 0 ? rng.below(100) : rng.below(4));
        const std::int32_t total = std::accumulate(counts.begin(), counts.end(), 0);
        const auto width = static_cast<std::int32_t>(counts.size());
        const std::vector<std::int32_t> balanced = after(counts);
        EXPECT_EQ(std::accumulate(balanced.begin(), balanced.end(), 0), total);
        for (const std::int32_t count : balanced) {
            EXPECT_GE(count, total / width);
            EXPECT_LE(count, (total + width - 1) / width);
        }
    }
}

}  // namespace
}  // namespace zbs::gang
