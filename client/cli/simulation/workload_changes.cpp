#include "client/cli/simulation/workload_changes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "algorithms/base/text.hpp"
#include "client/cli/expression.hpp"

namespace zbs::cli {
namespace {

using formats::SwfField;

constexpr double kLongest_s = 1e11;   ///< of an estimate, as for those of logs
constexpr double kMostTime_s = 1e12;  ///< from the first to the last submission, likewise

constexpr std::string_view kJobAttributes[] = {"job",   "submit", "processors",  "run_time",  "estimate", "user",
                                               "group", "queue",  "application", "partition", "status"};

std::string digits_of(double value) { return number_text("%.4g", value); }

/// Of job `i`, those in `names` that are known; times in whole seconds.
Attributes job_attributes(const LoadedWorkload& loaded, std::size_t i, const std::set<std::string_view>& names) {
    const Job& job = loaded.workload.jobs[i].job;
    const auto whole = [](Duration time) { return std::chrono::floor<std::chrono::seconds>(time).count(); };
    Attributes found;
    const auto add = [&](std::string_view name, std::int64_t value) {
        if (value >= 0 && names.contains(name)) found.emplace(name, std::to_string(value));
    };
    add("job", job.id.value);
    add("submit", whole(job.submit.time_since_epoch()));
    add("processors", job.processors);
    add("run_time", whole(loaded.workload.jobs[i].runtime));
    add("estimate", whole(job.walltime));
    add("user", job.user);
    add("group", job.group);
    add("queue", job.queue);
    add("application", job.application);
    if (!loaded.trace) return found;
    const formats::SwfRecord& record = loaded.trace->records[loaded.cleaned.record_of_job[i]];
    add("application", record.whole(SwfField::kExecutable));
    add("partition", record.whole(SwfField::kPartition));
    add("status", record.whole(SwfField::kStatus));
    return found;
}

/// The jobs in this order; those that are not named go.
void take(LoadedWorkload& loaded, const std::vector<std::size_t>& order) {
    std::vector<WorkloadJob> jobs;
    std::vector<std::uint32_t> records;
    for (const std::size_t i : order) {
        jobs.push_back(loaded.workload.jobs[i]);
        if (loaded.trace) records.push_back(loaded.cleaned.record_of_job[i]);
    }
    loaded.workload.jobs = std::move(jobs);
    loaded.cleaned.record_of_job = std::move(records);
}

Result<void> keep_where(const std::string& where, LoadedWorkload& loaded) {
    const Result<Expression> condition = Expression::parse(where, kJobAttributes);
    if (!condition) return condition.error();
    const std::set<std::string_view> names = condition->names();
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < loaded.workload.jobs.size(); ++i)
        if (condition->holds(job_attributes(loaded, i, names))) kept.push_back(i);
    const std::size_t all = loaded.workload.jobs.size();
    if (kept.empty()) return invalid("holds for none of " + counted(all, "job"), "--where");
    loaded.notes.push_back("--where keeps " + std::to_string(kept.size()) + " of " + counted(all, "job"));
    take(loaded, kept);
    return {};
}

void scale_estimates(double factor, LoadedWorkload& loaded) {
    for (WorkloadJob& entry : loaded.workload.jobs) {
        const double scaled_s = std::min(to_seconds(entry.job.walltime) * factor, kLongest_s);
        entry.job.walltime = std::max(entry.runtime, seconds_to_duration(scaled_s));
    }
    loaded.notes.push_back("--estimate-factor: estimates are " + digits_of(factor) +
                           " times as long, and not below the run time");
}

Result<void> scale_load(double load, LoadedWorkload& loaded) {
    std::vector<WorkloadJob>& jobs = loaded.workload.jobs;
    const Time first = jobs.front().job.submit, last = jobs.back().job.submit;
    if (first == last) return invalid("needs jobs that are submitted at different times", "--load");
    const double span_s = to_seconds(last - first);
    double work = 0;
    for (const WorkloadJob& entry : jobs) work += entry.job.processors * to_seconds(entry.runtime);
    const double offered = work / (loaded.workload.processors * span_s), scale = offered / load;
    if (span_s * scale > kMostTime_s)
        return invalid("is so low that the submissions take more than " + digits_of(kMostTime_s) +
                           " s; the offered load of these jobs is " + digits_of(offered),
                       "--load");
    for (WorkloadJob& entry : jobs)
        entry.job.submit = first + seconds_to_duration(to_seconds(entry.job.submit - first) * scale);
    std::vector<std::size_t> order(jobs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t i) { return std::pair{jobs[i].job.submit, jobs[i].job.id}; };
    if (!std::ranges::is_sorted(order, {}, key)) {
        std::ranges::sort(order, {}, key);
        take(loaded, order);
    }
    loaded.notes.push_back("--load: gaps between submissions are " + digits_of(scale) +
                           " times as long; the offered load was " + digits_of(offered));
    return {};
}

}  // namespace

Result<void> change_workload(const WorkloadSource& source, LoadedWorkload& loaded) {
    if (!source.where.empty())
        if (Result<void> kept = keep_where(source.where, loaded); !kept) return kept;
    if (source.estimate_factor) scale_estimates(*source.estimate_factor, loaded);
    return source.load ? scale_load(*source.load, loaded) : Result<void>{};
}

std::int64_t most_in_use(const Workload& workload, const SimulatedSchedule& schedule) {
    std::vector<std::pair<Time, std::int64_t>> changes;
    changes.reserve(2 * workload.jobs.size());
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        changes.emplace_back(schedule.start[i], workload.jobs[i].job.processors);
        changes.emplace_back(schedule.end[i], -workload.jobs[i].job.processors);
    }
    std::ranges::sort(changes);  // at one instant, ends come first
    std::int64_t in_use = 0, most = 0;
    for (const auto& [at, change] : changes) most = std::max(most, in_use += change);
    return most;
}

Result<SimulatedSchedule> recorded_schedule(const LoadedWorkload& loaded) {
    if (!loaded.trace)
        return invalid("is the schedule that a log recorded; these jobs come from a model", std::string(kRecorded));
    SimulatedSchedule schedule{
        .policy = std::string(kRecorded), .processors = loaded.workload.processors, .jobs = loaded.jobs};
    for (std::size_t i = 0; i < loaded.workload.jobs.size(); ++i) {
        const WorkloadJob& entry = loaded.workload.jobs[i];
        const formats::SwfRecord& record = loaded.trace->records[loaded.cleaned.record_of_job[i]];
        const Duration wait{record.millionth(SwfField::kWait)};
        if (wait < Duration::zero())
            return invalid("the log has no wait of job " + std::to_string(entry.job.id.value) + " (line " +
                               std::to_string(record.line) + ")",
                           std::string(kRecorded));
        schedule.start.push_back(entry.job.submit + wait);
        schedule.end.push_back(schedule.start.back() + entry.runtime);
    }
    return schedule;
}

}  // namespace zbs::cli
