#pragma once
#include <cstdint>
#include <span>

namespace zbs::gang {

/// A job of a static set: all are there at time zero.
struct StaticJob {
    std::int32_t processors = 1;
    double seconds = 1;  ///< on processors of its own; any one unit
};
enum class StaticRule : std::uint8_t {
    kFirstFitDecreasing,      ///< every job once a period [DaSilva2000, section 4.4]
    kFirstFitDecreasingFill,  ///< the same, and copies in all slots that are left over
    kSimpleGang,              ///< one job at a time has the whole machine
};

/// When the last job ends where the diagram is made anew at every completion, all jobs may move, and slices are so
/// short against the jobs that each advances at the rate (its slices) / (slices of the period).
///
/// [DaSilva2000, theorem 4] says less than twice the optimum for the first rule. It holds for the second; the first
/// can come close to three times.
double fluid_makespan(std::span<const StaticJob> jobs, std::int32_t processors, StaticRule rule);

/// max(longest job, area / processors): what an adversary needs that splits and moves tasks at will, and a lower bound
/// for everyone else.
double optimal_makespan(std::span<const StaticJob> jobs, std::int32_t processors);

}  // namespace zbs::gang
