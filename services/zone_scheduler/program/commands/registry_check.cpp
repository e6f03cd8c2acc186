#include "services/zone_scheduler/program/commands/registry_check.hpp"

#include "algorithms/base/duration_text.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs::zone_program {

using command_line::Check;
using command_line::CheckResult;

std::optional<Check> check_registry(const codec::Json& answer) {
    std::optional<codec::RegistryStanding> registry = codec::decode_registry_standing(answer);
    if (!registry) return std::nullopt;
    const std::string& url = registry->url;
    std::string& reason = registry->reason;
    if (constexpr std::string_view kUrl = "at /url: "; reason.starts_with(kUrl))  // of the entry that this zone sends
        reason.replace(0, kUrl.size(), "'advertise' of this zone: ");
    if (const std::optional<RivalClaim>& rival = registry->rival) {
        const std::string who = printable_text(rival->zone + " at " + rival->url, 1'024);
        return Check{"registry", CheckResult::kFail,
                     "another scheduler claims this zone: " + who + ", last " +
                         format_duration(std::chrono::round<std::chrono::seconds>(rival->age)) + " ago",
                     "stop one of the two, or make another key and name for it; no restart is needed here"};
    }
    const std::string clocks =
        registry->clock_ahead == Duration{0}
            ? std::string{}
            : "; " + clock_difference_text("the registry",
                                           std::chrono::round<std::chrono::seconds>(registry->clock_ahead),
                                           "this zone's");
    if (registry->enrolled)
        return Check{"registry", clocks.empty() ? CheckResult::kOk : CheckResult::kWarn, "enrolled at " + url + clocks,
                     clocks.empty() ? "" : "compare 'date -u' on both machines"};
    if (reason.empty())
        return Check{"registry", CheckResult::kWarn, "no answer yet from " + url + clocks,
                     "ask again in a few seconds"};
    // Another code helps against one refusal only, in the registry's own words.
    const bool is_code = reason.find("this code does not work") != std::string::npos;
    return Check{"registry", CheckResult::kFail, "not enrolled at " + url + ": " + reason + clocks,
                 is_code           ? "get another code from the registry's operator for 'zbs-zone enrol'"
                 : !clocks.empty() ? "compare 'date -u' on both machines, and set the wrong clock"
                                   : "mend the reason; this zone then enrols by itself"};
}

}  // namespace zbs::zone_program
