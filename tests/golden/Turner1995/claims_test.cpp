#include "tests/golden/Turner1995/claims.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace zbs::turner {
namespace {

constexpr const char* kRemedy =
    "where the change is meant: build/release/bin/zbs_turner_claims tests/golden/Turner1995, and look at the "
    "difference";

std::string golden(const std::string& name) {
    std::ifstream in(ZBS_SOURCE_DIR "/tests/golden/Turner1995/" + name, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

TEST(TurnerClaims, FigureOfTheConstantWorkloadIsAsCommitted) {
    const Part part = constant_workload({});
    ASSERT_FALSE(part.files.empty());
    for (const File& file : part.files) EXPECT_EQ(golden(file.name), file.text) << file.name << ": " << kRemedy;
    const std::string page = golden("README.md");
    for (const Claim& claim : part.claims) {
        EXPECT_NE(page.find("| " + claim.ours + " | " + claim.spread + " | " + claim.verdict + " |"), std::string::npos)
            << claim.id << ": " << kRemedy;
        EXPECT_NE(claim.verdict, "fails") << claim.id;
    }
}

/// One row of the large table, made anew.
TEST(TurnerClaims, ACellOfTheIntervalsIsAsCommitted) {
    const Saturation cell = saturation({.intervals = {{1, 8, .5}, {17, 32, .5}}}, 10, {});
    char row[128];
    std::snprintf(row, sizeof row, "\n[1;8]/[17;32] A=0.5,%.3f,", mean(cell.fl_load));
    EXPECT_NE(golden("saturation_intervals.csv").find(row), std::string::npos) << row << kRemedy;
    EXPECT_GT(mean(cell.afl_load), mean(cell.fl_load));
    EXPECT_GT(mean(cell.afl_utilization), mean(cell.fl_utilization));
}

TEST(TurnerClaims, NoClaimOfThePageFails) {
    const std::string page = golden("README.md");
    EXPECT_EQ(page.find("| fails |"), std::string::npos);
    EXPECT_NE(page.find("| contested |"), std::string::npos);
}

}  // namespace
}  // namespace zbs::turner
