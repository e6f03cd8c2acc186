#include "studies/claims/claim.hpp"

#include <gtest/gtest.h>

#include "studies/claims/samples.hpp"

namespace zbs::claims {
namespace {

TEST(Claims, VerdictFollowsFromTheConditionAndItsReason) {
    EXPECT_EQ(judged({}, true).verdict, Verdict::kHolds);
    EXPECT_EQ(judged({}, true, "by one reading").verdict, Verdict::kHoldsWithRemark);
    EXPECT_EQ(judged({}, false, "by one reading", "another machine").verdict, Verdict::kGap);
    EXPECT_EQ(judged({}, false, "by one reading", "another machine").remark, "another machine");
    EXPECT_EQ(judged({}, false, "by one reading").verdict, Verdict::kFails);
    EXPECT_EQ(to_string(Verdict::kHoldsWithRemark), "holds with remark");
}

TEST(Claims, EffortShortensButNotToNothing) {
    EXPECT_EQ((Effort{.length = 0.05}.scaled(1000)), 50);
    EXPECT_EQ((Effort{.length = 0.05}.scaled(3)), 1);
    EXPECT_EQ(Effort::full().scaled(8000), 8000);
}

TEST(Samples, MeanAndDeviationOfTheSample) {
    EXPECT_EQ(mean({}), 0);
    EXPECT_EQ(deviation({3}), 0);
    EXPECT_DOUBLE_EQ(mean({1, 2, 3, 4}), 2.5);
    EXPECT_NEAR(deviation({1, 2, 3, 4}), 1.2909944, 1e-6);
    EXPECT_EQ(text_of({1, 2, 3, 4}, 1), "2.5 ± 1.3");
}

TEST(Samples, ComparesSeedBySeed) {
    // Each seed agrees, though the values scatter more than they differ.
    EXPECT_TRUE(clearly_more({11, 101, 1001}, {10, 100, 1000}));
    EXPECT_TRUE(at_least({10, 100, 1000}, {10, 100, 1000}));
    EXPECT_FALSE(clearly_more({10, 100, 1000}, {10, 100, 1000}));
    EXPECT_FALSE(at_least({9, 99, 999}, {10, 100, 1000}));
}

}  // namespace
}  // namespace zbs::claims
