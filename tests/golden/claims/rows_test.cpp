#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "studies/experiments/measured_studies.hpp"
#include "studies/experiments/prabhakar_experiments.hpp"
#include "tests/support/source_folder.hpp"

// Every claim, judged again on short runs: each inequality, the verdict and our figures are those of rows.csv. A short
// run says nothing of the source, so rows.csv is no report; it shows that a claim is judged as it was.
namespace zbs::claims {

void PrintTo(const Study& study, std::ostream* out) { *out << study.source << ": " << study.name; }

namespace {

/// Long enough that every figure is defined.
constexpr Effort kShort{.seeds = 2, .length = 0.2};
const std::string kFolder = zbs::test::source_folder() + "/tests/golden/";

/// id,inequalities (1: true),verdict,"ours"
std::string row_of(const Claim& claim) {
    std::string row = claim.id + ",";
    for (const bool condition : claim.conditions) row += condition ? '1' : '0';
    row += "," + std::string(to_string(claim.verdict)) + ",\"";
    for (const char c : claim.ours) row += std::string(c == '"' ? 2 : 1, c);
    return row + "\"";
}

/// Rows of the file by id.
const std::map<std::string, std::string>& committed() {
    static const std::map<std::string, std::string> rows = [] {
        std::map<std::string, std::string> found;
        std::ifstream file(kFolder + "claims/rows.csv");
        for (std::string line; std::getline(file, line);)
            if (!line.starts_with('#') && !line.starts_with("id,")) found.emplace(line.substr(0, line.find(',')), line);
        return found;
    }();
    return rows;
}

/// The times that were once measured for Z7: those of another run are others.
std::vector<experiments::SchedulingTimes> measured_times() {
    std::ifstream file(kFolder + "Prabhakar2003/z7_scheduling_time.csv");
    std::vector<experiments::SchedulingTimes> times;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#') || line.starts_with("tasks") || line.starts_with("slope")) continue;
        std::stringstream cells(line);
        std::string tasks, product, cell;
        std::getline(std::getline(cells, tasks, ','), product, ',');
        times.push_back(
            {.tasks = std::stoi(tasks), .processors = std::stoi(product) / std::stoi(tasks), .seconds = {}});
        while (std::getline(cells, cell, ','))
            times.back().seconds.push_back(cell.empty() ? std::nullopt : std::optional(std::stod(cell)));
    }
    return times;
}

std::vector<Study> all_studies() {
    std::vector<Study> all;
    for (const std::span<const Study> some : {experiments::studies(), studies()})
        for (const Study& study : some)
            if (!study.measures) all.push_back(study);
    all.push_back({"Prabhakar2003", "Z7: scheduling time",
                   [](const Effort&) { return part_of(experiments::scheduling_time(measured_times())); }});
    all.push_back({"Turner1995", "time of an allocation", [](const Effort&) {
                       return Part{.claims = {allocation_time_claim({1.5, 2.5})}, .files = {}};
                   }});
    return all;
}

/// For mutation.py: ZBS_NEGATED is the place of an inequality to negate in every claim, or "ID:PLACE" in one. With
/// TEST_TMPDIR the rows are also written to a file there.
void negate_as_asked() {
    const char* const asked = std::getenv("ZBS_NEGATED");
    if (asked == nullptr) return;
    const std::string text(asked);
    const std::size_t colon = text.rfind(':');
    const std::string id = colon == std::string::npos ? "" : text.substr(0, colon);
    const std::size_t place = std::stoul(colon == std::string::npos ? text : text.substr(colon + 1));
    set_judging_hook([id, place](const Claim& claim, std::vector<bool>& conditions) {
        if ((id.empty() || id == claim.id) && place < conditions.size()) conditions[place] = !conditions[place];
    });
}

/// Whether printf made a number of no number.
bool has_nan(const std::string& text) {
    static const std::regex pattern("(^|[^a-z])(nan|inf)([^a-z]|$)");
    return std::regex_search(text, pattern);
}

class ClaimRows : public testing::TestWithParam<Study> {};

TEST_P(ClaimRows, AreAsCommitted) {
    negate_as_asked();
    const Part part = GetParam().run(kShort);
    std::ofstream found;
    if (const char* const folder = std::getenv("TEST_TMPDIR"))
        found.open(std::string(folder) + "/claims_rows.csv", std::ios::app);
    for (const Claim& claim : part.claims) {
        const std::string row = row_of(claim);
        found << row << "\n";
        EXPECT_FALSE(claim.conditions.empty()) << claim.id << " is not judged by anything";
        EXPECT_FALSE(has_nan(row)) << row;
        const auto known = committed().find(claim.id);
        EXPECT_EQ(known == committed().end() ? "" : known->second, row)
            << "if the change is meant, put the new row into tests/golden/claims/rows.csv";
    }
    for (const File& file : part.files) EXPECT_FALSE(has_nan(file.text)) << file.name;
}

INSTANTIATE_TEST_SUITE_P(Studies, ClaimRows, testing::ValuesIn(all_studies()), [](const auto& study) {
    std::string name(study.param.source);
    for (const char c : study.param.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return name;
});

TEST(ClaimRowsFile, HasEveryClaimOnce) { EXPECT_EQ(committed().size(), 312U); }

}  // namespace
}  // namespace zbs::claims
