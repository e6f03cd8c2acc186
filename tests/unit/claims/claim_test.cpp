#include "studies/claims/claim.hpp"

#include <gtest/gtest.h>

#include "studies/claims/dasilva_support.hpp"
#include "studies/claims/report.hpp"
#include "studies/claims/samples.hpp"

namespace zbs::claims {
namespace {

Reason reason(bool passes, Verdict verdict = Verdict::kGap) {
    return {.name = "another machine",
            .statement = "there the value comes out",
            .evaluate =
                [passes] {
                    return Evidence{"7", passes};
                },
            .verdict = verdict};
}

TEST(Claims, VerdictFollowsFromTheConditions) {
    EXPECT_EQ(judged({}, true).verdict, Verdict::kHolds);
    EXPECT_EQ(judged({}, {true, true}, "by one reading").verdict, Verdict::kHoldsWithRemark);
    EXPECT_EQ(judged({}, {true, false}, "by one reading").verdict, Verdict::kFails);
    EXPECT_EQ(judged({}, {true, false}).conditions, (std::vector<bool>{true, false}));
    EXPECT_EQ(to_string(Verdict::kHoldsWithRemark), "holds with remark");
}

TEST(Claims, OnlyAReasonWhoseCheckPassesExplainsADifference) {
    const Claim gap = judged({}, false, "by one reading", reason(true));
    EXPECT_EQ(gap.verdict, Verdict::kGap);
    EXPECT_EQ(gap.remark, "there the value comes out; by one reading");
    ASSERT_TRUE(gap.reason_test);
    EXPECT_EQ(gap.reason_test->figures, "7");
    EXPECT_EQ(judged({}, false, "", reason(true, Verdict::kContested)).verdict, Verdict::kContested);
    const Claim fails = judged({}, false, "", reason(false));
    EXPECT_EQ(fails.verdict, Verdict::kFails);
    EXPECT_FALSE(fails.reason_test.value().passes);
    EXPECT_FALSE(judged({}, true, "", reason(true)).reason_test) << "nothing is to be explained";
}

TEST(Claims, FittedValuesAreInputs) {
    EXPECT_EQ(judged_input({}, true, "fitted").verdict, Verdict::kInput);
    EXPECT_EQ(judged_input({}, false, "fitted").verdict, Verdict::kFails);
}

TEST(Claims, UndefinedFiguresAreNotTestable) {
    const double nothing = mean(ratio({0, 0}, {0, 0}));
    EXPECT_EQ(number(nothing), kUndefined);
    EXPECT_EQ(dasilva::format("%.2f%% of %.1f information", nothing, 1 / 0.0), "undefined% of undefined information");
    EXPECT_EQ(judged({.ours = number(nothing)}, nothing >= 0, "", reason(true)).verdict, Verdict::kNotTestable);
}

TEST(Report, PageShowsLongRunsBesideTheClaims) {
    std::vector<SourceReport> reports{{.source = "x", .claims = {judged({.id = "a"}, true)}, .files = {}}};
    EXPECT_EQ(claims_html(reports, {}, ".").find("horizon of the source"), std::string::npos);
    add_long_runs(reports[0], "# commit 1, 2026-11-27\nid,ours,verdict\na,\"1.5 ± 0.2, \"\"b\"\"\",fails\n");
    const std::string page = claims_html(reports, {}, ".");
    EXPECT_NE(page.find("1.5 ± 0.2, &quot;b&quot;: fails"), std::string::npos) << page;
    EXPECT_NE(page.find("commit 1, 2026-11-27"), std::string::npos);
}

TEST(Report, QuickRunsHaveNoVerdict) {
    std::vector<SourceReport> reports{{.source = "x", .claims = {judged({.id = "a"}, true)}, .files = {}}};
    withhold_verdicts(reports);
    EXPECT_EQ(reports[0].claims[0].verdict, Verdict::kNotTestable);
    EXPECT_NE(claims_page(reports[0], Effort::quick()).find("A quick run"), std::string::npos);
    EXPECT_NE(claims_html(reports, Effort::quick(), ".").find("A quick run"), std::string::npos);
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
