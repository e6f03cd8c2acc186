#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/allocation/allocator.hpp"
#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace zbs {

/// A job that needs a mesh of processors.
struct MeshJob {
    Time arrival{};
    Duration service{};  ///< > 0
    MeshShape mesh;
    bool operator==(const MeshJob&) const = default;
};

/// Sides in [least, most], drawn evenly, with a probability.
struct SideInterval {
    std::int32_t least = 1, most = 1;
    double probability = 1;
};

/// Workloads of mesh jobs [Turner1995, sections 4.1 and 4.2].
struct MeshWorkload {
    enum class Kind : std::uint8_t {
        kConstant,   ///< 4x6, 4x2, 4x6, ...
        kIntervals,  ///< sides by `intervals`
    };
    enum class Service : std::uint8_t { kExponential, kConstant };
    /// Which draws share a choice of interval; the source does not say.
    enum class Selector : std::uint8_t {
        kPerMesh,  ///< both sides of a mesh from the same interval
        kPerSide,
    };
    Kind kind = Kind::kIntervals;
    std::vector<SideInterval> intervals;  ///< probabilities sum to 1
    bool square = false;                  ///< X = Y
    Selector selector = Selector::kPerMesh;
    Service service = Service::kExponential;
    double mean_service_s = 4;
    /// Mean service time / mean time between arrivals, which are exponential: the mean number of jobs that want to be
    /// in service. 0: all arrive at once (an endless queue).
    double load = 1;
    std::int64_t jobs = 1000;
    std::uint64_t seed = 1;
};

/// The jobs, by arrival. Arrivals, service times, X, Y and the choice of interval have streams of random numbers of
/// their own, and each job takes one number of each, so workloads that differ in one of them agree in the others. Error
/// kInvalidArgument: no job, sides below 1, probabilities that do not sum to 1, a mean or load out of range.
Result<std::vector<MeshJob>> make_mesh_jobs(const MeshWorkload& workload);

/// What first come, first served makes of mesh jobs on a machine. The first tenth of the jobs warms up.
struct MeshOutcome {
    std::vector<Time> start, end;  ///< by job
    double turnaround_s = 0;       ///< JTT: mean of end - arrival, of the jobs after the warm-up
    double arrivals_window_s = 0;  ///< from the first arrival after the warm-up to the last one
    double utilization = 0;        ///< share of the nodes that X * Y of running jobs are of, in that window
    double starts_window_s = 0;    ///< from the first start after the warm-up to the last one
    double jobs_in_service = 0;    ///< mean number in the window of starts: with an endless queue, the saturation load
    double utilization_started = 0;  ///< share of the nodes, in the window of starts
    std::uint64_t refusals = 0;      ///< times that the head of the queue found no place though enough nodes were free
};

/// Runs the jobs in their order: the head of the queue starts as soon as the allocator has a place for it, and nobody
/// passes it; at one instant, ends come before starts. An unused copy of the allocator is taken; processors are exactly
/// X * Y. O(jobs log jobs) besides the allocator. Errors (kInvalidArgument), naming the job: not in the order of
/// arrival, no service time, a mesh that the allocator could never place;
/// kRejected: no job runs, and yet the head finds no place, which allocators that merge free cubes badly bring about.
Result<MeshOutcome> simulate_meshes(const std::vector<MeshJob>& jobs, const Allocator& allocator);

}  // namespace zbs
