#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "algorithms/claims/huang_adaptive.hpp"

// Adaptive SCOJO [Huang2004, chapters 6 and 7] on workloads a tenth as long: what does not need the full queue.
namespace zbs::claims {
namespace {

constexpr Effort kShort{.seeds = 2, .length = 0.1};

TEST(AdaptiveClaims, ExactOnesHold) {
    const Part part = huang_adaptive_exact(kShort);
    EXPECT_EQ(part.claims.size(), 12u);
    for (const Claim& claim : part.claims)
        EXPECT_EQ(claim.verdict, Verdict::kHolds) << claim.id << ": " << claim.ours << " " << claim.remark;
}

TEST(AdaptiveClaims, NoneFailsAndOrdersHold) {
    std::map<std::string, Claim> claims;
    for (const auto run : {huang_adaptive_levels_1, huang_adaptive_strategies_1, huang_adaptive_workload_2})
        for (Claim& claim : run(kShort).claims) {
            EXPECT_NE(claim.verdict, Verdict::kFails) << claim.id << ": " << claim.ours;
            EXPECT_FALSE(claim.published.empty() || claim.spread.empty() || claim.test.empty()) << claim.id;
            const std::string id = claim.id;
            EXPECT_TRUE(claims.emplace(id, std::move(claim)).second) << id << " is there twice";
        }
    for (const std::string w : {"W1", "W2"})
        for (const std::string& id : {"T16-" + w, "T18-" + w + "-best", "T18-" + w + "-WA", "T21-" + w + "-sum",
                                      "T22-" + w + "-bound", "T23-" + w + "-gang"}) {
            ASSERT_TRUE(claims.contains("scojo-" + id)) << id;
            const Claim& claim = claims.at("scojo-" + id);
            EXPECT_LE(claim.verdict, Verdict::kHoldsWithRemark) << id << ": " << claim.ours << ", " << claim.remark;
        }
}

}  // namespace
}  // namespace zbs::claims
