#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "algorithms/allocation/allocator.hpp"
#include "algorithms/base/result.hpp"
#include "algorithms/model/coscheduling.hpp"
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
    /// Under a policy whose jobs take turns: how much longer a job runs for each processor more or less that it changes
    /// to while it runs, >= 0.
    Duration resize_cost{};
    /// Under a policy whose jobs have shares: how much they slow each other down in truth.
    CoschedulingModel coscheduling = CoschedulingModel::by_count({1.0, 1.2, 1.3});
    /// Decides which processors a job gets; an unused copy of it is taken. nullptr: any will do. Not where jobs take
    /// turns.
    const Allocator* allocator = nullptr;
    /// After a start that the allocator has no place for, other waiting jobs may start, in the order of arrival, that
    /// end by their walltimes before the next running job is expected to: no place comes free before. Else nobody does.
    bool pass_refused = false;
    bool record_places = false;    ///< fills `SimulationOutcome::placements`
    bool record_promises = false;  ///< fills `SimulationOutcome::promised`
    /// Called now and then with the number of jobs that have ended.
    std::function<void(std::size_t)> progress;
};

/// A preempted job's wait: in between it did not run.
struct Interruption {
    std::uint32_t job = 0;  ///< place in Workload::jobs
    Time stopped{};
    Time resumed = kNever;
};

/// A running job changed its size.
struct SizeChange {
    Time at{};
    std::uint32_t job = 0;        ///< place in Workload::jobs
    std::int32_t processors = 0;  ///< from then on
    bool operator==(const SizeChange&) const = default;
};

/// Processors [first, last]; where jobs have slots in a matrix, of one row, else row 0.
struct PlaceRange {
    std::int32_t row = 0;
    std::int32_t first = 0;
    std::int32_t last = 0;
    bool operator==(const PlaceRange&) const = default;
};

/// A job got these processors, or slots.
struct PlacementChange {
    Time at{};
    std::uint32_t job = 0;           ///< place in Workload::jobs
    std::vector<PlaceRange> ranges;  ///< ascending; from then on
    bool operator==(const PlacementChange&) const = default;
};

/// When each job of the workload ran, by its place in `Workload::jobs`. Where jobs share processors or are preempted,
/// `start` is the first one, and end - start is longer than the run time.
struct SimulationOutcome {
    std::int32_t processors = 0;
    std::vector<Time> start;
    std::vector<Time> end;
    std::uint64_t events = 0;  ///< submissions, ends and wake-ups
    std::uint64_t plans = 0;
    std::uint64_t resizes = 0;                ///< of jobs that run
    std::uint64_t resized_processors = 0;     ///< sum of what they changed by
    std::vector<Interruption> interruptions;  ///< by preemption, in the order of `stopped`
    /// Processors of each job in the instant of its start. Empty where all got what they asked for.
    std::vector<std::int32_t> started_on;
    std::vector<SizeChange> size_changes;  ///< after the instant of the start, in the order of time
    std::vector<Duration> time_with_rows;  ///< where jobs take turns: how long the matrix had so many rows; else empty
    /// Where jobs take turns: what each used, processors x seconds of service, over all of its sizes. Where they have
    /// shares: processors x share x time, so slowing each other down counts as use. Else empty.
    std::vector<double> processor_seconds;
    std::uint64_t refused_starts = 0;  ///< that the allocator had no place for; none without an allocator
    /// Where jobs take turns or have ranks, when each first had processors, which is `start` or later. Else empty.
    std::vector<Time> first_service;
    /// With `record_places`: by an allocator or a slice matrix, in the order of time. Empty where any processors will
    /// do.
    std::vector<PlacementChange> placements;
    std::int32_t rows = 0;  ///< of the slice matrix, at most; with `record_places`
    /// With `record_promises`: the first start that a job was promised while it waited, `kNever` where none was. Empty
    /// where no job had a promise.
    std::vector<Time> promised;
};

/// Replays `workload` under `policy` on one pool of processors: a pure function of its arguments. A job ends when it
/// has run for its run time; preemption costs nothing but the wait. On another number of processors than it asked for a
/// job runs as `relative_speed` says, with a share s of the processors at s / slowdown. Where jobs have ranks, one runs
/// at full speed while it is on top (`jobs_on_top`), else not at all: jobs of which only the run time is known leave
/// nothing to lower ones. O(jobs log jobs) besides the policy's own work, and O(running jobs x slices) for every change
/// of a slice matrix; memory linear in jobs.
///
/// With an allocator, a policy counts processors and the allocator places jobs. A start that it refuses, because the
/// free processors are not where they are needed, is not carried out, nor is any later start of that plan, so that
/// within a plan nobody passes a job that could not be placed (see `pass_refused`); the policy is asked again at the
/// next event. Promises of
/// a policy do not count with that, so jobs may start after them.
///
/// A job that runs longer than its walltime keeps its processors until its end, which is expected at every next moment.
/// That needs batched rules and jobs that have their processors alone.
///
/// Errors, naming the job: larger than the machine, never to be placed by the allocator, jobs out of order, ids given
/// twice, no machine size or one that the policy or the allocator cannot serve, an allocator where jobs share
/// processors, a job that needs more memory than a processor has, walltimes of jobs that run or wait at once that sum
/// up beyond 18,000 years (kInvalidArgument); the policy left jobs waiting for ever, or the allocator had no place for
/// the next one though nothing ran any more (kRejected); a plan that cannot be carried out (kInternal); preemptions or
/// changes of size without end (kTooLarge).
Result<SimulationOutcome> simulate(const Workload& workload, Policy& policy, const SimulationOptions& options);

/// A job that has ended, and when it ran.
using JobEndedCall = std::function<void(const WorkloadJob&, Time start, Time end)>;

/// The same for jobs that come one after the other: the jobs and times of the schedule, `name` in errors,
/// memory linear in the jobs between the first that has not ended and the last submitted. `ended` gets the jobs in the
/// order of submission; the outcome has no arrays by job. Errors of a job, and of the stream, come when they are met.
/// Preconditions: `options.processors` > 0; jobs have their processors alone; no places or promises are recorded.
Result<SimulationOutcome> simulate(const JobStream& jobs, const std::string& name, Policy& policy,
                                   const SimulationOptions& options, const JobEndedCall& ended);

}  // namespace zbs
