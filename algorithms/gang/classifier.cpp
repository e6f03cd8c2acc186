#include "algorithms/gang/classifier.hpp"

#include <algorithm>

#include "algorithms/base/expects.hpp"

namespace zbs::gang {

SliceEvidence evidence_of(const SliceMeasurement& slice, std::int32_t threshold) {
    const bool communicates = slice.communications >= threshold;
    return {
        .io = slice.blocked_on_io, .communication = communicates, .computation = !slice.blocked_on_io && !communicates};
}

Memberships update_fuzzy(const Memberships& f, const SliceEvidence& slice) {
    const auto next = [](double membership, bool hit) { return (hit ? 0.8 : 0.2) + membership / 5; };
    return {next(f.io, slice.io), next(f.communication, slice.communication), next(f.computation, slice.computation)};
}

BayesianState update_bayesian(const BayesianState& state, const SliceEvidence& slice, double floor) {
    ZBS_EXPECTS(floor >= 0 && floor < 1);
    const auto accumulate = [](double sum, bool hit) { return (hit ? 0.5 : 0) + sum / 2; };
    BayesianState next;
    next.accumulated = {accumulate(state.accumulated.io, slice.io),
                        accumulate(state.accumulated.communication, slice.communication),
                        accumulate(state.accumulated.computation, slice.computation)};
    const double io = next.accumulated.io * state.f.io;
    const double communication = next.accumulated.communication * state.f.communication;
    const double computation = next.accumulated.computation * state.f.computation;
    const double sum = io + communication + computation;
    next.f = sum > 0 ? Memberships{std::max(io / sum, floor), std::max(communication / sum, floor),
                                   std::max(computation / sum, floor)}
                     : state.f;
    return next;
}

TaskClass class_of(const Memberships& f) {
    if (f.io > f.communication && f.io > f.computation) return TaskClass::kIo;
    if (f.communication > f.io && f.communication > f.computation) return TaskClass::kCommunication;
    if (f.computation > f.io && f.computation > f.communication) return TaskClass::kComputation;
    return TaskClass::kUndecided;
}

double priority_v1(const Memberships& f, double alpha) { return std::max(alpha * f.io, f.computation); }
double priority_v2(const Memberships& f, double alpha) {
    return std::max(alpha * (f.io - f.communication), f.computation);
}

}  // namespace zbs::gang
