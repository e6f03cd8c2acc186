#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/gang/classifier.hpp"
#include "algorithms/gang/local_scheduler.hpp"
#include "algorithms/gang/packing.hpp"
#include "algorithms/model/plan.hpp"
#include "studies/models/gang_workload.hpp"
#include "studies/models/waiting.hpp"

namespace zbs {

/// How a machine that jobs share by time decides what each processor runs. Every part is an option, so that the parts
/// can be compared one by one; the functions below give the combinations with a name.
struct GangScheduling {
    enum class Turns : std::uint8_t {
        kDiagram,      ///< at every clock signal all processors go to the next slice of the trace diagram
        kLocalRandom,  ///< every processor for itself: any of its ready tasks, drawn uniformly
        kLocalInOrder  ///< the same, by turns
    };
    enum class Fill : std::uint8_t { kNone, kRoundRobin, kPriority };  ///< of idle and blocked slots
    enum class Classifier : std::uint8_t { kFuzzy, kBayesian };        ///< with priority version 1 and 2
    enum class Wait : std::uint8_t { kSpin, kSpinThenBlock, kSpinControl, kBlock };
    enum class Alternatives : std::uint8_t {
        kDiagram,  ///< those of the diagram (PackingOptions::fill)
        kRuntime,  ///< chosen at each slice by what the tasks do [DaSilva2000, section 8.4]
    };

    gang::PackingOptions packing;  ///< processors are those of the workload; jobs do not move: repack must be kNever
    Turns turns = Turns::kDiagram;
    Fill fill = Fill::kNone;
    Classifier classifier = Classifier::kBayesian;
    Wait wait = Wait::kSpin;  ///< of a task in its own slot; one that fills spins for the baseline, then blocks
    Alternatives alternatives = Alternatives::kDiagram;

    Duration slice = std::chrono::milliseconds{200};
    Duration context_switch = std::chrono::microseconds{200};
    gang::NetworkCost network;
    double alpha = 2;
    double priority_floor = 0;
    double membership_floor = gang::kMembershipFloor;
    std::int32_t communication_threshold = gang::kCommunicationThreshold;
    std::int32_t worthwhile_switches = 4;  ///< delta of spin control, in context switches
    /// Whether a task whose I/O ends within its own slot takes the processor back at once.
    bool resume_in_slice = true;
    /// Whether a task that becomes ready takes the processor from one of lower priority that fills (kPriority only), as
    /// UNIX does after I/O.
    bool filling_preempts = true;
    /// Whether slices in which a task only filled are measured. Alone it cannot communicate and would pass for a
    /// computing task.
    bool measure_filling = false;
    std::uint64_t seed = 1;  ///< of kLocalRandom
};

/// Spin only; a task that does I/O leaves its slot idle to the end [DaSilva2000, section 6.4].
GangScheduling pure_gang();
/// Idle and blocked slots go to any other task by turns; spin, then block [DaSilva2000, chapter 6].
GangScheduling concurrent_gang_round_robin();
/// The same, to the task of highest priority, first classifier [DaSilva2000, eq. 6.1].
GangScheduling concurrent_gang_priority();
/// Second classifier, priority with floor, spin control [DaSilva2000, chapter 8].
GangScheduling modified_gang();
/// Buddy packing with alternative scheduling, without and with runtime information [DaSilva2000, section 8.4].
GangScheduling hierarchical_control();
GangScheduling hierarchical_control_runtime();
/// No coordination at all.
GangScheduling local_scheduling();

/// Where the time of processors went. The parts add up to processors x time, to the microsecond.
struct ProcessorTime {
    Duration computing{};     ///< with the processor's share of sending and receiving
    Duration spinning{};      ///< waiting for others with the processor held
    Duration switching{};     ///< context switches
    Duration space_idle{};    ///< nothing to run in a slot that belongs to nobody
    Duration blocked_idle{};  ///< nothing to run while the slot's own task is blocked, or has ended before its job
    Duration filled{};        ///< of computing and spinning: by tasks in slots not theirs; no part of the sum

    Duration busy() const { return computing + spinning; }
    Duration idle() const { return space_idle + blocked_idle; }
    Duration total() const { return busy() + switching + idle(); }
    ProcessorTime& operator+=(const ProcessorTime& other);
    bool operator==(const ProcessorTime&) const = default;
};

struct GangCheckpoint {
    Time at{};
    std::int64_t completed = 0;
    ProcessorTime time;  ///< of all processors
    std::int64_t slots = 0;
    std::int64_t allocated_slots = 0;  ///< that had a task of their own
    bool operator==(const GangCheckpoint&) const = default;
};

/// One job as it went. Jobs without an end were still there at the end of the run.
struct GangJobOutcome {
    JobId id;
    Time placed = kNever;
    Time end = kNever;
    /// Fingerprint of the steps that its tasks took, in the order of the tasks; the same under every scheduler once
    /// the job has ended.
    std::uint64_t steps = 0;
    bool operator==(const GangJobOutcome&) const = default;
};

/// What one processor did from `begin` to `end`.
struct ProcessorSpan {
    enum class Doing : std::uint8_t { kComputing, kSpinning, kSwitching, kSpaceIdle, kBlockedIdle };
    std::int32_t processor = 0;
    Time begin{}, end{};
    Doing doing = Doing::kSpaceIdle;
    JobId job = kNoJob;  ///< where it ran, or switched to, a task
    bool filling = false;
    bool operator==(const ProcessorSpan&) const = default;
};
std::ostream& operator<<(std::ostream& out, const ProcessorSpan& span);

struct GangRun {
    Time horizon = kNever;          ///< stop then; kNever: when all jobs have ended
    std::vector<Time> checkpoints;  ///< ascending, before the horizon; none is taken once all jobs have ended
    bool record_spans = false;
};
struct GangOutcome {
    std::vector<GangJobOutcome> jobs;  ///< as in the workload
    std::vector<GangCheckpoint> checkpoints;
    GangCheckpoint last;                     ///< at the end of the run
    std::vector<ProcessorTime> processors;   ///< one by one
    std::vector<ProcessorSpan> spans;        ///< if asked for: by time of their end, then processor
    std::int64_t events = 0;                 ///< handled
    std::int64_t slices = 0;                 ///< begun
    std::int64_t front_end_activations = 0;  ///< workload changes
    std::int64_t notifications = 0;          ///< processors notified of one, summed
    std::int32_t most_tasks_on_processor = 0;

    bool operator==(const GangOutcome&) const = default;
};

/// Runs `workload` on processors that share its jobs by time: an event-driven model of tasks that compute, use the disk
/// of their node (one request at a time, first come first served), send, receive and meet at barriers.
///
/// Clock signals come at multiples of the slice. A job's tasks can fill slots of others as soon as it is placed; its
/// own slots come with the turn of its row. Of several events at one instant the order is: disks, messages, barriers,
/// processors, arrivals, checkpoints, clock. A pure function of its arguments.
///
/// Errors, kInvalidArgument: a scheduling option out of its range, a job that does not fit the machine, jobs out of
/// order; kConflict: a job cannot end because its script waits for what never comes (only with horizon kNever).
Result<GangOutcome> run_gang_machine(const GangWorkload& workload, const GangScheduling& scheduling,
                                     const GangRun& run = {});

}  // namespace zbs
