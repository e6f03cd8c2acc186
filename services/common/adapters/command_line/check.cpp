#include "services/common/adapters/command_line/check.hpp"

#include <sys/timex.h>

#include <algorithm>

#include "algorithms/base/duration_text.hpp"

namespace zbs::command_line {

Check check_clock(bool kept, Duration at_most) {
    if (kept) return {"clock", CheckResult::kOk, "kept right, to " + format_duration(at_most), {}};
    return {"clock", CheckResult::kWarn,
            "nothing keeps this machine's clock right; certificates and leases need it within seconds",
            "start a time service (chrony, systemd-timesyncd), or that of the machine that this container runs on"};
}

Check check_clock_of_host() {
    timex state{};
    const bool kept = adjtimex(&state) != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
    return check_clock(kept, Duration{state.maxerror});
}

CheckResult worst_of(const std::vector<Check>& checks) {
    CheckResult worst = CheckResult::kOk;
    for (const Check& check : checks) worst = std::max(worst, check.verdict);
    return worst;
}

}  // namespace zbs::command_line
