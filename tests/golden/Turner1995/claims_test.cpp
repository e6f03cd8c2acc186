#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "studies/claims/report.hpp"
#include "studies/claims/turner_allocation.hpp"
#include "tests/support/source_folder.hpp"

namespace zbs::claims {
namespace {

constexpr const char* kRemedy =
    "where the change is meant: zbs-studies claims --source Turner1995 --directory DIR, look at the difference, and "
    "copy DIR/Turner1995 here";

std::string golden(const std::string& name) {
    std::ifstream in(zbs::test::source_folder() + "/tests/golden/Turner1995/" + name, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

TEST(TurnerClaims, FigureOfTheConstantWorkloadIsAsCommitted) {
    const Part part = turner_constant_workload({});
    ASSERT_FALSE(part.files.empty());
    for (const File& file : part.files) EXPECT_EQ(golden(file.name), file.text) << file.name << ": " << kRemedy;
    const std::string page = golden("claims.md");
    for (const Claim& claim : part.claims) {
        EXPECT_NE(page.find(claim_row(claim)), std::string::npos) << claim.id << ": " << kRemedy;
        EXPECT_NE(claim.verdict, Verdict::kFails) << claim.id;
    }
}

/// One row of the large table, made anew.
TEST(TurnerClaims, ACellOfTheIntervalsIsAsCommitted) {
    const Saturation cell = saturation({.intervals = {{1, 8, .5}, {17, 32, .5}}}, 10, {});
    const std::string row = "\n[1;8]/[17;32] A=0.5," + number(mean(cell.fl_load), 3) + ",";
    EXPECT_NE(golden("saturation_intervals.csv").find(row), std::string::npos) << row << kRemedy;
    EXPECT_GT(mean(cell.afl_load), mean(cell.fl_load));
    EXPECT_GT(mean(cell.afl_utilization), mean(cell.fl_utilization));
}

}  // namespace
}  // namespace zbs::claims
