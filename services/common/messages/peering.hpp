#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/time.hpp"
#include "algorithms/base/words.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/registry.hpp"

namespace zbs {

/// A part of every day, minutes since midnight UTC, half-open, 0 <= begin < end <= 1440. A night is two of them.
struct DayWindow {
    int begin = 0;
    int end = 1440;
    bool operator==(const DayWindow&) const = default;
};

/// Bit 0 is Monday, bit 6 Sunday.
inline constexpr std::uint8_t kEveryWeekday = 0x7f;

/// What the users of one organisation may do in this zone. The default allows nothing: no processors.
struct PeeringRights {
    int processors = 0;                       ///< at once, all parts of the organisation together
    Duration walltime{};                      ///< of one part, at most
    int concurrent_parts = 0;                 ///< waiting, held, committed or running at once
    std::vector<DayWindow> hours;             ///< when parts may start; empty = all day
    std::uint8_t weekdays = kEveryWeekday;    ///< days (UTC) on which parts may start
    std::vector<std::string> partitions;      ///< empty = all
    double share = 1.0;                       ///< 0..1 of the zone's processors, at once
    std::string account_rule = "map";         ///< "map" (the account map decides), "account:NAME" or "pool:NAME"
    bool require_delegation = true;           ///< every part needs its user's delegation
    int overcommit = limits::kMaxOvercommit;  ///< ranks of a part on a processor, as far as the zone allows it
    bool operator==(const PeeringRights&) const = default;
};

/// The least that a peering leaves of the rights that the degree of trust moves.
struct RightsFloor {
    int processors = 0;
    Duration walltime{};
    int concurrent_parts = 0;
    bool operator==(const RightsFloor&) const = default;
};

/// What an operator (or a rule) grants: trust 0 gives `floor`, trust 1 gives `ceiling`. What trust does not move
/// (hours, partitions, share, account rule, delegation, overcommit) stands in `ceiling`.
struct RightsRange {
    RightsFloor floor;
    PeeringRights ceiling;
    bool operator==(const RightsRange&) const = default;
};

/// The fields of a `RightsRange` that somebody names; the others stay as they are.
struct RightsChange {
    std::optional<int> processors;
    std::optional<Duration> walltime;
    std::optional<int> concurrent_parts;
    std::optional<std::vector<DayWindow>> hours;
    std::optional<std::uint8_t> weekdays;
    std::optional<std::vector<std::string>> partitions;
    std::optional<double> share;
    std::optional<std::string> account_rule;
    std::optional<bool> require_delegation;
    std::optional<int> overcommit;
    std::optional<int> floor_processors;
    std::optional<Duration> floor_walltime;
    std::optional<int> floor_parts;
    bool operator==(const RightsChange&) const = default;
};

/// What a peer did, as far as trust looks at it. New ones come last: histories are stored in this order.
enum class TrustEvent {
    kHoldKept,        ///< a hold that became a run, whichever side held it for the other
    kHoldDropped,     ///< let a hold expire
    kCleanEnd,        ///< a part ended by itself within its walltime
    kDirtyEnd,        ///< a part had to be stopped: walltime, lost launcher, left processes behind
    kFailedCheck,     ///< a signature, chain, delegation or token that did not hold
    kInvalidRequest,  ///< a message that breaks the contract
    kBrokenWord,      ///< denied, without a reason, a part that it had promised us and still owed
    kCutAnswer,       ///< an answer that had begun and was not complete at the deadline
};
constexpr auto words_of(TrustEvent) {
    return std::array{"hold_kept",    "hold_dropped",    "clean_end",   "dirty_end",
                      "failed_check", "invalid_request", "broken_word", "cut_answer"};
}

/// All that is remembered of a peer's behaviour; made and changed by `site_policy/trust_score`, stored as it is.
/// Arrays are in the order of `TrustEvent`.
struct TrustHistory {
    double initial = 0.5;                                        ///< score of a peer without history, 0..1
    Time at{};                                                   ///< the instant `weight` is of
    std::array<double, kAll<TrustEvent>.size()> weight{};        ///< of each kind, faded to `at`; finite, >= 0
    std::array<std::uint64_t, kAll<TrustEvent>.size()> count{};  ///< of each kind, ever
    bool operator==(const TrustHistory&) const = default;
};

/// A zone of another organisation, as it announced itself in its request.
struct PeerZone {
    ZoneName name;
    std::string url;
    Time seen{};
    bool operator==(const PeerZone&) const = default;
};

/// What this zone settled about one organisation: rights are an organisation's, its zones are members. While it is
/// `requested`, one for every bundle that claims the name.
struct PeeringRecord {
    OrganisationName organisation;
    std::string fingerprint;  ///< of `bundle`: what operators compare
    std::string bundle;       ///< PEM
    PeeringState state = PeeringState::kRequested;
    RightsRange rights;
    TrustHistory history;
    std::string by;               ///< who settled it: an operator's URI, "rule N"; empty while requested
    std::string reason;           ///< sent to the other side
    std::vector<PeerZone> zones;  ///< that asked, by name
    Time requested{};
    Time changed{};
    bool operator==(const PeeringRecord&) const = default;
};
inline std::string key_of(const PeeringRecord& record) { return record.organisation + " " + record.fingerprint; }

/// What an operator wants of a peering.
enum class PeeringVerb {
    kAccept,
    kReject,
    kSuspend,
    kResume,
    kSet,  ///< other rights
    kAsk,  ///< the other direction: believe that organisation, and ask its zones to accept our users
};
constexpr auto words_of(PeeringVerb) { return std::array{"accept", "reject", "suspend", "resume", "set", "ask"}; }

struct PeeringChange {
    PeeringVerb verb = PeeringVerb::kSet;
    std::string fingerprint;  ///< empty: there is only one to choose
    std::string bundle;       ///< PEM, for an organisation that has not asked; else empty
    RightsChange rights;
    std::optional<double> initial_trust;  ///< 0..1
    std::string reason;
    bool operator==(const PeeringChange&) const = default;
};

}  // namespace zbs
