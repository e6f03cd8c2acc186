#pragma once
#include <string>
#include <vector>

#include "algorithms/metrics/schedule_metrics.hpp"
#include "algorithms/model/workload.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "client/cli/simulate_input.hpp"

namespace zbs::cli {

/// One policy's run over a workload.
struct SimulatedSchedule {
    std::string policy;  ///< as asked for, options included
    std::int32_t processors = 0;
    std::vector<Time> start, end;  ///< by job
    std::vector<Interruption> interruptions;
    std::uint64_t refused_starts = 0;  ///< by the allocator
    bool overlapping = false;          ///< jobs share processors, by turns or by shares
    double seconds = 0;                ///< wall time of the simulation
    ScheduleMetrics metrics;
    Schedule view() const { return {start, end, processors}; }
};

/// Texts of a schedule, all functions of workload and schedule alone. Times are seconds, with decimals where there are
/// any.

/// Header line, then "id,submit,start,end,processors", in the order of the workload.
std::string schedule_csv(const Workload& workload, const SimulatedSchedule& schedule);
/// Header line, then "time,kind,job,processors,free": submit, start, end, and preempt and resume in between. In one
/// instant ends and preemptions come first, then submissions, then starts, so that `free`, the processors free after
/// the event, is never negative; it stays empty where jobs share processors.
std::string events_csv(const Workload& workload, const SimulatedSchedule& schedule);
/// "job_id wait", by job number.
std::string waits_text(const Workload& workload, const SimulatedSchedule& schedule);
/// Header line, then all that is known of a job; start, wait and end are empty without a schedule.
std::string jobs_csv(const Workload& workload, const SimulatedSchedule* schedule);
/// The log with the schedule's waits; of a generated workload a new log.
std::string swf_text(const LoadedWorkload& loaded, const SimulatedSchedule* schedule);
std::string gantt_svg(const LoadedWorkload& loaded, const SimulatedSchedule& schedule);

}  // namespace zbs::cli
