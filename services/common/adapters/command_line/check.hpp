#pragma once
#include <string>
#include <vector>

#include "algorithms/base/time.hpp"
#include "algorithms/base/words.hpp"
#include "services/common/listing/rows.hpp"

/// What a command that looks for faults ("doctor") has found.
namespace zbs::command_line {

using zbs::to_string;

enum class CheckResult { kOk, kWarn, kFail };
constexpr auto words_of(CheckResult) { return std::array{"ok", "warn", "fail"}; }

struct Check {
    std::string name;  ///< "certificate"
    CheckResult verdict = CheckResult::kOk;
    std::string found;
    std::string remedy;  ///< what to do; empty where all is well
};

/// Whether the kernel believes this clock to be kept right, and by how much it may be wrong at most.
Check check_clock(bool kept, Duration at_most);
Check check_clock_of_host();

/// The worst of them; kOk of none.
CheckResult worst_of(const std::vector<Check>& checks);

listing::Listing listing_of(const std::vector<Check>& checks);

/// For people: a line a check, with what to do below it. Nothing in it drives a terminal but the colour of the
/// verdicts, where `has_colour`.
std::string text_of(const std::vector<Check>& checks, bool has_colour);

}  // namespace zbs::command_line
