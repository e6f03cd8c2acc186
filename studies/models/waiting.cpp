#include "studies/models/waiting.hpp"

namespace zbs::gang {
namespace {
Duration whole_microseconds(std::int64_t ns) { return Duration{(ns + 999) / 1000}; }
}  // namespace

Duration baseline_spin(const NetworkCost& network) {
    return whole_microseconds(2 * network.latency_ns + 4 * network.overhead_ns);
}
Duration message_overhead(const NetworkCost& network) { return whole_microseconds(network.overhead_ns); }
Duration message_latency(const NetworkCost& network) { return whole_microseconds(network.latency_ns); }

WaitMode spin_control(const SpinSituation& situation, Duration worthwhile) {
    const bool give_way =
        situation.io_task_here && situation.io_task_ready && situation.slice_after_baseline >= worthwhile;
    return give_way ? WaitMode::kSpinThenBlock : WaitMode::kSpin;
}

}  // namespace zbs::gang
