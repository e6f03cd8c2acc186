#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "algorithms/allocation/allocator.hpp"
#include "algorithms/base/result.hpp"
#include "algorithms/model/workload.hpp"
#include "algorithms/policy/policy.hpp"

namespace zbs {

/// How events of one instant reach the policy.
enum class EventRules : std::uint8_t {
    kBatched,    ///< all ends and submissions of an instant first, then one plan: what a live zone does
    kReference,  ///< one by one, submissions before ends before promised starts, a plan after each: pyss order
};

struct SimulationOptions {
    std::int32_t processors = 0;  ///< of the machine; 0: as the workload says
    EventRules rules = EventRules::kBatched;
    /// Under a policy whose jobs take turns: how long a row of the slice matrix runs, > 0.
    Duration slice = std::chrono::seconds{30};
    std::int64_t memory_bytes = 0;  ///< of each processor, where jobs take turns; 0: not limited
    /// Decides which processors a job gets; an unused copy of it is taken. nullptr: any will do. Not where jobs take
    /// turns.
    const Allocator* allocator = nullptr;
    /// Called now and then with the number of jobs that have ended.
    std::function<void(std::size_t)> progress;
};

/// A preempted job's wait: in between it did not run.
struct Interruption {
    std::uint32_t job = 0;  ///< place in Workload::jobs
    Time stopped{};
    Time resumed = kNever;
};

/// When each job of the workload ran, by its place in `Workload::jobs`. Where jobs take turns or are preempted, `start`
/// is the first one, and end - start is longer than the run time.
struct SimulationOutcome {
    std::int32_t processors = 0;
    std::vector<Time> start;
    std::vector<Time> end;
    std::uint64_t events = 0;  ///< submissions, ends and wake-ups
    std::uint64_t plans = 0;
    std::vector<Interruption> interruptions;  ///< by preemption, in the order of `stopped`
    std::uint64_t refused_starts = 0;         ///< that the allocator had no place for; none without an allocator
};

/// Replays `workload` under `policy` on one pool of processors: a pure function of its arguments. A job ends when it
/// has run for its run time; preemption costs nothing but the wait. O(jobs log jobs) besides the policy's own work, and
/// O(running jobs x slices) for every change of a slice matrix; memory linear in jobs.
///
/// With an allocator, a policy counts processors and the allocator places jobs. A start that it refuses, because the
/// free processors are not where they are needed, is not carried out, nor is any later start of that plan, so that
/// within a plan nobody passes a job that could not be placed; the policy is asked again at the next event. Promises of
/// a policy do not count with that, so jobs may start after them.
///
/// Errors, naming the job: larger than the machine, never to be placed by the allocator, jobs out of order, ids given
/// twice, no machine size or one that the policy or the allocator cannot serve, an allocator where jobs take turns
/// (kInvalidArgument); the policy left jobs waiting for ever (kRejected); a plan that cannot be carried out
/// (kInternal).
Result<SimulationOutcome> simulate(const Workload& workload, Policy& policy, const SimulationOptions& options);

}  // namespace zbs
