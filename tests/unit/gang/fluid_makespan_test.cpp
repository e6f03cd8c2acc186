#include "studies/models/fluid_makespan.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace zbs::gang {
namespace {

using Jobs = std::vector<StaticJob>;
constexpr StaticRule kLiteral = StaticRule::kFirstFitDecreasing, kFill = StaticRule::kFirstFitDecreasingFill;

// [DaSilva2000, theorem 4, lower bound]: as many jobs of n/2 + 1 processors as the adversary needs to waste nothing.
TEST(FluidMakespan, HalfOfTheMachineAndOneMoreWastesTheRest) {
    for (const std::int32_t n : {4, 8, 16, 64, 1024}) {
        const Jobs jobs(static_cast<std::size_t>(n), {n / 2 + 1, 1});
        EXPECT_NEAR(fluid_makespan(jobs, n, kLiteral) / optimal_makespan(jobs, n), 2.0 * n / (n + 2), 1e-9) << n;
    }
}

// Seven jobs of (5, 1) and one of (1, 5) on 8: the small one shares one slice of seven, so 7 + 4 against 5.
TEST(FluidMakespan, LiteralRuleExceedsTwiceTheOptimum) {
    Jobs jobs(7, {5, 1});
    jobs.push_back({1, 5});
    EXPECT_NEAR(fluid_makespan(jobs, 8, kLiteral), 11, 1e-9);
    EXPECT_NEAR(fluid_makespan(jobs, 8, kFill), 7, 1e-9);
    EXPECT_NEAR(optimal_makespan(jobs, 8), 5, 1e-9);
}

TEST(FluidMakespan, LiteralRuleComesCloseToThreeTimesTheOptimum) {
    const std::int32_t n = 1024;
    const int k = 200;
    Jobs jobs(k, {n / 2 + 1, 1});
    jobs.push_back({1, k * (n / 2 + 1.0) / (n - 1)});
    const double ratio = fluid_makespan(jobs, n, kLiteral) / optimal_makespan(jobs, n);
    EXPECT_NEAR(ratio, 2.984, 1e-3);
    EXPECT_LT(fluid_makespan(jobs, n, kFill) / optimal_makespan(jobs, n), 2);
}

TEST(FluidMakespan, SimpleGangRunsOneJobAtATime) {
    const Jobs jobs(10, {1, 1});
    EXPECT_EQ(fluid_makespan(jobs, 4, StaticRule::kSimpleGang), 10);
    EXPECT_EQ(fluid_makespan(jobs, 4, kLiteral), 3);  // ceil(10 / 4)
}

}  // namespace
}  // namespace zbs::gang
