#include "services/common/adapters/command_line/check.hpp"

#include <algorithm>

namespace zbs::command_line {

CheckResult worst_of(const std::vector<Check>& checks) {
    CheckResult worst = CheckResult::kOk;
    for (const Check& check : checks) worst = std::max(worst, check.verdict);
    return worst;
}

}  // namespace zbs::command_line
