#pragma once
#include <string>
#include <vector>

/// What a command that looks for faults ("doctor") has found.
namespace zbs::command_line {

enum class Verdict { kOk, kWarn, kFail };
std::string to_string(Verdict verdict);  ///< "ok", "warn", "fail"

struct Check {
    std::string name;  ///< "certificate"
    Verdict verdict = Verdict::kOk;
    std::string found;
    std::string remedy;  ///< what to do; empty where all is well
};

/// The worst of them; kOk of none.
Verdict worst_of(const std::vector<Check>& checks);

}  // namespace zbs::command_line
