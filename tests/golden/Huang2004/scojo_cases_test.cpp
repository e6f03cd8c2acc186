#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "studies/claims/huang_scojo.hpp"

namespace zbs::claims {
namespace {

std::map<std::string, Claim> claims_of(const Part& part) {
    std::map<std::string, Claim> claims;
    for (const Claim& claim : part.claims) claims.emplace(claim.id, claim);
    return claims;
}

const std::map<std::string, Claim>& cases() {
    static const std::map<std::string, Claim> claims = claims_of(huang_scojo_cases(Effort::full()));
    return claims;
}

bool holds(const Claim& claim) {
    return claim.verdict == Verdict::kHolds || claim.verdict == Verdict::kHoldsWithRemark;
}

TEST(ScojoExample, EveryClaimHoldsButTheContestedOne) {
    for (const auto& [id, claim] : claims_of(huang_scojo_example({})))
        EXPECT_TRUE(holds(claim) || claim.verdict == Verdict::kContested) << id << ": " << claim.ours;
}

TEST(ScojoCases, CoschedulingBeatsFcfs) {  // T11
    for (const char* id : {"scojo-T11-case1-response", "scojo-T11-case1-relative", "scojo-T11-case1-over-runtime",
                           "scojo-T11-case2-response", "scojo-T11-case2-relative", "scojo-T11-case2-over-runtime",
                           "scojo-T11-case2-total"})
        EXPECT_TRUE(holds(cases().at(id))) << id << ": " << cases().at(id).ours;
}

TEST(ScojoCases, ThreeAtOnceBeatTwo) {  // T12
    for (const char* id : {"scojo-T12-response", "scojo-T12-relative"})
        EXPECT_NE(cases().at(id).ours.find("(-"), std::string::npos) << cases().at(id).ours;
}

TEST(ScojoCases, HaveTheMixOfTheSource) {
    const std::map<int, std::vector<int>> counts{{1, {4, 4, 6, 22}}, {2, {6, 8, 12, 14}}, {3, {4, 8, 8, 20}}};
    const std::map<int, std::vector<int>> bounds{{1, {600, 300, 90}}, {2, {60, 30, 10}}, {3, {60, 30, 10}}};
    for (const auto& [number, expected] : counts) {
        const Workload workload = scojo_case(number, 7);
        std::vector<int> found(4, 0);
        for (const WorkloadJob& job : workload.jobs) {
            std::size_t cls = 0;
            while (cls < 3 && job.runtime <= std::chrono::seconds{bounds.at(number)[cls]}) ++cls;
            ++found[cls];
        }
        EXPECT_EQ(found, expected) << "case " << number;
        EXPECT_TRUE(std::ranges::is_sorted(workload.jobs, {}, [](const WorkloadJob& job) { return job.job.submit; }));
        EXPECT_EQ(workload.jobs, scojo_case(number, 7).jobs);
        EXPECT_NE(workload.jobs, scojo_case(number, 8).jobs);
    }
}

}  // namespace
}  // namespace zbs::claims
