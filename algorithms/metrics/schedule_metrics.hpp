#pragma once
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "algorithms/model/workload.hpp"

namespace zbs {

/// Statistics of one quantity over many jobs. All zero where there are none.
struct Distribution {
    double mean = 0;
    double median = 0;  ///< of an even count the mean of the two in the middle
    double p95 = 0;     ///< sorted number floor(0.95 n), counted from 0
    double max = 0;

    bool operator==(const Distribution&) const = default;
};

/// Of these values. Takes their storage for itself; linear. Means are sums in the order given, divided.
Distribution distribution_of(std::vector<double> values);

/// A schedule of a workload: when each job ran, by its place in `Workload::jobs`. Arrays are as long as the workload,
/// and every job ended no earlier than it started, which is no earlier than its submission.
struct Schedule {
    std::span<const Time> start;
    std::span<const Time> end;
    std::int32_t processors = 0;  ///< of the machine, > 0
    /// What each job used, where that is not the processors it asked for x its run time: where jobs change their
    /// sizes or have shares. Else empty.
    std::span<const double> processor_seconds{};
    /// Metrics are of the jobs submitted in [from, until) and of this time; the makespan is that of all jobs.
    Time from = Time::min(), until = Time::max();
    bool counts(const WorkloadJob& entry) const { return entry.job.submit >= from && entry.job.submit < until; }
};

/// The time that jobs without delay would count for in the bounded slowdown at the least; 10 s in the literature
/// [Feitelson2001].
inline constexpr Duration kDefaultTau = std::chrono::seconds{10};

/// Wait = start - submit; response = end - submit; slowdown = response / run time; bounded slowdown = max(1, response /
/// max(run time, tau)). Times in seconds.
struct JobMetrics {
    std::size_t jobs = 0;
    double processor_seconds = 0;  ///< sum of what they used: processors x run time, or as the schedule says
    Distribution wait_s;
    Distribution response_s;
    Distribution slowdown;
    Distribution bounded_slowdown;

    bool operator==(const JobMetrics&) const = default;
};

/// What metrics need to know of a job that has run.
struct JobTimes {
    Duration wait{};
    Duration response{};
    Duration runtime{};  ///< > 0, as in the workload
    double processor_seconds = 0;
    std::int32_t processors = 1;  ///< as asked for
};
/// Of a job that used what it asked for.
JobTimes times_of(const WorkloadJob& entry, Time start, Time end);
/// Of the jobs that the schedule counts, in the order of the workload.
std::vector<JobTimes> job_times(const Workload& workload, const Schedule& schedule);

/// Precondition of this and all below: tau > 0. Linear; memory for one number a job.
JobMetrics job_metrics(std::span<const JobTimes> jobs, Duration tau = kDefaultTau);

struct ScheduleMetrics {
    double makespan_s = 0;  ///< last end - first submission
    /// Processor seconds used / (processors of the machine x makespan), 0 .. 1; with `from` or `until` of the part of
    /// the makespan between them, where a job's use is spread evenly from its start to its end.
    double utilization = 0;
    JobMetrics all;

    bool operator==(const ScheduleMetrics&) const = default;
};

/// Precondition: a schedule of this workload. The run time of a job is the one of the workload. Linear.
ScheduleMetrics schedule_metrics(const Workload& workload, const Schedule& schedule, Duration tau = kDefaultTau);

/// The jobs of one class.
struct ClassMetrics {
    std::string name;  ///< "4-7 processors", "1 min - 10 min"
    JobMetrics jobs;

    bool operator==(const ClassMetrics&) const = default;
};
/// Sizes 1, 2-3, 4-7, ... up to the largest job of the workload; classes without jobs are there, too.
std::vector<ClassMetrics> metrics_by_size(std::span<const JobTimes> jobs, std::int32_t largest,
                                          Duration tau = kDefaultTau);
std::vector<ClassMetrics> metrics_by_size(const Workload& workload, const Schedule& schedule,
                                          Duration tau = kDefaultTau);
/// Run times below 1 min, 10 min, 1 h, 4 h, 12 h, and of 12 h or more.
std::vector<ClassMetrics> metrics_by_runtime(std::span<const JobTimes> jobs, Duration tau = kDefaultTau);
std::vector<ClassMetrics> metrics_by_runtime(const Workload& workload, const Schedule& schedule,
                                             Duration tau = kDefaultTau);

}  // namespace zbs
