#include "services/common/adapters/command_line/check.hpp"

#include <algorithm>

namespace zbs::command_line {

std::string to_string(Verdict verdict) {
    return verdict == Verdict::kOk ? "ok" : verdict == Verdict::kWarn ? "warn" : "fail";
}

Verdict worst_of(const std::vector<Check>& checks) {
    Verdict worst = Verdict::kOk;
    for (const Check& check : checks) worst = std::max(worst, check.verdict);
    return worst;
}

}  // namespace zbs::command_line
