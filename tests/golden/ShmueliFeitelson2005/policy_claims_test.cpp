#include <gtest/gtest.h>

#include <set>

#include "studies/claims/shmueli_los.hpp"

namespace zbs::claims {
namespace {

/// The load is that of the generated workloads; the source scaled that of logs.
TEST(PolicyClaims, OnlyThoseAboutLosAndDynamicBackfillingFail) {
    const std::set<std::string> known{"LOS-9", "LOS-10", "LOS-11"};
    for (const Claim& claim : shmueli_policies({.seeds = 8, .length = 0.3}).claims)
        EXPECT_TRUE(claim.verdict != Verdict::kFails || known.contains(claim.id)) << claim.id << ": " << claim.ours;
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
