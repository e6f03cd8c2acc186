#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What the sources of our algorithms say of them, beside what ours do: each claim is judged by running, and the page
// of all claims is a function of the seeds.
namespace zbs::claims {

enum class Verdict : std::uint8_t {
    kHolds,
    kHoldsWithRemark,  ///< under a reading, or within a bound, that the remark states
    kGap,              ///< ours differs, and the remark says why
    kContested,        ///< the source contradicts itself, or ours contradicts it for a reason that can be shown
    kFails,            ///< ours differs, and nobody knows why
};
/// The word of reports: "holds", "holds with remark", "gap", "contested", "fails".
std::string_view to_string(Verdict verdict);

/// One claim. All texts are plain: reports escape them.
struct Claim {
    std::string id;      ///< of our lists, unique over all sources: "scojo-T1"
    std::string source;  ///< key in REFERENCES.md, and place
    std::string claim;
    std::string published;  ///< where a source prints two values, both
    std::string ours;
    std::string spread;  ///< standard deviation over the seeds; "exact" where nothing is drawn
    Verdict verdict = Verdict::kFails;
    std::string remark;
    std::string test;  ///< path of the test from the root of the project, '#', Suite.Name
};

/// Fills in verdict and remark. Where the claim `holds`, the remark is `remark`, which may be empty; where not, it is
/// `reason`, and without one the claim fails.
Claim judged(Claim claim, bool holds, std::string_view remark = {}, std::string_view reason = {});

/// A table or plot that belongs to a part.
struct File {
    std::string name, text;
};
/// What one study found.
struct Part {
    std::vector<Claim> claims;
    std::vector<File> files;
};

/// How much is run.
struct Effort {
    int seeds = 10;
    /// Times the full lengths (jobs, horizons) where a study can be shortened: 1 is what a report takes.
    double length = 1;

    static Effort full() { return {}; }
    /// For tests: shows that a study runs, and that what does not depend on lengths holds.
    static Effort quick() { return {.seeds = 2, .length = 0.05}; }
    /// `count` shortened, at least `least`.
    std::int64_t scaled(std::int64_t count, std::int64_t least = 1) const;
};

/// Claims that are found together, apart from all others, so that studies can run side by side.
struct Study {
    std::string_view source;  ///< key in REFERENCES.md
    std::string_view name;    ///< what is run, for people who wait
    Part (*run)(const Effort& effort);
    double cost = 1;        ///< CPU seconds of the full effort, roughly: the dearest run first
    bool measures = false;  ///< takes times: to be run alone, after all others
};
/// All studies, by source.
std::span<const Study> studies();

}  // namespace zbs::claims
