#include "algorithms/metrics/schedule_metrics.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

/// Statistics of values in the order given; reorders them.
Distribution distribution_in(std::span<double> values) {
    Distribution found;
    const std::size_t n = values.size();
    if (n == 0) return found;
    double sum = 0;
    for (const double value : values) sum += value;
    found.mean = sum / static_cast<double>(n);
    const auto at = [&](std::size_t index) { return values.begin() + static_cast<std::ptrdiff_t>(index); };
    // n * 95 / 100 in whole numbers: 0.95 n in floating point may fall short of one.
    const std::size_t middle = n / 2, high = n / 100 * 95 + n % 100 * 95 / 100;
    std::nth_element(values.begin(), at(high), values.end());
    found.p95 = values[high];
    found.max = *std::max_element(at(high), values.end());
    // The median lies below, or is the same.
    if (middle < high) std::nth_element(values.begin(), at(middle), at(high));
    found.median = values[middle];
    if (n % 2 == 0) found.median = std::midpoint(found.median, *std::max_element(values.begin(), at(middle)));
    return found;
}

/// Metrics of each class; `class_of` gives the class of a job, below `classes`. One quantity after the other, so that
/// besides the jobs there is one number of each in memory.
template <class ClassOf>
std::vector<JobMetrics> metrics_of(std::span<const JobTimes> jobs, Duration tau, std::size_t classes,
                                   ClassOf&& class_of) {
    ZBS_EXPECTS(tau > Duration::zero());
    std::vector<JobMetrics> found(classes);
    for (const JobTimes& job : jobs) {
        JobMetrics& metrics = found[class_of(job)];
        ++metrics.jobs;
        metrics.processor_seconds += job.processor_seconds;
    }
    std::vector<double> values(jobs.size());
    std::vector<std::size_t> end(classes);
    const auto summarize = [&](Distribution JobMetrics::*into, auto&& value_of) {
        for (std::size_t c = 0, begin = 0; c < classes; begin += found[c++].jobs) end[c] = begin;
        for (const JobTimes& job : jobs) values[end[class_of(job)]++] = value_of(job);
        for (std::size_t c = 0; c < classes; ++c)
            found[c].*into = distribution_in(std::span(values).subspan(end[c] - found[c].jobs, found[c].jobs));
    };
    const auto response_s = [](const JobTimes& job) { return to_seconds(job.response); };
    summarize(&JobMetrics::wait_s, [](const JobTimes& job) { return to_seconds(job.wait); });
    summarize(&JobMetrics::response_s, response_s);
    summarize(&JobMetrics::slowdown, [&](const JobTimes& job) { return response_s(job) / to_seconds(job.runtime); });
    summarize(&JobMetrics::bounded_slowdown, [&](const JobTimes& job) {
        return std::max(1.0, response_s(job) / to_seconds(std::max(job.runtime, tau)));
    });
    return found;
}

double used(const Workload& workload, const Schedule& schedule, std::size_t job) {
    const WorkloadJob& entry = workload.jobs[job];
    return schedule.processor_seconds.empty() ? entry.job.processors * to_seconds(entry.runtime)
                                              : schedule.processor_seconds[job];
}

void check(const Workload& workload, const Schedule& schedule) {
    ZBS_EXPECTS(schedule.start.size() == workload.jobs.size());
    ZBS_EXPECTS(schedule.end.size() == workload.jobs.size());
    ZBS_EXPECTS(schedule.processor_seconds.empty() || schedule.processor_seconds.size() == workload.jobs.size());
    ZBS_EXPECTS(schedule.processors > 0);
}

std::vector<ClassMetrics> named(std::vector<std::string> names, std::vector<JobMetrics> metrics) {
    std::vector<ClassMetrics> classes;
    for (std::size_t c = 0; c < names.size(); ++c) classes.push_back({std::move(names[c]), std::move(metrics[c])});
    return classes;
}

}  // namespace

Distribution distribution_of(std::vector<double> values) { return distribution_in(values); }

JobTimes times_of(const WorkloadJob& entry, Time start, Time end) {
    return {.wait = start - entry.job.submit,
            .response = end - entry.job.submit,
            .runtime = entry.runtime,
            .processor_seconds = entry.job.processors * to_seconds(entry.runtime),
            .processors = entry.job.processors};
}

std::vector<JobTimes> job_times(const Workload& workload, const Schedule& schedule) {
    check(workload, schedule);
    std::vector<JobTimes> times;
    times.reserve(workload.jobs.size());
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        if (!schedule.counts(workload.jobs[i])) continue;
        times.push_back(times_of(workload.jobs[i], schedule.start[i], schedule.end[i]));
        times.back().processor_seconds = used(workload, schedule, i);
    }
    return times;
}

JobMetrics job_metrics(std::span<const JobTimes> jobs, Duration tau) {
    return metrics_of(jobs, tau, 1, [](const JobTimes&) { return std::size_t{0}; }).front();
}

ScheduleMetrics schedule_metrics(const Workload& workload, const Schedule& schedule, Duration tau) {
    ScheduleMetrics found;
    found.all = job_metrics(job_times(workload, schedule), tau);
    Time first = Time::max(), last = Time::min();
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        first = std::min(first, workload.jobs[i].job.submit);
        last = std::max(last, schedule.end[i]);
    }
    if (workload.jobs.empty()) return found;
    found.makespan_s = to_seconds(last - first);
    const Time begin = std::max(first, schedule.from), end = std::min(last, schedule.until);
    if (begin >= end) return found;
    double processor_seconds = 0;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const Time ran_from = std::max(begin, schedule.start[i]), ran_until = std::min(end, schedule.end[i]);
        if (ran_from < ran_until)
            processor_seconds += used(workload, schedule, i) *
                                 (to_seconds(ran_until - ran_from) / to_seconds(schedule.end[i] - schedule.start[i]));
    }
    found.utilization = processor_seconds / (schedule.processors * to_seconds(end - begin));
    return found;
}

std::vector<ClassMetrics> metrics_by_size(std::span<const JobTimes> jobs, std::int32_t largest, Duration tau) {
    const auto class_of = [](std::int32_t size) {
        return static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(size))) - 1;
    };
    std::vector<std::string> names = {"1 processor"};
    for (std::size_t c = 1; c <= class_of(largest); ++c)
        names.push_back(std::to_string(std::int64_t{1} << c) + "-" + std::to_string((std::int64_t{2} << c) - 1) +
                        " processors");
    std::vector<JobMetrics> metrics =
        metrics_of(jobs, tau, names.size(), [&](const JobTimes& job) { return class_of(job.processors); });
    return named(std::move(names), std::move(metrics));
}

std::vector<ClassMetrics> metrics_by_size(const Workload& workload, const Schedule& schedule, Duration tau) {
    std::int32_t largest = 1;
    for (const WorkloadJob& entry : workload.jobs) largest = std::max(largest, entry.job.processors);
    return metrics_by_size(job_times(workload, schedule), largest, tau);
}

std::vector<ClassMetrics> metrics_by_runtime(std::span<const JobTimes> jobs, Duration tau) {
    using std::chrono::hours, std::chrono::minutes;
    static constexpr Duration kBounds[] = {minutes{1}, minutes{10}, hours{1}, hours{4}, hours{12}};
    std::vector<std::string> names = {"< 1 min",   "1 min - 10 min", "10 min - 1 h",
                                      "1 h - 4 h", "4 h - 12 h",     ">= 12 h"};
    std::vector<JobMetrics> metrics = metrics_of(jobs, tau, names.size(), [](const JobTimes& job) {
        return static_cast<std::size_t>(std::upper_bound(std::begin(kBounds), std::end(kBounds), job.runtime) -
                                        std::begin(kBounds));
    });
    return named(std::move(names), std::move(metrics));
}

std::vector<ClassMetrics> metrics_by_runtime(const Workload& workload, const Schedule& schedule, Duration tau) {
    return metrics_by_runtime(job_times(workload, schedule), tau);
}

}  // namespace zbs
