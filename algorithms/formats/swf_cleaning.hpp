#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/words.hpp"
#include "algorithms/formats/swf.hpp"
#include "algorithms/model/workload.hpp"

namespace zbs::formats {

using zbs::to_string;

/// Why a job of a log takes no part in the workload.
enum class SwfDrop : std::uint8_t {
    kNoSize,      ///< neither requested nor allocated processors are above zero
    kOversized,   ///< requested or allocated processors exceed the machine
    kNoRuntime,   ///< run time zero, negative or unknown
    kNoSubmit,    ///< submit time negative or unknown
    kRepeatedId,  ///< the number of a job further up
    kImpossible,  ///< a job number that is negative or has decimals, a time beyond all sense
    kCancelled,   ///< status 5
    kFailed,      ///< status 0
    kPartial,     ///< status 2, 3 or 4: a partial execution of a job, whose summary has a line of its own
};
inline constexpr std::size_t kSwfDrops = 9;
/// For people: "without size", "larger than the machine", ...
constexpr auto words_of(SwfDrop) {
    return std::array{"without size",
                      "larger than the machine",
                      "without run time",
                      "without submit time",
                      "with the number of another",
                      "with impossible numbers",
                      "cancelled",
                      "failed",
                      "partial executions"};
}

/// What is simulated of a job although its log says something else, or nothing.
enum class SwfAssumption : std::uint8_t {
    kNoEstimate,   ///< the requested time is unknown: the run time is taken
    kOtherSize,    ///< the number of processors that `SwfCleaning` prefers is unknown: the other one is taken
    kFraction,     ///< a number of processors with decimals: rounded down
    kZeroRuntime,  ///< run time 0: 1 s is taken
    kPreceding,    ///< the job follows another one (field 17): it is submitted as recorded all the same
    kPartition,    ///< another partition (field 16) than the first job's: all share one machine
};
inline constexpr std::size_t kSwfAssumptions = 6;
/// As JSON calls them.
constexpr auto words_of(SwfAssumption) {
    return std::array{"no_estimate", "other_size", "fraction", "zero_runtime", "preceding_job", "other_partition"};
}

/// How a log becomes a workload. The defaults are rule C of the reference schedules: size is what was requested, else
/// what was allocated; the estimate is the requested time, else the run time; a job is killed at its estimate; jobs are
/// sorted by submit time and number, and times are not shifted. Rule C drops jobs without size or run time and those
/// that the machine is too small for, and heeds neither status nor think time. Partial executions (status 2, 3 and 4)
/// are left out always: their job has a summary of its own.
struct SwfCleaning {
    enum class Action : std::uint8_t {
        kDrop,    ///< leave out and count
        kRefuse,  ///< an error with the line of the first one
    };
    std::int64_t processors = 0;  ///< of the machine; 0: as the header says
    Action no_size = Action::kDrop;
    Action oversized = Action::kDrop;
    Action no_runtime = Action::kDrop;
    Action no_submit = Action::kDrop;
    Action repeated_id = Action::kRefuse;  ///< rule C knows none; a log that has them is damaged, as with the next
    Action impossible = Action::kRefuse;
    bool out_of_order = true;     ///< false: jobs that are not in the order of submission are refused
    bool allocated_size = false;  ///< allocated processors first, requested ones where they are unknown
    /// What becomes of a job that ran longer than its estimate.
    enum class PastEstimate : std::uint8_t {
        kKilled,  ///< it ends there
        kRaised,  ///< the estimate is raised to the run time
        kRunsOn,  ///< the estimate stays, and the job keeps its processors until its end
    };
    PastEstimate past_estimate = PastEstimate::kKilled;
    bool exact_estimates = false;      ///< after all else, walltimes become run times
    bool drop_cancelled = false;       ///< status 5, also where the job has run for a while
    bool drop_failed = false;          ///< status 0
    bool shift_to_zero = false;        ///< the first submission becomes the origin of time
    bool renumber = false;             ///< jobs are numbered from 1 in the order of their lines, whatever the log says
    bool zero_runtime_counts = false;  ///< a job of run time 0 runs for 1 s, unless it was cancelled
};

struct CleanedSwf {
    Workload workload;
    std::vector<std::uint32_t> record_of_job;  ///< index of the record of each job of the workload
    std::array<std::size_t, kSwfDrops> dropped{};
    std::array<std::uint32_t, kSwfDrops> first_line{};  ///< of the dropped ones, 0 where there are none
    std::size_t cut_at_estimate = 0;                    ///< jobs whose run time was longer
    std::size_t out_of_order = 0;                       ///< jobs submitted before the one on the line above
    std::uint32_t first_out_of_order = 0;               ///< line of the first of them, 0 where there is none
    std::array<SwfCount, kSwfAssumptions> assumed{};    ///< of jobs of the workload

    std::size_t dropped_in_all() const;
    /// Counts one.
    void drop(SwfDrop reason, std::uint32_t line);
    const SwfCount& of(SwfAssumption assumption) const { return assumed[static_cast<std::size_t>(assumption)]; }
};

/// The number of processors of the machine. Errors: not known, or beyond what is simulated.
Result<std::int32_t> machine_size(const SwfTrace& trace, std::string_view source, const SwfCleaning& rules);

/// Cleans records one by one. Numbers that repeat, the order of submission and `shift_to_zero` are the caller's matter.
class SwfCleaner {
  public:
    SwfCleaner(std::string_view source, const SwfCleaning& rules, std::int32_t processors)
        : source_(source), rules_(rules), processors_(processors) {}

    /// The job of the next record, valid until the next call; nullptr: it was dropped. Errors as `clean_swf`.
    Result<const WorkloadJob*> take(const SwfRecord& record);
    /// What was dropped, cut and assumed so far; no jobs.
    const CleanedSwf& found() const { return out_; }

  private:
    Result<const WorkloadJob*> drop(SwfDrop reason, SwfCleaning::Action action, const SwfRecord& record,
                                    const std::string& message);
    void note_assumptions(const SwfRecord& record, bool no_estimate, bool zero_counts);
    /// What becomes of a job that ran longer than its estimate.
    void fit(std::int64_t& runtime, std::int64_t& estimate);

    std::string source_;
    SwfCleaning rules_;
    std::int32_t processors_;
    CleanedSwf out_;
    WorkloadJob job_;
    std::size_t taken_ = 0;
    std::int64_t first_partition_ = 0;  ///< of the first job that is taken
};

/// The workload of a log. O(n log n) where the log is not sorted, else linear.
///
/// Errors, kInvalidArgument, with `SOURCE:LINE` as pointer where there is a line: no machine size known or one out of
/// range; what `Action::kRefuse` and `out_of_order` refuse (impossible are run times and estimates beyond 1e11 s,
/// submit times beyond 1e12 s); no job left.
Result<CleanedSwf> clean_swf(const SwfTrace& trace, std::string_view source, const SwfCleaning& rules = {});

/// The records of the cleaned jobs with the waits of a schedule; `start` empty: as recorded. Fields stay as they are
/// where cleaning the new log by the default rules gives the same jobs; numbers, submit times, run times, sizes and
/// estimates that cleaning changed are written as the jobs have them. The header's counts of jobs and its start in Unix
/// time follow; StartTime is left out where times were shifted, EndTime where there is a schedule. Preconditions: jobs
/// and records as `clean_swf` gave them, one start a job.
SwfTrace schedule_swf(const SwfTrace& trace, std::span<const WorkloadJob> jobs,
                      std::span<const std::uint32_t> record_of_job, std::span<const Time> start);

}  // namespace zbs::formats
