#include "algorithms/metrics/schedule_metrics.hpp"

#include <algorithm>
#include <bit>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

/// Jobs gathered one after the other, then summed up.
class Gatherer {
  public:
    void reserve(std::size_t jobs) {
        for (std::vector<double>* values : {&wait_s_, &response_s_, &slowdown_, &bounded_slowdown_})
            values->reserve(jobs);
    }
    void add(const Workload& workload, const Schedule& schedule, std::size_t job, Duration tau) {
        const WorkloadJob& entry = workload.jobs[job];
        const Time start = schedule.start[job], end = schedule.end[job];
        const double runtime_s = to_seconds(entry.runtime), response_s = to_seconds(end - entry.job.submit);
        wait_s_.push_back(to_seconds(start - entry.job.submit));
        response_s_.push_back(response_s);
        slowdown_.push_back(response_s / runtime_s);
        bounded_slowdown_.push_back(std::max(1.0, response_s / to_seconds(std::max(entry.runtime, tau))));
        processor_seconds_ += used(workload, schedule, job);
    }
    static double used(const Workload& workload, const Schedule& schedule, std::size_t job) {
        const WorkloadJob& entry = workload.jobs[job];
        return schedule.processor_seconds.empty() ? entry.job.processors * to_seconds(entry.runtime)
                                                  : schedule.processor_seconds[job];
    }
    JobMetrics finish() && {
        return {.jobs = wait_s_.size(),
                .processor_seconds = processor_seconds_,
                .wait_s = distribution_of(std::move(wait_s_)),
                .response_s = distribution_of(std::move(response_s_)),
                .slowdown = distribution_of(std::move(slowdown_)),
                .bounded_slowdown = distribution_of(std::move(bounded_slowdown_))};
    }

  private:
    std::vector<double> wait_s_, response_s_, slowdown_, bounded_slowdown_;
    double processor_seconds_ = 0;
};

void check(const Workload& workload, const Schedule& schedule, Duration tau) {
    ZBS_EXPECTS(schedule.start.size() == workload.jobs.size());
    ZBS_EXPECTS(schedule.end.size() == workload.jobs.size());
    ZBS_EXPECTS(schedule.processor_seconds.empty() || schedule.processor_seconds.size() == workload.jobs.size());
    ZBS_EXPECTS(schedule.processors > 0);
    ZBS_EXPECTS(tau > Duration::zero());
}

/// `class_of` gives the class of a job, an index into `names`.
template <class ClassOf>
std::vector<ClassMetrics> metrics_by(const Workload& workload, const Schedule& schedule, Duration tau,
                                     std::vector<std::string> names, ClassOf&& class_of) {
    check(workload, schedule, tau);
    std::vector<Gatherer> gatherers(names.size());
    for (std::size_t i = 0; i < workload.jobs.size(); ++i)
        if (schedule.counts(workload.jobs[i])) gatherers[class_of(workload.jobs[i])].add(workload, schedule, i, tau);
    std::vector<ClassMetrics> classes;
    for (std::size_t c = 0; c < names.size(); ++c)
        classes.push_back({std::move(names[c]), std::move(gatherers[c]).finish()});
    return classes;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Distribution& d) {
    return out << "{mean " << d.mean << ", median " << d.median << ", p95 " << d.p95 << ", max " << d.max << "}";
}

Distribution distribution_of(std::vector<double> values) {
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
    return found;
}

ScheduleMetrics schedule_metrics(const Workload& workload, const Schedule& schedule, Duration tau) {
    check(workload, schedule, tau);
    ScheduleMetrics found;
    Gatherer gatherer;
    gatherer.reserve(workload.jobs.size());
    Time first = Time::max(), last = Time::min();
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        first = std::min(first, workload.jobs[i].job.submit);
        last = std::max(last, schedule.end[i]);
        if (schedule.counts(workload.jobs[i])) gatherer.add(workload, schedule, i, tau);
    }
    found.all = std::move(gatherer).finish();
    if (workload.jobs.empty()) return found;
    found.makespan_s = to_seconds(last - first);
    const Time begin = std::max(first, schedule.from), end = std::min(last, schedule.until);
    if (begin >= end) return found;
    double used = 0;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const Time ran_from = std::max(begin, schedule.start[i]), ran_until = std::min(end, schedule.end[i]);
        if (ran_from < ran_until)
            used += Gatherer::used(workload, schedule, i) *
                    (to_seconds(ran_until - ran_from) / to_seconds(schedule.end[i] - schedule.start[i]));
    }
    found.utilization = used / (schedule.processors * to_seconds(end - begin));
    return found;
}

std::vector<ClassMetrics> metrics_by_size(const Workload& workload, const Schedule& schedule, Duration tau) {
    std::int32_t largest = 1;
    for (const WorkloadJob& entry : workload.jobs) largest = std::max(largest, entry.job.processors);
    const auto class_of = [](std::int32_t size) {
        return static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(size))) - 1;
    };
    std::vector<std::string> names = {"1 processor"};
    for (std::size_t c = 1; c <= class_of(largest); ++c)
        names.push_back(std::to_string(std::int64_t{1} << c) + "-" + std::to_string((std::int64_t{2} << c) - 1) +
                        " processors");
    return metrics_by(workload, schedule, tau, std::move(names),
                      [&](const WorkloadJob& entry) { return class_of(entry.job.processors); });
}

std::vector<ClassMetrics> metrics_by_runtime(const Workload& workload, const Schedule& schedule, Duration tau) {
    using std::chrono::hours, std::chrono::minutes;
    static constexpr Duration kBounds[] = {minutes{1}, minutes{10}, hours{1}, hours{4}, hours{12}};
    return metrics_by(
        workload, schedule, tau, {"< 1 min", "1 min - 10 min", "10 min - 1 h", "1 h - 4 h", "4 h - 12 h", ">= 12 h"},
        [&](const WorkloadJob& entry) {
            return static_cast<std::size_t>(std::upper_bound(std::begin(kBounds), std::end(kBounds), entry.runtime) -
                                            std::begin(kBounds));
        });
}

}  // namespace zbs
