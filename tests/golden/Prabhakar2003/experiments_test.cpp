#include "studies/experiments/prabhakar_experiments.hpp"
#include "tests/support/source_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>

namespace zbs::experiments {
namespace {

constexpr const char* kRemedy =
    "where the change is meant: build/release/bin/zbs_experiments tests/golden/Prabhakar2003, and look at the "
    "difference";

std::optional<std::string> golden(const std::string& name) {
    std::ifstream in(zbs::test::source_folder() + "/tests/golden/Prabhakar2003/" + name, std::ios::binary);
    if (!in) return std::nullopt;
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

std::vector<std::vector<std::string>> cells_of(const std::string& csv) {
    std::vector<std::vector<std::string>> rows;
    std::stringstream lines(csv);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#')) continue;
        rows.emplace_back();
        std::stringstream cells(line);
        for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
        if (line.ends_with(',')) rows.back().emplace_back();
    }
    return rows;
}

/// Texts equal, or numbers equal to the last digit written.
bool same(const std::string& a, const std::string& b) {
    double x = 0, y = 0;
    const auto whole = [](const std::string& text, double& value) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc() && end == text.data() + text.size();
    };
    if (whole(a, x) && whole(b, y)) return std::abs(x - y) <= 1e-5 * std::max(std::abs(x), std::abs(y));
    return a == b;
}

const std::vector<Experiment>& all() {
    static const std::vector<Experiment> made = deterministic_experiments();
    return made;
}

TEST(Experiments, TablesAreAsCommitted) {
    for (const Experiment& experiment : all()) {
        for (const Table& table : experiment.tables) {
            SCOPED_TRACE(table.name);
            const std::optional<std::string> text = golden(table.name + ".csv");
            ASSERT_TRUE(text) << kRemedy;
            const auto committed = cells_of(*text), made = cells_of(csv_of(table));
            ASSERT_EQ(committed.size(), made.size()) << kRemedy;
            // A mapper that is new is a column that only one side has (and rows of Z1: then the tables are to be made
            // anew).
            for (std::size_t column = 0; column < made[0].size(); ++column) {
                const auto at = std::ranges::find(committed[0], made[0][column]);
                if (at == committed[0].end()) continue;
                const auto other = static_cast<std::size_t>(at - committed[0].begin());
                for (std::size_t row = 1; row < made.size(); ++row)
                    EXPECT_TRUE(same(made[row].at(column), committed[row].at(other)))
                        << made[0][column] << " in row " << row << ": now " << made[row][column] << ", committed "
                        << committed[row][other] << "\n"
                        << kRemedy;
            }
        }
    }
}

TEST(Experiments, PageTellsTheSame) {
    const std::optional<std::string> page = golden("experiments.md");
    ASSERT_TRUE(page) << kRemedy;
    for (const Experiment& experiment : all()) {
        EXPECT_NE(page->find(markdown_of(experiment)), std::string::npos) << experiment.id << ": " << kRemedy;
        for (const Plot& plot : experiment.plots) EXPECT_EQ(golden(plot.name + ".svg"), plot.svg) << kRemedy;
    }
    EXPECT_NE(page->find("## Z7"), std::string::npos);
}

TEST(Experiments, ClaimsHoldThatAreSaidToHold) {
    int asserted = 0;
    for (const Experiment& experiment : all()) {
        for (const Claim& claim : experiment.claims) {
            if (!claim.asserted) continue;
            EXPECT_TRUE(claim.holds) << experiment.id << ": " << claim.text;
            ++asserted;
        }
    }
    EXPECT_GE(asserted, 6);
}

TEST(Experiments, SchedulingTimeIsMeasured) {
    const Experiment z = scheduling_time(64);
    ASSERT_EQ(z.tables[0].rows.size(), 3U);
    EXPECT_EQ(z.tables[0].rows[2][0], "slope");
}

}  // namespace
}  // namespace zbs::experiments
