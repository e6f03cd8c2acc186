#include "studies/models/time_sharing_model.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/base/expects.hpp"

namespace zbs::elmer {

Duration alone(const BarrierTimes& program) {
    return program.setup + program.phases * (program.phase_compute + program.phase_delay);
}
Duration beside_equal(const BarrierTimes& program, Duration message_wait) {
    return 2 * program.setup + program.phases * (2 * program.phase_compute + program.phase_delay + message_wait);
}
Duration beside_equal_at_barrier(const BarrierTimes& program) {
    return 2 * (program.setup + program.phases * program.phase_compute);
}
Duration above_computing(const BarrierTimes& program, Duration message_wait) {
    return alone(program) + program.phases * message_wait;
}
Duration above_barrier(const BarrierTimes& program, std::int32_t processors, Duration quantum) {
    ZBS_EXPECTS(processors >= 1);
    return program.setup + program.phases * (program.phase_compute + (processors - 1) * quantum);
}

BarrierTimes barrier_times(int version, std::int32_t processors, const Calibration& calibration) {
    ZBS_EXPECTS(version >= 1 && version <= 3 && processors >= 1);
    const std::int64_t phases = kBarrierVersions[static_cast<std::size_t>(version - 1)].phases;
    return {
        .phases = phases,
        .phase_compute = seconds_to_duration(calibration.one_processor_s / static_cast<double>(phases * processors)),
        .phase_delay = seconds_to_duration(calibration.delay_per_peer_ms * 1e-3 * (processors - 1))};
}

ComputeTimes compute_times(std::int32_t processors, bool preemptive, const Calibration& calibration) {
    ZBS_EXPECTS(processors >= 1);
    const double start_s = preemptive ? calibration.rt_start_per_peer_s : calibration.start_per_peer_s;
    return {.start = seconds_to_duration(start_s * (processors - 1)),
            .compute = seconds_to_duration(calibration.one_processor_s / processors)};
}

std::int32_t most_hosts(double interval_ms) {
    return static_cast<std::int32_t>(std::max(0.0, std::floor((interval_ms - start_cost_ms(0)) / 8.8)));
}

}  // namespace zbs::elmer
