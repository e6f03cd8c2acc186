#pragma once
#include <optional>
#include <string>
#include <vector>

#include "algorithms/metrics/schedule_metrics.hpp"
#include "algorithms/metrics/turn_metrics.hpp"
#include "algorithms/model/workload.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "client/cli/simulation/simulate_input.hpp"

namespace zbs::cli {

/// One policy's run over a workload.
struct SimulatedSchedule {
    std::string policy;  ///< as asked for, options included
    std::int32_t processors = 0;
    std::vector<Time> start, end;  ///< by job; start is when it first had processors
    std::vector<Interruption> interruptions;
    std::vector<std::int32_t> started_on;  ///< as in SimulationOutcome, and so the next two
    std::vector<SizeChange> size_changes;
    std::vector<double> processor_seconds;
    std::vector<PlacementChange> placements;  ///< none: any processors will do
    std::int32_t rows = 0;                    ///< of the slice matrix, at most; 0: there is none
    std::vector<Time> promised;               ///< as in SimulationOutcome
    std::uint64_t refused_starts = 0;         ///< by the allocator
    bool overlapping = false;                 ///< jobs share processors, by turns or by shares
    double seconds = 0;                       ///< wall time of the simulation
    std::size_t jobs = 0;
    std::vector<JobTimes> times;  ///< of a workload that was not in memory; else empty, as those by job are then
    ScheduleMetrics metrics;
    std::optional<TurnMetrics> turns;              ///< where jobs take turns
    std::uint64_t resizes = 0;                     ///< of running jobs
    Time from = Time::min(), until = Time::max();  ///< as in Schedule: what the metrics are of
    Schedule view() const { return {start, end, processors, processor_seconds, from, until}; }
};

/// Texts of a schedule, all functions of workload and schedule alone. Times are seconds, with decimals where there are
/// any.

/// Header line, then "id,submit,start,end,processors", in the order of the workload. Processors are those that the job
/// had in the instant of its start. Where it is known which ones, so in all these texts, there is a column "places":
/// ranges such as 0-3;8, in a slice matrix by row: 0:0-3;8|2:4.
std::string schedule_csv(const Workload& workload, const SimulatedSchedule& schedule);
/// Header line, then "time,kind,job,processors,free": submit, start, end, and preempt, resume, resize and, to other
/// places, move in between. `processors` is what the job asks for in its submission, later what it has; after a resize,
/// its new size. In one instant ends and preemptions come first, then submissions, resizes and starts, so that `free`,
/// the processors free after the event, is never negative; it stays empty where jobs share processors.
std::string events_csv(const Workload& workload, const SimulatedSchedule& schedule);
/// "job_id wait", by job number.
std::string waits_text(const Workload& workload, const SimulatedSchedule& schedule);
/// Header line, then all that is known of a job, as it was asked for; start, wait and end are empty without a schedule.
/// Under a policy that promises starts there is a column "promised": the first one that a job was promised while it
/// waited, empty where it got none.
std::string jobs_csv(const Workload& workload, const SimulatedSchedule* schedule);
std::vector<ClassMetrics> classes_by_size(const Workload& workload, const SimulatedSchedule& schedule, Duration tau);
std::vector<ClassMetrics> classes_by_runtime(const Workload& workload, const SimulatedSchedule& schedule, Duration tau);
/// How many jobs can run on other sizes than they ask for.
std::size_t flexible_jobs(const Workload& workload);
/// The log with the schedule's waits; of a generated workload a new log. A comment says how many jobs are flexible,
/// because the format cannot say which.
std::string swf_text(const LoadedWorkload& loaded, const SimulatedSchedule* schedule);
std::string gantt_svg(const LoadedWorkload& loaded, const SimulatedSchedule& schedule);

}  // namespace zbs::cli
