#include "services/zone_scheduler/trust/site_policy/peering_rights.hpp"

#include <algorithm>
#include <cmath>

#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/trust/site_policy/account_map.hpp"
#include "services/zone_scheduler/trust/site_policy/glob.hpp"

namespace zbs {
namespace {

constexpr std::int64_t kMinute = 60'000'000;
constexpr std::int64_t kDay = 1'440 * kMinute;
constexpr Duration kMaxWalltime = std::chrono::seconds{limits::kMaxWalltimeSeconds};
/// So that 0.29 of 100 is 29, not the 28.999... of the machine.
constexpr double kRounding = 1e-9;

std::int64_t day_of(Time at) {
    const std::int64_t us = to_microseconds(at);
    return us / kDay - (us % kDay < 0 ? 1 : 0);
}
/// 1 January 1970 was a Thursday: bit 3.
bool is_allowed_day(const PeeringRights& rights, std::int64_t day) {
    const std::int64_t weekday = ((day + 3) % 7 + 7) % 7;
    return (rights.weekdays >> weekday & 1) != 0;
}

template <class Number>
Number between(Number floor, Number ceiling, double trust) {
    const double moved = static_cast<double>(ceiling - floor) * trust;
    return std::clamp(static_cast<Number>(floor + static_cast<Number>(std::floor(moved + kRounding))), floor, ceiling);
}

}  // namespace

Result<AccountRule> parse_account_rule(std::string_view text) {
    if (text == "map") return AccountRule{};
    for (const auto& [prefix, kind] : {std::pair{std::string_view{"account:"}, AccountRule::Kind::kAccount},
                                       std::pair{std::string_view{"pool:"}, AccountRule::Kind::kPool}}) {
        if (!text.starts_with(prefix)) continue;
        const std::string_view name = text.substr(prefix.size());
        const bool good = kind == AccountRule::Kind::kPool ? is_valid_name(name) : is_valid_account(name);
        if (good) return AccountRule{kind, std::string(name)};
    }
    return invalid(
        "must be map, account:NAME or pool:NAME, where NAME is a local account or a pool of the account map");
}

Result<void> check_rights(const RightsRange& range, const std::string& pointer) {
    const PeeringRights& top = range.ceiling;
    const auto pair = [&](const char* name, std::int64_t floor, std::int64_t ceiling, std::int64_t most,
                          const std::string& most_text) -> Result<void> {
        if (ceiling < 0 || ceiling > most) return invalid("must be 0 to " + most_text, pointer + "/ceiling/" + name);
        if (floor < 0 || floor > ceiling) return invalid("must be 0 to the ceiling's", pointer + "/floor/" + name);
        return {};
    };
    constexpr int kMax = limits::kMaxRanks;
    if (auto ok = pair("processors", range.floor.processors, top.processors, kMax, std::to_string(kMax)); !ok)
        return ok;
    if (auto ok =
            pair("walltime", range.floor.walltime.count(), top.walltime.count(), kMaxWalltime.count(), "366 days");
        !ok)
        return ok;
    if (auto ok =
            pair("concurrent_parts", range.floor.concurrent_parts, top.concurrent_parts, kMax, std::to_string(kMax));
        !ok)
        return ok;
    const std::string at = pointer + "/ceiling/";
    if (top.hours.size() > limits::kMaxPeeringHours)
        return invalid("must be at most " + std::to_string(limits::kMaxPeeringHours) + " windows", at + "hours");
    for (std::size_t i = 0; i < top.hours.size(); ++i) {
        const DayWindow& window = top.hours[i];
        if (window.begin < 0 || window.begin >= window.end || window.end > 1'440) {
            return invalid("must begin before it ends, in 0 to 1440 minutes; write a night as two windows",
                           at + "hours/" + std::to_string(i));
        }
    }
    if (top.weekdays == 0 || top.weekdays > kEveryWeekday)
        return invalid("must name at least one day of Monday to Sunday; suspend the peering to allow none",
                       at + "weekdays");
    if (top.partitions.size() > limits::kMaxPeeringPartitions) {
        return invalid("must be at most " + std::to_string(limits::kMaxPeeringPartitions) + " names",
                       at + "partitions");
    }
    for (std::size_t i = 0; i < top.partitions.size(); ++i) {
        if (!is_valid_name(top.partitions[i]))
            return invalid("must be 1 to 64 of a-z, 0-9, '.', '_' and '-'", at + "partitions/" + std::to_string(i));
    }
    if (!(top.share >= 0 && top.share <= 1)) return invalid("must be 0 to 1", at + "share");
    if (const auto rule = parse_account_rule(top.account_rule); !rule)
        return invalid(rule.error().message, at + "account_rule");
    return {};
}

PeeringRights effective_rights(const RightsRange& range, double trust) {
    ZBS_EXPECTS(trust >= 0 && trust <= 1);
    ZBS_EXPECTS(range.floor.processors <= range.ceiling.processors && range.floor.walltime <= range.ceiling.walltime &&
                range.floor.concurrent_parts <= range.ceiling.concurrent_parts);
    PeeringRights rights = range.ceiling;
    rights.processors = between(range.floor.processors, range.ceiling.processors, trust);
    rights.walltime = Duration{between(range.floor.walltime.count(), range.ceiling.walltime.count(), trust)};
    rights.concurrent_parts = between(range.floor.concurrent_parts, range.ceiling.concurrent_parts, trust);
    return rights;
}

bool allows_start(const PeeringRights& rights, Time at) { return find_allowed_start(rights, at) == at; }

std::optional<Time> find_allowed_start(const PeeringRights& rights, Time from) {
    static const std::vector<DayWindow> kAllDay = {DayWindow{}};
    const std::vector<DayWindow>& hours = rights.hours.empty() ? kAllDay : rights.hours;
    // Today, or a whole week on where today's window is over.
    for (std::int64_t day = day_of(from), last = day + 7; day <= last; ++day) {
        if (!is_allowed_day(rights, day)) continue;
        std::optional<Time> best;
        for (const DayWindow& window : hours) {
            const Time end = time_from_microseconds(day * kDay + window.end * kMinute);
            const Time start = std::max(from, time_from_microseconds(day * kDay + window.begin * kMinute));
            if (start < end && (!best || start < *best)) best = start;
        }
        if (best) return best;
    }
    return std::nullopt;
}

const AutomaticRule* match_rule(std::span<const AutomaticRule> rules, const OrganisationName& organisation) {
    const auto at = std::find_if(rules.begin(), rules.end(), [&](const AutomaticRule& rule) {
        return std::any_of(rule.organisations.begin(), rule.organisations.end(),
                           [&](const std::string& pattern) { return matches_glob(pattern, organisation); });
    });
    return at == rules.end() ? nullptr : &*at;
}

Result<PeeringState> next_state(PeeringState state, PeeringAction action) {
    using enum PeeringState;
    const auto refused = [&](const char* remedy) {
        return Error{ErrorCode::kConflict,
                     std::string("the peering is ") + to_string(state) + ", which " + to_string(action) +
                         " cannot change; " + remedy,
                     {}};
    };
    switch (action) {
        case PeeringAction::kPeerRequests:
            return state;  // the first request makes the peering; the answer to a repeat is its state
        case PeeringAction::kRuleAccepts:
            if (state == kRequested || state == kAccepted) return kAccepted;
            return refused("the operator settled it and only the operator can accept it");
        case PeeringAction::kOperatorAccepts:
            return kAccepted;
        case PeeringAction::kOperatorRejects:
            return kRejected;
        case PeeringAction::kOperatorSuspends:
            if (state == kAccepted || state == kSuspended) return kSuspended;
            return refused("only an accepted peering can be suspended; reject this one");
        case PeeringAction::kOperatorResumes:
            if (state == kAccepted || state == kSuspended) return kAccepted;
            return refused("only a suspended peering can be resumed; accept this one");
    }
    return refused("start the newer program");
}

}  // namespace zbs
