#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "studies/claims/huang_adaptive.hpp"
#include "studies/claims/report.hpp"
#include "tests/support/source_folder.hpp"

// Adaptive SCOJO [Huang2004, chapters 6 and 7]: whole workloads of the first seed, what needs no seeds, and the
// committed page of all claims. The claims themselves are computed anew on workloads a tenth as long.
namespace zbs::claims {
namespace {

constexpr Effort kShort{.seeds = 2, .length = 0.1};
constexpr const char* kRemedy =
    "where the change is meant: zbs-studies claims --source Huang2004 --directory DIR, look at the difference, and "
    "copy "
    "DIR/Huang2004 here";

std::string golden(const std::string& name) {
    std::ifstream in(zbs::test::source_folder() + "/tests/golden/Huang2004/" + name, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

TEST(AdaptiveClaims, WholeWorkloadsOfTheFirstSeedAreAsCommitted) {
    const File table = huang_adaptive_table({});
    EXPECT_EQ(golden(table.name), table.text) << kRemedy;
}

TEST(AdaptiveClaims, ExactOnesAreAsCommitted) {
    const Part part = huang_adaptive_exact({});
    const std::string page = golden("claims.md");
    EXPECT_EQ(part.claims.size(), 14u);
    for (const Claim& claim : part.claims) {
        EXPECT_LE(claim.verdict, Verdict::kHoldsWithRemark) << claim.id << ": " << claim.ours << " " << claim.remark;
        EXPECT_NE(page.find(claim_row(claim)), std::string::npos) << claim.id << ": " << kRemedy;
    }
}

TEST(AdaptiveClaims, OrdersHoldOnShortWorkloads) {
    std::map<std::string, Claim> claims;
    const std::string page = golden("claims.md");
    for (const auto run : {huang_adaptive_levels_1, huang_adaptive_strategies_1, huang_adaptive_workload_2})
        for (Claim& claim : run(kShort).claims) {
            EXPECT_FALSE(claim.published.empty() || claim.spread.empty()) << claim.id;
            EXPECT_NE(page.find("\n| " + claim.id + " |"), std::string::npos) << claim.id << ": " << kRemedy;
            const std::string id = claim.id;
            EXPECT_TRUE(claims.emplace(id, std::move(claim)).second) << id << " is there twice";
        }
    for (const std::string w : {"W1", "W2"})
        for (const std::string& id :
             {"T16-" + w, "T18-" + w + "-best", "T18-" + w + "-WA", "T22-" + w + "-bound", "T23-" + w + "-gang"}) {
            ASSERT_TRUE(claims.contains("scojo-" + id)) << id;
            const Claim& claim = claims.at("scojo-" + id);
            EXPECT_LE(claim.verdict, Verdict::kHoldsWithRemark) << id << ": " << claim.ours << ", " << claim.remark;
        }
}

/// What differs at full length: a change of this list is a change of what we say of the source.
const std::set<std::string> kDiffer{"scojo-7-4-W1-long",        "scojo-7-4-W1-malleable",
                                    "scojo-7-4-W1-moldable",    "scojo-7-4-W1-moldable-easy",
                                    "scojo-7-4-W1-rigid",       "scojo-7-4-W1-rigid-easy",
                                    "scojo-7-4-W1-short",       "scojo-7-4-W1-short-easy",
                                    "scojo-7-4-W2-malleable",   "scojo-7-4-W2-malleable-easy",
                                    "scojo-7-4-W2-rigid",       "scojo-7-4-W2-rigid-easy",
                                    "scojo-7-5-W1-fcfs",        "scojo-7-5-W1-pri-b-wa-fa",
                                    "scojo-7-5-W2-fcfs",        "scojo-7-5-W2-fcfs-b",
                                    "scojo-7-5-W2-pri-b-wa-fa", "scojo-7-5-W2-pri-wa-fa",
                                    "scojo-7-7-W2-pri-b-wa",    "scojo-7-W1-pri-b",
                                    "scojo-7-W1-pri-b-fa",      "scojo-7-W1-pri-b-fa-easy",
                                    "scojo-7-W1-pri-b-wa-fa",   "scojo-7-W1-pri-b-wa-fa-1",
                                    "scojo-7-W2-pri-b-wa-fa-1", "scojo-7-W2-pri-b-wa-fa-1-easy",
                                    "scojo-7-W2-pri-b-wa-fa-2", "scojo-T14-W1-formula",
                                    "scojo-T16-W2-factor",      "scojo-T17-W2-easy",
                                    "scojo-T18-W1-B-poor",      "scojo-T18-W1-PRI-poor",
                                    "scojo-T18-W2-B-poor",      "scojo-T18-W2-FA-poor",
                                    "scojo-T18-W2-PRI-poor",    "scojo-T19-W1",
                                    "scojo-T19-W1-easy",        "scojo-T19-W2",
                                    "scojo-T19-W2-easy",        "scojo-T20-W1",
                                    "scojo-T20-W1-easy",        "scojo-T24-W1-fragmentation",
                                    "scojo-T24-W1-order",       "scojo-T24-W2-fragmentation",
                                    "scojo-T24-W2-order"};

TEST(AdaptiveClaims, PageHasEveryClaimOnceAndThoseThatDifferAreThese) {
    std::istringstream lines(golden("claims.md"));
    std::set<std::string> ids, differ;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| scojo-")) continue;
        const std::string id = line.substr(2, line.find(' ', 2) - 2);
        EXPECT_TRUE(ids.insert(id).second) << id << " is there twice";
        const bool adaptive = !id.starts_with("scojo-T11-") && !id.starts_with("scojo-T12-");
        const bool differs = line.find("| gap |") != std::string::npos ||
                             line.find("| contested |") != std::string::npos ||
                             line.find("| fails |") != std::string::npos;
        if (adaptive && differs) differ.insert(id);
    }
    EXPECT_EQ(differ, kDiffer);
    for (int number = 2; number <= 25; ++number) {
        if (number > 8 && number < 14) continue;  // of SCOJO without adaptation
        const std::string prefix = "scojo-T" + std::to_string(number);
        const auto found = ids.lower_bound(prefix);
        const bool there = found != ids.end() && (*found == prefix || found->starts_with(prefix + "-"));
        EXPECT_TRUE(there || ids.lower_bound(prefix + "-")->starts_with(prefix + "-")) << prefix;
    }
}

}  // namespace
}  // namespace zbs::claims
