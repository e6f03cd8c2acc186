#include "services/zone_scheduler/trust/site_policy/trust_score.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

std::size_t index_of(TrustEvent event) { return static_cast<std::size_t>(event); }

/// What is left of a unit after `age` >= 0.
double faded(Duration age) { return std::exp2(-to_seconds(age) / to_seconds(kTrustHalfLife)); }

struct Sums {
    double good = 0, bad = 0;
};

double score_of(const Sums& sums, double initial) {
    return std::clamp((sums.good + kTrustPrior * initial) / (sums.good + sums.bad + kTrustPrior), 0.0, 1.0);
}

}  // namespace

double trust_weight(TrustEvent event) {
    switch (event) {
        case TrustEvent::kHoldKept:
            return 1;
        case TrustEvent::kHoldDropped:
            return -2;
        case TrustEvent::kCleanEnd:
            return 2;
        case TrustEvent::kDirtyEnd:
            return -1;
        case TrustEvent::kFailedCheck:
            return -10;
        case TrustEvent::kInvalidRequest:
            return -4;
        case TrustEvent::kBrokenWord:
            return -6;
        case TrustEvent::kCutAnswer:
            return -2;
    }
    return 0;
}

TrustHistory apply(TrustHistory history, TrustEvent event, Time at) {
    const bool empty = std::all_of(history.count.begin(), history.count.end(), [](auto n) { return n == 0; });
    if (empty) history.at = at;
    double unit = 1;
    if (at > history.at) {
        const double left = faded(at - history.at);
        for (double& weight : history.weight) weight *= left;
        history.at = at;
    } else {
        unit = faded(history.at - at);
    }
    history.weight[index_of(event)] += unit * std::abs(trust_weight(event));
    ++history.count[index_of(event)];
    return history;
}

TrustScore explain(const TrustHistory& history, Time now) {
    ZBS_EXPECTS(history.initial >= 0 && history.initial <= 1);
    const double left = faded(std::max(Duration::zero(), now - history.at));
    Sums sums;
    for (const TrustEvent event : kAll<TrustEvent>)
        (trust_weight(event) > 0 ? sums.good : sums.bad) += left * history.weight[index_of(event)];
    TrustScore result{score_of(sums, history.initial), history.initial, {}};
    for (const TrustEvent event : kAll<TrustEvent>) {
        if (history.count[index_of(event)] == 0) continue;
        const bool good = trust_weight(event) > 0;
        const double weight = left * history.weight[index_of(event)];
        Sums without = sums;
        double& side = good ? without.good : without.bad;
        side = std::max(0.0, side - weight);
        result.reasons.push_back({event, history.count[index_of(event)], good ? weight : -weight,
                                  result.score - score_of(without, history.initial)});
    }
    std::stable_sort(result.reasons.begin(), result.reasons.end(), [](const TrustReason& a, const TrustReason& b) {
        return std::abs(a.effect) > std::abs(b.effect);
    });
    return result;
}

}  // namespace zbs
