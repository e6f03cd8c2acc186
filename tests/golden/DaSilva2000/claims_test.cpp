#include "tests/golden/DaSilva2000/claims.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace zbs::claims {
namespace {

std::string golden(const std::string& name) {
    std::ifstream in(ZBS_SOURCE_DIR "/tests/golden/DaSilva2000/" + name, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

TEST(GangClaims, QuickReportIsAsCommittedToTheByte) {
    const Report report = make_report(Effort::quick());
    EXPECT_EQ(whole_text_of(report, Effort::quick()), golden("quick.md"))
        << "where the change is meant: build/release/bin/zbs_gang_claims tests/golden/DaSilva2000 quick, and the same "
           "without quick; look at the difference";
    for (const Claim& claim : report.claims) {
        // These do not depend on how long is simulated.
        for (const char* theorem : {"C1", "C4", "C6", "C8", "C35", "C36"})
            EXPECT_TRUE(claim.id != theorem || claim.verdict == "holds") << claim.id << ": " << claim.ours;
    }
}

TEST(GangClaims, PageHasEveryClaimOnce) {
    const std::string page = golden("README.md");
    for (int id = 1; id <= 36; ++id) {
        const std::string row = "\n| C" + std::to_string(id) + " |";
        const std::size_t at = page.find(row);
        ASSERT_NE(at, std::string::npos) << row;
        EXPECT_EQ(page.find(row, at + 1), std::string::npos) << row;
    }
}

// A claim that does not hold says why.
TEST(GangClaims, EveryGapHasItsReason) {
    std::istringstream lines(golden("README.md"));
    int rows = 0;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| C")) continue;
        ++rows;
        const bool holds = line.find("| holds |") != std::string::npos;
        EXPECT_EQ(holds, line.ends_with("|  |")) << line;
    }
    EXPECT_EQ(rows, 36);
}

}  // namespace
}  // namespace zbs::claims
