#pragma once
#include <array>
#include <cstdint>

#include "algorithms/base/time.hpp"

// Two jobs on the same hosts: how long the one of higher priority takes, and what Elmer itself costs.
namespace zbs::elmer {

/// A program of `phases` phases (p), each computing and then a barrier, after a set-up (s) [Turner1995, section 5.2].
struct BarrierTimes {
    Duration setup{};          ///< s
    std::int64_t phases = 1;   ///< p
    Duration phase_compute{};  ///< e_B, of each processor
    Duration phase_delay{};    ///< delta, of messages
};

/// E_B = s + p (e_B + delta): the program alone, or at the highest priority on a preemptive kernel, whatever runs below
/// it [Turner1995, eq. 5.1].
Duration alone(const BarrierTimes& program);
/// Beside a computing job of equal priority, without preemption: E_B = 2s + p (2 e_B + delta + d), where d, 0 to a
/// quantum, is what a message waits for the other job [Turner1995, eq. 5.2].
Duration beside_equal(const BarrierTimes& program, Duration message_wait);
/// The same as the processor of the barrier process sees it: E_B = 2 (s + p e_B) [Turner1995, eq. 5.3].
Duration beside_equal_at_barrier(const BarrierTimes& program);
/// Above a computing job, without preemption: E_B = s + p (e_B + delta + d); a quantum for d gives the bound
/// [Turner1995, eq. 5.4].
Duration above_computing(const BarrierTimes& program, Duration message_wait);
/// Above another such program whose barrier process is on the same processor, without preemption: E = s + p (e_B +
/// (P - 1) d), d a whole quantum, each of the P - 1 receives of a phase lets the other in [Turner1995, eq. 5.5].
/// Precondition: processors >= 1. With barrier processes apart the time lies between this and `alone`.
Duration above_barrier(const BarrierTimes& program, std::int32_t processors, Duration quantum);

/// The synthetic program of the source in its three versions: w work units a phase, p phases, t bytes a token
/// [Turner1995, table 5.1].
struct BarrierVersion {
    std::int64_t work_per_phase;
    std::int64_t phases;
    std::int32_t token_bytes;
};
inline constexpr std::array<BarrierVersion, 3> kBarrierVersions{
    {{1'350'000, 830, 800}, {890'000, 1'250, 800}, {445'000, 2'500, 800}}};

/// Times of the source's six workstations. Ours: two numbers that meet its three that can be read (Barrier alone on the
/// stock kernel), and one a kernel for its compute-bound program.
struct Calibration {
    double one_processor_s = 136;        ///< T1, each program on one processor
    double delay_per_peer_ms = 2.1;      ///< delta(P) = this x (P - 1)
    double start_per_peer_s = 1.675;     ///< start phase of the compute-bound program, stock kernel, x (P - 1)
    double rt_start_per_peer_s = 1.075;  ///< the same on the preemptive kernel
};
/// Precondition: 1 <= version <= 3, processors >= 1.
BarrierTimes barrier_times(int version, std::int32_t processors, const Calibration& calibration = {});
/// Of the compute-bound program: start phase, and T1 / P. Precondition: processors >= 1.
struct ComputeTimes {
    Duration start{};
    Duration compute{};
};
ComputeTimes compute_times(std::int32_t processors, bool preemptive, const Calibration& calibration = {});

/// What the facility takes to start a job and to note its end, ms: a line through the source's values for 1 and 6 hosts
/// [Turner1995, figures 6.10 and 6.11]. One message after the other goes to each host.
constexpr double start_cost_ms(std::int32_t hosts) { return 50.2 + 8.8 * hosts; }
constexpr double end_cost_ms(std::int32_t hosts) { return 4.2 + 8.8 * hosts; }
/// The most hosts with a start every `interval_ms`; 0 where that is too short for one.
std::int32_t most_hosts(double interval_ms);

}  // namespace zbs::elmer
