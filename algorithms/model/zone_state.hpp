#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/model/job.hpp"
#include "algorithms/model/plan.hpp"
#include "algorithms/model/sorted_blocks.hpp"

namespace zbs {

/// Names a job inside one ZoneState for as long as it waits or runs there; reused afterwards.
using JobHandle = std::uint32_t;

enum class JobPhase : std::uint8_t {
    kWaiting,
    kRunning,
    kLeaving,  ///< past its walltime, its processors counted as free, its end not yet reported
};

/// All that a zone knows of a job that has not ended.
struct JobRecord {
    Job job;
    JobPhase phase = JobPhase::kWaiting;
    std::uint64_t arrival = 0;            ///< order of submission: smaller came first
    Time waiting_since{};                 ///< submission, or the last preemption
    Duration walltime_left{};             ///< of a waiting job: less what it ran before it was preempted
    Time reserved = kNever;               ///< promised start of a waiting job
    Time latest_start = kNever;           ///< the end of what was promised, where a policy says
    std::uint64_t reservation_order = 0;  ///< order in which the promises that stand were made
    std::int32_t allocated = 0;           ///< processors: as asked for, or as resized since
    /// Of a running job: its part of its processors. Where jobs have shares: per cent; where they take turns: rows that
    /// it is in, of `share_of` rows.
    std::int32_t share = 0, share_of = 100;
    double speed = 1;  ///< on the processors allocated, beside those that it asked for
    /// Where jobs have shares or take turns: what it was given up to `served_until`, in seconds of all the processors
    /// that it asked for. Turns count as if they were evenly spread: right to a slice.
    Duration served{};
    Time served_until{};
    Time start = kNever;  ///< of a running job
    /// Of a running job: start + what was left of its walltime, later once it is overdue; kNever where jobs take turns.
    Time expected_end = kNever;

    bool operator==(const JobRecord&) const = default;
};

/// What a running job was given up to `now`, where jobs have shares or take turns.
inline Duration served(const JobRecord& record, Time now) {
    const Duration given = (now - record.served_until) * record.share / record.share_of;
    if (record.speed == 1) return record.served + given;
    return record.served + Duration{static_cast<std::int64_t>(static_cast<double>(given.count()) * record.speed)};
}

/// A waiting job in the arrival order.
struct WaitingJob {
    std::uint64_t arrival;
    Duration walltime;  ///< what is left of it
    std::int32_t processors;
    JobHandle handle;
    std::uint64_t key() const { return arrival; }
};
/// Lower bounds over the waiting jobs of a block.
struct WaitingSummary {
    std::int32_t least_processors = std::numeric_limits<std::int32_t>::max();
    Duration least_walltime = Duration::max();
    void include(const WaitingJob& job) {
        least_processors = std::min(least_processors, job.processors);
        least_walltime = std::min(least_walltime, job.walltime);
    }
    bool exclude(const WaitingJob& job) const {
        return job.processors > least_processors && job.walltime > least_walltime;
    }
};
using WaitingQueue = SortedBlocks<WaitingJob, WaitingSummary>;

/// A running job in the order of expected ends.
struct RunningJob {
    Time expected_end;
    std::int32_t processors;
    JobHandle handle;
    std::pair<Time, JobHandle> key() const { return {expected_end, handle}; }
};
struct RunningSummary {
    std::int64_t processors = 0;  ///< of all jobs of the block
    void include(const RunningJob& job) { processors += job.processors; }
    bool exclude(const RunningJob& job) {
        processors -= job.processors;
        return true;
    }
};
using RunningJobs = SortedBlocks<RunningJob, RunningSummary>;

/// One step of a zone's history since the last plan, as an index over the snapshot needs it.
struct ZoneChange {
    enum class Kind : std::uint8_t { kSubmitted, kStarted, kEnded, kWithdrawn };
    Kind kind;
    JobHandle handle;  ///< of an ended or withdrawn job: may be in use again
    std::uint64_t arrival;
    std::int32_t processors;
    std::int32_t priority;
    Duration walltime;  ///< what was left of it
    Time reserved;      ///< before the change
    Time expected_end;  ///< of a started job; of an ended one as it was expected before
};

/// What a policy found last.
struct FoundLoad {
    Load load = Load::kNormal;
    Time at{};
    bool operator==(const FoundLoad&) const = default;
};

/// What a policy may look at: a view of a ZoneState, valid until the state's next event.
struct ZoneSnapshot {
    Time now{};
    std::int32_t processors = 0;       ///< in service, > 0
    std::int32_t free_processors = 0;  ///< of those, held by nobody
    const WaitingQueue& waiting;
    const RunningJobs& running;
    std::span<const JobRecord> records;  ///< by handle
    /// Where jobs take turns or have ranks: their slots; jobs that have ended since it was made may still be in it.
    /// Else nullptr.
    std::shared_ptr<const TraceDiagram> diagram;
    std::int64_t memory_bytes = 0;  ///< of each processor, shared by the jobs that take turns there; 0: not limited
    std::optional<FoundLoad> load = std::nullopt;  ///< by the last plan that reported one
    /// False where the driver knows of events of this very instant that it has not reported yet.
    bool instant_complete = true;

    /// For policies that keep an index: `changes` are the steps since the state of the last plan, whose number was
    /// `change_base`. An index made for another number, or in another generation, has to be made anew.
    std::span<const ZoneChange> changes;
    std::uint64_t change_base = 0;
    std::uint64_t generation = 0;

    const JobRecord& record(JobHandle handle) const { return records[handle]; }
};

struct JobSubmitted {
    Job job;
};
/// A waiting job got its processors.
struct JobStarted {
    JobId id;
};
/// A running job completed, failed or was killed; its processors are free.
struct JobEnded {
    JobId id;
};
/// A waiting job was cancelled.
struct JobWithdrawn {
    JobId id;
};
/// A running job was stopped and waits again, at its old place in the queue. What it has done is kept: it goes on there
/// when it starts again.
struct JobPreempted {
    JobId id;
};
struct JobReserved {
    JobId id;
    Time at{};
    Time latest = kNever;
};
/// Processors came into service or left it. Those of running jobs may not leave; where jobs take turns, none may run.
struct ProcessorsChanged {
    std::int32_t processors = 0;
};
/// A job runs, or will run when it starts, on another number of processors. Rigid jobs never do, moldable ones only
/// before they start. The walltime stays as it is.
struct JobResized {
    JobId id;
    std::int32_t processors = 0;
};
/// The running jobs have these shares from now on.
struct SharesChanged {
    std::vector<ShareOfProcessors> shares;
};
/// Jobs that take turns, or have ranks, have these slots from now on.
struct DiagramChanged {
    std::shared_ptr<const TraceDiagram> diagram;
};
/// A running job that has its processors alone is expected to end then.
struct EndExpected {
    JobId id;
    Time at{};
};
/// These waiting jobs exchange their places: the first of them has the earliest of these from now on.
struct WaitingOrdered {
    std::vector<JobId> jobs;
};
/// All that another state had, taken by one that has no jobs: it goes on from there.
struct ZoneRecovered {
    std::vector<JobRecord> records;
    std::shared_ptr<const TraceDiagram> diagram;  ///< of the running jobs; nullptr where they have no slots
    std::optional<FoundLoad> load;
    std::uint64_t next_arrival = 0;  ///< the place of the job that comes next, behind all others
};
/// A plan reported this load.
struct LoadFound {
    Load load = Load::kNormal;
};
struct ClockAdvanced {};
using ZoneEvent = std::variant<JobSubmitted, JobStarted, JobEnded, JobWithdrawn, JobPreempted, JobReserved,
                               ProcessorsChanged, JobResized, SharesChanged, DiagramChanged, EndExpected,
                               WaitingOrdered, LoadFound, ZoneRecovered, ClockAdvanced>;

/// The queue and the processors of one zone (or partition) as a pure state machine: the live zone and the simulator are
/// two drivers of it. Events cost O(log jobs) and move at most one block of 64 entries.
class ZoneState {
  public:
    /// Whether a job that runs past its walltime keeps its processors until its end is reported, as on real machines,
    /// or counts as gone at the instant its walltime is over, which is what reference schedules are made with.
    enum class Overdue : std::uint8_t { kHolds, kGone };
    /// How running jobs share the processors. kPriority: jobs have slots in a matrix as under kTime, but its rows are
    /// ranks: a job runs while no job of an earlier row has any of its processors, see `jobs_on_top`.
    enum class Sharing : std::uint8_t {
        kSpace,     ///< each processor serves one job
        kTime,      ///< jobs take turns in a slice matrix
        kShare,     ///< each job has a share of all processors
        kPriority,  ///< processors serve the job of highest rank
    };
    struct Options {
        std::int32_t processors = 1;  ///< 1 .. kMaxProcessors
        Overdue overdue = Overdue::kHolds;
        Sharing sharing = Sharing::kSpace;
        std::int64_t memory_bytes = 0;  ///< of each processor; 0: not limited
    };
    static constexpr std::int32_t kMaxProcessors = 100'000'000;
    static constexpr std::int64_t kMaxTimeUs = std::int64_t{1}
                                               << 61;  ///< 73,000 years; sums of two instants stay in range
    /// How long an overdue job is expected to need, from every plan on.
    static constexpr Duration kOverdueGrace = std::chrono::seconds{1};

    /// Precondition: processors in range; where jobs take turns, that of TraceDiagram.
    explicit ZoneState(const Options& options);

    /// Takes one event at `at`. Errors, nothing changed: time goes back or is out of range (kInvalidArgument), bad job
    /// (kInvalidArgument), unknown job (kNotFound), job in another phase or too few free processors (kConflict), a
    /// diagram that leaves a running job out or has another (kConflict).
    Result<void> apply(Time at, const ZoneEvent& event);

    ZoneSnapshot snapshot(bool instant_complete = true) const;
    /// To be called when a plan has been made from the snapshot: its changes are over.
    void changes_planned();
    /// To be called when a plan was not carried out as it stands: indexes of policies are made anew.
    void plan_refused() { ++generation_; }

    Time now() const { return now_; }
    std::uint64_t next_arrival() const { return next_arrival_; }
    std::size_t waiting_count() const { return waiting_.size(); }
    std::size_t running_count() const { return running_.size(); }
    /// The job's record while it waits or runs, else nullptr; valid until the next event.
    const JobRecord* find(JobId id) const;

  private:
    /// JobId -> JobHandle by open addressing; as large as the most jobs present at a time.
    class HandleTable {
      public:
        HandleTable();
        void insert(JobId id, JobHandle handle);
        void erase(JobId id);
        static constexpr JobHandle kNone = ~JobHandle{0};
        JobHandle find(JobId id) const;

      private:
        struct Cell {
            std::int64_t id = -1;
            JobHandle handle = kNone;
        };
        std::size_t home_of(std::int64_t id) const {
            return (static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15ULL) >> shift_;
        }
        std::vector<Cell> cells_;
        std::size_t size_ = 0;
        int shift_;
    };

    Result<void> advance(Time at);
    Result<void> submit(const Job& job);
    Result<void> start(JobId id);
    Result<void> end(JobId id);
    Result<void> withdraw(JobId id);
    Result<void> preempt(JobId id);
    Result<void> reserve(const JobReserved& promise);
    Result<void> change_processors(std::int32_t processors);
    Result<void> resize(JobId id, std::int32_t processors);
    Result<void> change_shares(const std::vector<ShareOfProcessors>& shares);
    Result<void> change_diagram(const std::shared_ptr<const TraceDiagram>& diagram);
    Result<void> recover(const ZoneRecovered& zone);
    Result<void> expect_end(const EndExpected& end);
    Result<void> order_waiting(const std::vector<JobId>& jobs);
    void pass_walltimes();
    void serve(JobRecord& record) const;
    double speed_of(const JobRecord& record) const;
    void log(ZoneChange::Kind kind, JobHandle handle);
    void drop(JobHandle handle);
    std::int32_t held(const JobRecord& record) const {
        return options_.sharing == Sharing::kSpace ? record.allocated : 0;
    }

    bool has_diagram() const { return options_.sharing == Sharing::kTime || options_.sharing == Sharing::kPriority; }

    Options options_;
    std::shared_ptr<const TraceDiagram> diagram_;  ///< nullptr unless has_diagram()
    std::optional<FoundLoad> load_;
    Time now_ = Time::min();
    std::int32_t free_;
    WaitingQueue waiting_;
    RunningJobs running_;
    std::vector<JobRecord> records_;
    std::vector<JobHandle> unused_;
    HandleTable handles_;
    std::uint64_t next_arrival_ = 0;
    std::uint64_t next_reservation_ = 0;
    std::vector<ZoneChange> changes_;
    std::uint64_t change_base_ = 0;
    std::uint64_t generation_ = 0;
};

}  // namespace zbs
