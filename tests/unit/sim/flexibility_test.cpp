#include "algorithms/sim/flexibility.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/zones.hpp"

namespace zbs {
namespace {

/// How many of 10,000 jobs are rigid, moldable, malleable.
std::array<int, 3> counts_under(FlexibilityRule rule, std::uint64_t seed = 1) {
    Workload jobs;
    for (int i = 1; i <= 10'000; ++i) jobs.jobs.push_back({{.id = JobId{i}}, {}});
    EXPECT_TRUE(set_flexibility(jobs, rule, seed).has_value());
    std::array<int, 3> counts{};
    for (const WorkloadJob& entry : jobs.jobs) ++counts[static_cast<std::size_t>(entry.job.flexibility)];
    return counts;
}

TEST(SetFlexibility, OneWordHoldsForAllJobs) {
    EXPECT_EQ(counts_under(FlexibilityRule::kRigid), (std::array{10'000, 0, 0}));
    EXPECT_EQ(counts_under(FlexibilityRule::kMoldable), (std::array{0, 10'000, 0}));
    EXPECT_EQ(counts_under(FlexibilityRule::kMalleable), (std::array{0, 0, 10'000}));
}

TEST(SetFlexibility, MixHasItsShares) {
    for (const std::uint64_t seed : {1, 2, 3}) {
        const std::array<int, 3> counts = counts_under(FlexibilityRule::kMix, seed);
        // Five standard deviations of a binomial count.
        EXPECT_NEAR(counts[0], 1000, 150) << seed;
        EXPECT_NEAR(counts[1], 6000, 245) << seed;
        EXPECT_NEAR(counts[2], 3000, 230) << seed;
    }
    EXPECT_NE(counts_under(FlexibilityRule::kMix, 1), counts_under(FlexibilityRule::kMix, 2));
}

TEST(SetFlexibility, MixGivesAJobTheSameBesideAnyOthers) {
    Workload all = test::workload(8, {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}), some = all;
    some.jobs.erase(some.jobs.begin(), some.jobs.begin() + 3);
    ASSERT_TRUE(set_flexibility(all, FlexibilityRule::kMix, 7).has_value());
    ASSERT_TRUE(set_flexibility(some, FlexibilityRule::kMix, 7).has_value());
    for (std::size_t i = 0; i < some.jobs.size(); ++i)
        EXPECT_EQ(some.jobs[i].job.flexibility, all.jobs[i + 3].job.flexibility);
}

TEST(SetFlexibility, GroupsSayItOrAreRefused) {
    Workload jobs = test::workload(8, {{0, 1}, {0, 1}, {0, 1}});
    for (std::size_t i = 0; i < 3; ++i) jobs.jobs[i].job.group = static_cast<std::int32_t>(2 - i);
    ASSERT_TRUE(set_flexibility(jobs, FlexibilityRule::kGroup, 1).has_value());
    EXPECT_STREQ(to_string(jobs.jobs[0].job.flexibility), "malleable");
    EXPECT_STREQ(to_string(jobs.jobs[1].job.flexibility), "moldable");
    EXPECT_STREQ(to_string(jobs.jobs[2].job.flexibility), "rigid");
    jobs.jobs[1].job.group = 3;
    const Workload before = jobs;
    const Result<void> refused = set_flexibility(jobs, FlexibilityRule::kGroup, 1);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, testing::HasSubstr("job 2 is of group 3"));
    EXPECT_EQ(jobs, before);
}

}  // namespace
}  // namespace zbs
