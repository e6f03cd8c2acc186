#include <gtest/gtest.h>

#include "studies/claims/shmueli_los.hpp"

namespace zbs::claims {
namespace {

TEST(PolicyClaims, NoneFails) {
    for (const Claim& claim : shmueli_policies({.seeds = 8, .length = 0.3}).claims)
        EXPECT_NE(claim.verdict, Verdict::kFails) << claim.id << ": " << claim.ours;
}

TEST(PolicyClaims, TheExampleHolds) {
    for (const Claim& claim : shmueli_example({}).claims)
        EXPECT_EQ(claim.verdict, Verdict::kHolds) << claim.id << ": " << claim.ours;
}

TEST(PolicyClaims, PromisesAreKept) {
    for (const Claim& claim : shmueli_policies({.seeds = 2, .length = 0.1}).claims) {
        if (claim.id == "LOS-6" || claim.id == "LOS-4") {
            EXPECT_EQ(claim.verdict, Verdict::kHolds) << claim.id << ": " << claim.ours;
        }
    }
}

}  // namespace
}  // namespace zbs::claims
