#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "studies/claims/claim.hpp"

// Claims as texts for people. O(size of the claims and files).
namespace zbs::claims {

/// What was found, by source.
struct SourceReport {
    std::string_view source;  ///< key in REFERENCES.md
    std::vector<Claim> claims;
    std::vector<File> files;
    /// By claim, figures and verdict of a run at the horizons of the source; empty: there is none.
    std::map<std::string, std::string> long_runs = {};
    std::string made = {};  ///< which command, commit and date they are of
};
/// The parts of `studies`, in their order, by source. Precondition: as many parts as studies.
std::vector<SourceReport> by_source(std::span<const Study> studies, std::vector<Part> parts);

/// Adds the long runs of a table that scripts/studies made: id, figures, verdict and more in CSV.
void add_long_runs(SourceReport& report, std::string_view csv);

/// Makes every claim "not testable", as after a quick run.
void withhold_verdicts(std::vector<SourceReport>& reports);

/// A row of `claims_page`.
std::string claim_row(const Claim& claim);
/// The claims of one source as a page in Markdown, with links to its files beside it.
std::string claims_page(const SourceReport& report, const Effort& effort);

/// All claims on one page: counts by source and verdict, a table a source, plots and links to the tests, which are
/// looked for below `root` (a path or address without a slash at its end). Needs nothing from elsewhere.
std::string claims_html(std::span<const SourceReport> reports, const Effort& effort, std::string_view root);

}  // namespace zbs::claims
