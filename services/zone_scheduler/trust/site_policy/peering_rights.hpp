#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/words.hpp"
#include "services/common/messages/peering.hpp"
#include "services/common/messages/registry.hpp"

namespace zbs {

/// Errors name the field and its bounds; `pointer` + "/ceiling/hours/0" and the like is the place.
Result<void> check_rights(const RightsRange& range, const std::string& pointer = {});

/// Where an organisation's users run; read from `PeeringRights::account_rule`.
struct AccountRule {
    enum class Kind { kMap, kAccount, kPool };
    Kind kind = Kind::kMap;
    std::string name;  ///< of the account or the pool
    bool operator==(const AccountRule&) const = default;
};
Result<AccountRule> parse_account_rule(std::string_view text);

/// The rights at a degree of trust: floor + (ceiling - floor) x trust, rounded down; the rest as in the ceiling.
/// Precondition: 0 <= trust <= 1 and a range that `check_rights` accepts.
PeeringRights effective_rights(const RightsRange& range, double trust);

/// What an organisation has here now.
struct PeeringUsage {
    int processors = 0;
    int parts = 0;
};

/// Whether a part may start at `at`. The *start* must lie in hours and weekdays; the walltime may run past them.
bool allows_start(const PeeringRights& rights, Time at);
/// `from` or the next instant at which a part may start; none where hours and weekdays leave nothing.
std::optional<Time> find_allowed_start(const PeeringRights& rights, Time from);

/// Accepts whoever asks, of these organisations, without the operator.
struct AutomaticRule {
    std::vector<std::string> organisations;  ///< patterns; `*` stands for any letters
    RightsRange rights;
    double initial_trust = 0.5;  ///< 0..1
    std::string fingerprint;     ///< of the one bundle that counts; empty with `trust_on_first_use` only
    std::string bundle;          ///< PEM of that bundle, where the operator has it
    /// The first bundle that claims the organisation's name is believed: weaker, for trying things out.
    bool trust_on_first_use = false;
    bool operator==(const AutomaticRule&) const = default;
};
/// The first rule with a pattern that fits; null where none does.
const AutomaticRule* match_rule(std::span<const AutomaticRule> rules, const OrganisationName& organisation);

/// What may happen to a peering, and through whom.
enum class PeeringAction {
    kPeerRequests,
    kRuleAccepts,
    kOperatorAccepts,
    kOperatorRejects,
    kOperatorSuspends,
    kOperatorResumes,
};
constexpr auto words_of(PeeringAction) {
    return std::array{"the peer's request", "an automatic rule", "accept", "reject", "suspend", "resume"};
}
/// Where the action leads: a repeat stays where it is; a rule never overrides what the operator settled, and asking
/// again lifts no rejection or suspension. Errors: kConflict, naming state and action.
Result<PeeringState> next_state(PeeringState state, PeeringAction action);

}  // namespace zbs
