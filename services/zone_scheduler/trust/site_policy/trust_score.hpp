#pragma once
#include <vector>

#include "algorithms/base/time.hpp"
#include "services/common/messages/peering.hpp"

namespace zbs {

/// Degree of trust, a beta reputation with exponential forgetting:
///
///     score = (g + a) / (g + b + a + b0),   a = kTrustPrior x initial,   b0 = kTrustPrior x (1 - initial)
///
/// where g is the sum over good events and b over bad ones of weight x 2^(-age / kTrustHalfLife).
inline constexpr Duration kTrustHalfLife = std::chrono::hours{24 * 30};
/// As many units of good and bad behaviour as the initial value counts for.
inline constexpr double kTrustPrior = 20;

/// hold_kept +1, clean_end +2, hold_dropped -2, dirty_end -1, invalid_request -4, failed_check -10, broken_word -6,
/// cut_answer -2. A part that ends badly is mostly its program's fault, so it costs less than a clean end brings; a
/// forged token is nobody's accident. A cut answer may be the network's fault: two parts that run make up for it.
double trust_weight(TrustEvent event);

/// The history with one event more. Events may come in any order; one older than `history.at` has faded as much as it
/// would have. O(1).
TrustHistory apply(TrustHistory history, TrustEvent event, Time at);

struct TrustReason {
    TrustEvent event{};
    std::uint64_t count = 0;  ///< ever
    double weight = 0;        ///< what is left of them now; negative for bad events
    double effect = 0;        ///< score minus what it would be without them
};
/// `score` in 0..1; `reasons` for every kind that happened, strongest effect first. Effects do not add up exactly,
/// because the score is a quotient.
struct TrustScore {
    double score = 0;
    double initial = 0;
    std::vector<TrustReason> reasons;
};
/// The score at `now`; a `now` before `history.at` (a clock set back) counts as `history.at`.
TrustScore explain(const TrustHistory& history, Time now);

}  // namespace zbs
