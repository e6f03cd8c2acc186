#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What the sources of our algorithms say of them, beside what ours do: each claim is judged by running, and the page
// of all claims is a function of the seeds.
namespace zbs::claims {

enum class Verdict : std::uint8_t {
    kHolds,
    kHoldsWithRemark,  ///< under a reading, or within a bound, that the remark states
    kGap,              ///< ours differs, and the check of a reason passes
    kContested,        ///< the source contradicts itself, or ours contradicts it, and the check of that passes
    kInput,            ///< a value that was fitted to the source or copied from it: no evidence
    kNotTestable,      ///< the run has no figures to judge by
    kFails,            ///< ours differs, and no check explains it
};
/// The word of reports: "holds", "holds with remark", "gap", "contested", "input", "not testable", "fails".
std::string_view to_string(Verdict verdict);

/// The inequalities of a claim, each true if ours agrees. A claim holds if all do.
struct Conditions {
    std::vector<bool> each;
    Conditions(bool one = false) : each{one} {}                          // NOLINT(google-explicit-constructor)
    Conditions(std::initializer_list<bool> several) : each(several) {}   // NOLINT(google-explicit-constructor)
    Conditions(std::vector<bool> several) : each(std::move(several)) {}  // NOLINT(google-explicit-constructor)
    bool all() const;
    bool any() const;
};

/// Outcome of the check of a reason: figures for people, and whether they support the reason.
struct Evidence {
    std::string figures;
    bool passes = false;
};
/// Why ours may differ from a source, with a check that is computed.
struct Reason {
    std::string name;                         ///< of the check: "slots filled"
    std::string statement;                    ///< the explanation; true if the check passes
    std::function<Evidence()> evaluate = {};  ///< called only if the claim does not hold; empty: there is no reason
    Verdict verdict = Verdict::kGap;          ///< if the check passes: kGap or kContested
};
/// A reason that was checked.
struct ReasonTest {
    std::string name, figures;
    bool passes = false;
};

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
    std::string see;  ///< test of the same rule elsewhere: path from the root of the project, '#', Suite.Name; or empty
    std::vector<bool> conditions = {};  ///< as judged
    std::optional<ReasonTest> reason_test = {};
};
/// The test that judges every claim again: path from the root of the project, '#', Suite.Name.
constexpr std::string_view kRowTest = "tests/golden/claims/rows_test.cpp#ClaimRows.AreAsCommitted";

/// Fills in verdict and remark. If the claim does not hold and the check of `reason` passes, the verdict is that of the
/// reason; else it fails. Figures that are undefined (a quotient of nothing) make a claim that does not hold not
/// testable.
Claim judged(Claim claim, Conditions conditions, std::string_view remark = {}, const Reason& reason = {});
/// The same for a value that was fitted or copied: "input" where it would hold.
Claim judged_input(Claim claim, Conditions conditions, std::string_view remark);

/// For tests: is called by `judged` before a verdict, and may change the conditions. Set it while no study runs.
using JudgingHook = std::function<void(const Claim& claim, std::vector<bool>& conditions)>;
void set_judging_hook(JudgingHook hook);

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
    bool is_quick = false;  ///< too short to judge by

    static Effort full() { return {}; }
    /// For tests: shows that a study runs, and that what does not depend on lengths holds.
    static Effort quick() { return {.seeds = 2, .length = 0.05, .is_quick = true}; }
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
