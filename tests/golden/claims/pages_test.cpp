#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "studies/claims/dasilva_packing.hpp"
#include "studies/claims/report.hpp"
#include "tests/support/source_folder.hpp"

// The committed pages of all claims at full length.
namespace zbs::claims {
namespace {

const std::string kPages = zbs::test::source_folder() + "/tests/golden/";

/// Verdict and remark of each claim on the pages.
struct Judgement {
    std::string verdict, remark;
};
std::map<std::string, Judgement> judgements() {
    std::map<std::string, Judgement> all;
    for (const char* source : {"Prabhakar2003", "DaSilva2000", "Huang2004", "ShmueliFeitelson2005", "Turner1995"}) {
        std::ifstream page(kPages + source + "/claims.md");
        for (std::string line; std::getline(page, line);) {
            if (!line.starts_with("| ") || line.starts_with("| id |")) continue;
            std::vector<std::string> cells;
            for (std::size_t at = 2, end = 0; (end = line.find(" | ", at)) != std::string::npos; at = end + 3)
                cells.push_back(line.substr(at, end - at));
            EXPECT_GE(cells.size(), 8U) << line;
            EXPECT_TRUE(all.emplace(cells.at(0), Judgement{cells.at(6), cells.at(7)}).second) << cells.at(0);
        }
    }
    return all;
}

TEST(ClaimPages, HaveTheClaimsOfTheRows) {
    std::set<std::string> on_pages, in_rows;
    for (const auto& [id, judgement] : judgements()) on_pages.insert(id);
    std::ifstream rows(kPages + "claims/rows.csv");
    for (std::string line; std::getline(rows, line);)
        if (!line.starts_with('#') && !line.starts_with("id,")) in_rows.insert(line.substr(0, line.find(',')));
    EXPECT_EQ(on_pages, in_rows);
}

TEST(ClaimPages, EveryGapHasACheckThatPasses) {
    for (const auto& [id, judgement] : judgements()) {
        const bool explained = judgement.remark.find("[check: ") != std::string::npos &&
                               judgement.remark.find("; does not explain the difference]") == std::string::npos;
        EXPECT_EQ(judgement.verdict == "gap" || judgement.verdict == "contested", explained) << id;
    }
}

/// A change of this list is a change of what we say of the sources.
TEST(ClaimPages, ClaimsThatFailAreThese) {
    std::set<std::string> fail;
    for (const auto& [id, judgement] : judgements())
        if (judgement.verdict == "fails") fail.insert(id);
    EXPECT_EQ(fail, (std::set<std::string>{"AFL-16-use",
                                           "DaSilva-C11",
                                           "DaSilva-C17",
                                           "DaSilva-C18",
                                           "DaSilva-C19",
                                           "DaSilva-C21",
                                           "DaSilva-C26",
                                           "DaSilva-C27",
                                           "DaSilva-C29",
                                           "DaSilva-C30",
                                           "DaSilva-C31",
                                           "DaSilva-C9",
                                           "LOS-10",
                                           "LOS-11",
                                           "LOS-9",
                                           "ZBS-Z5.1",
                                           "ZBS-Z5.5",
                                           "ZBS-Z7.3",
                                           "ZBS-Z7.4",
                                           "elmer-21f",
                                           "scojo-7-4-W1-moldable",
                                           "scojo-7-4-W1-moldable-easy",
                                           "scojo-7-7-W2-pri-b-wa",
                                           "scojo-7-W1-pri-b-fa",
                                           "scojo-7-W1-pri-b-fa-easy",
                                           "scojo-T11-case1-backfilling",
                                           "scojo-T11-case1-best-over-runtime",
                                           "scojo-T11-case1-best-relative",
                                           "scojo-T11-case1-best-response",
                                           "scojo-T11-case1-prico",
                                           "scojo-T11-case2-best-response",
                                           "scojo-T12-over-runtime",
                                           "scojo-T12-relative",
                                           "scojo-T12-response",
                                           "scojo-T17-W2-easy",
                                           "scojo-T18-W1-B-poor",
                                           "scojo-T18-W2-B-poor",
                                           "scojo-T18-W2-FA-poor",
                                           "scojo-T19-W1",
                                           "scojo-T19-W1-easy",
                                           "scojo-T19-W2",
                                           "scojo-T19-W2-easy",
                                           "scojo-T24-W1-fragmentation",
                                           "scojo-T24-W1-order",
                                           "scojo-T24-W2-fragmentation",
                                           "scojo-T24-W2-order"}));
}

/// The studies of the tables of long runs that take a second or less.
TEST(LongRuns, AreThoseOfTheCode) {
    std::ifstream table(kPages + "claims/horizons/DaSilva2000.csv");
    SourceReport report;
    add_long_runs(report, std::string(std::istreambuf_iterator<char>(table), {}));
    EXPECT_NE(report.made.find("commit "), std::string::npos) << report.made;
    for (const auto study : {dasilva_static_sets, dasilva_memory})
        for (const Claim& claim : study(Effort::full()).claims)
            EXPECT_EQ(report.long_runs[claim.id], claim.ours + ": " + std::string(to_string(claim.verdict)))
                << claim.id << ": if the change is meant, run scripts/studies again";
}

}  // namespace
}  // namespace zbs::claims
