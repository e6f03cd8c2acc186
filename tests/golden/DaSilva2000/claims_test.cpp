#include <gtest/gtest.h>

#include <set>

#include "studies/claims/claim.hpp"

namespace zbs::claims {
namespace {

TEST(GangClaims, TheoremsHoldAtAnyLength) {
    const std::set<std::string> theorems{"DaSilva-C1", "DaSilva-C4",  "DaSilva-C6",
                                         "DaSilva-C8", "DaSilva-C35", "DaSilva-C36"};
    std::set<std::string> held;
    for (const Study& study : studies()) {
        if (study.source != "DaSilva2000") continue;
        for (const Claim& claim : study.run(Effort::quick()).claims) {
            if (!theorems.contains(claim.id)) continue;
            EXPECT_EQ(claim.verdict, Verdict::kHolds) << claim.id << ": " << claim.ours;
            held.insert(claim.id);
        }
    }
    EXPECT_EQ(held, theorems);
}

}  // namespace
}  // namespace zbs::claims
