#include "client/cli/zones/doctor_checks.hpp"

#include "algorithms/base/duration_text.hpp"
#include "services/common/codec/peering_codec.hpp"

namespace zbs::cli {
namespace {

using codec::Json;
using listing::harmless_line;

/// The word after `mark`; empty where there is none.
std::string word_after(const std::string& text, const std::string& mark) {
    const std::size_t at = text.find(mark);
    if (at == std::string::npos) return {};
    const std::size_t begin = text.find_first_not_of(" \t", at + mark.size());
    if (begin == std::string::npos) return {};
    return text.substr(begin, text.find_first_of(" \t\r\n", begin) - begin);
}

}  // namespace

Check check_unusable(const Error& fault) {
    const std::string place = fault.pointer.empty() ? "" : fault.pointer + ": ";
    if (const std::size_t at = fault.message.find("; run"); at != std::string::npos)
        return {"credentials", CheckResult::kFail, place + fault.message.substr(0, at), fault.message.substr(at + 2)};
    return {"credentials", CheckResult::kFail, place + fault.message,
            "get a word from your operator and run 'zbs login --code WORD'"};
}

Check check_lifetime(std::optional<Duration> left) {
    constexpr Duration kSoon = std::chrono::hours{24};
    if (!left) return {"certificate", CheckResult::kOk, "a proxy is used; its home zone checks its life", {}};
    if (*left <= Duration{0})
        return {"certificate", CheckResult::kFail, "has ended",
                "ask your operator for a new word, then run 'zbs login --code WORD'"};
    const std::string text = "ends in " + format_duration(*left);
    if (*left < kSoon) return {"certificate", CheckResult::kWarn, text, "run 'zbs login --renew'"};
    return {"certificate", CheckResult::kOk, text, {}};
}

Check check_home_clock(Duration ahead, Duration exact) {
    constexpr Duration kTolerated = std::chrono::seconds{10};
    const Duration apart = std::chrono::abs(ahead);
    if (apart <= kTolerated + exact)
        return {"home clock",
                CheckResult::kOk,
                "the home zone's agrees with this machine's, to " + format_duration(exact),
                {}};
    return {"home clock", CheckResult::kWarn,
            "this machine is " + format_duration(apart) + (ahead > Duration{0} ? " ahead of" : " behind") +
                " the home zone; new certificates may count as not yet valid, or as over",
            "set the clock that is wrong: 'date -u' here, and ask the zone's operator for the same"};
}

Check check_version(const std::string& said) {
    constexpr const char* kOurs = "1";
    if (said == kOurs) return {"version", CheckResult::kOk, "the home zone speaks version 1 of the interface", {}};
    return {"version", CheckResult::kFail,
            "the home zone speaks version '" + harmless_line(said) + "' of the interface, this program 1",
            "install the 'zbs' of the release that your zone runs"};
}

std::vector<Check> check_peers(const Json& peerings) {
    std::vector<Check> checks;
    for (const codec::PeerView& peer : codec::decode_peerings_view(peerings).peers) {
        const std::string &state = peer.outbound, &reason = peer.reason, &condition = peer.state;
        const std::string name = "peer " + peer.zone;
        const auto age_s = static_cast<std::int64_t>(peer.age_s.value_or(0));
        const std::string age =
            age_s >= 1 ? " (as of " + format_duration(std::chrono::seconds{age_s}) + " ago)" : std::string{};
        const bool is_well = condition.empty() || condition == "up" || condition == "unknown";
        if (state == "accepted" && !is_well)
            checks.push_back({name, CheckResult::kWarn, condition + (reason.empty() ? "" : ": " + reason) + age,
                              "'zbs zone list' shows since when; its operator can mend it"});
        else if (state == "accepted")
            checks.push_back({name, CheckResult::kOk, "takes users of your organisation" + age, {}});
        else
            checks.push_back({name, CheckResult::kWarn,
                              "does not take users of your organisation: " + (state.empty() ? "never asked" : state) +
                                  (reason.empty() ? "" : ", " + reason) + age,
                              "its operator settles that with 'zbs peer accept ORGANISATION'"});
    }
    if (checks.empty())
        checks.push_back({"peers", CheckResult::kWarn, "your home zone knows no other zone; jobs run there only",
                          "the operator enrols it in a registry: 'zbs-zone enrol'"});
    return checks;
}

std::string mpi_version(const std::string& printed) {
    if (printed.find("HYDRA") != std::string::npos) return "MPICH (Hydra) " + word_after(printed, "Version:");
    for (const char* mark : {"(OpenRTE)", "(Open MPI)", "(PRRTE)"})
        if (printed.find(mark) != std::string::npos) return "Open MPI " + word_after(printed, mark);
    return printed.substr(0, printed.find('\n'));
}

}  // namespace zbs::cli
