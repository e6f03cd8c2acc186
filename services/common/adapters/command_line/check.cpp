#include "services/common/adapters/command_line/check.hpp"

#include <sys/timex.h>

#include <algorithm>

#include "algorithms/base/duration_text.hpp"
#include "services/common/adapters/command_line/check_codec.hpp"
#include "services/common/adapters/command_line/terminal.hpp"

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

using listing::harmless_line;

listing::Listing listing_of(const std::vector<Check>& checks) {
    listing::Listing listing{"checks", {"CHECK", "VERDICT", "FOUND", "REMEDY"}};
    for (const Check& check : checks) {
        listing.rows.push_back({check.name, to_string(check.verdict), check.found, check.remedy});
        listing.items.push_back(encode(check));
    }
    return listing;
}

std::string text_of(const std::vector<Check>& checks, bool has_colour) {
    std::string text;
    for (const Check& check : checks) {
        const Colour colour = check.verdict == CheckResult::kOk     ? Colour::kGreen
                              : check.verdict == CheckResult::kWarn ? Colour::kYellow
                                                                    : Colour::kRed;
        const std::string word = to_string(check.verdict);
        text += coloured(word, colour, has_colour) + std::string(6 - word.size(), ' ') + harmless_line(check.name) +
                ": " + harmless_line(check.found) + "\n";
        if (!check.remedy.empty()) text += "      -> " + harmless_line(check.remedy) + "\n";
    }
    return text;
}

}  // namespace zbs::command_line
