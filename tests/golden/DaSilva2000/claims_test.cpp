#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "studies/claims/report.hpp"
#include "tests/support/source_folder.hpp"

namespace zbs::claims {
namespace {

std::string golden(const std::string& name) {
    std::ifstream in(zbs::test::source_folder() + "/tests/golden/DaSilva2000/" + name, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

SourceReport quick_report() {
    std::vector<Study> chosen;
    for (const Study& study : studies())
        if (study.source == "DaSilva2000") chosen.push_back(study);
    std::vector<Part> parts;
    for (const Study& study : chosen) parts.push_back(study.run(Effort::quick()));
    return by_source(chosen, std::move(parts)).front();
}

TEST(GangClaims, QuickReportIsAsCommittedToTheByte) {
    const SourceReport report = quick_report();
    EXPECT_EQ(claims_page(report, Effort::quick()), golden("quick.md"))
        << "where the change is meant: zbs-studies claims --source DaSilva2000 --quick --directory DIR, and without "
           "--quick; look at the differences, and copy claims.md as quick.md and as claims.md";
    for (const Claim& claim : report.claims)
        // These do not depend on how long is simulated.
        for (const char* theorem :
             {"DaSilva-C1", "DaSilva-C4", "DaSilva-C6", "DaSilva-C8", "DaSilva-C35", "DaSilva-C36"})
            EXPECT_TRUE(claim.id != theorem || claim.verdict == Verdict::kHolds) << claim.id << ": " << claim.ours;
}

TEST(GangClaims, PageHasEveryClaimOnceAndEveryGapItsReason) {
    std::istringstream lines(golden("claims.md"));
    std::set<std::string> ids;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| DaSilva-C")) continue;
        EXPECT_TRUE(ids.insert(line.substr(2, line.find(' ', 2) - 2)).second) << line;
        EXPECT_EQ(line.find("| fails |"), std::string::npos) << line;
    }
    EXPECT_EQ(ids.size(), 36u);
}

}  // namespace
}  // namespace zbs::claims
