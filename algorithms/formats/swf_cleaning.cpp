#include "algorithms/formats/swf_cleaning.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "algorithms/base/expects.hpp"

namespace zbs::formats {
namespace {

constexpr std::int64_t kSecond = SwfRecord::kUnit;
constexpr std::int64_t kMaxSubmit = 1'000'000'000'000 * kSecond, kMaxLength = 100'000'000'000 * kSecond;
constexpr std::int64_t kMaxProcessors = 100'000'000;  // ZoneState's, too

Error fault_of(const SwfRecord& record, std::string_view source, const std::string& message) {
    return invalid("job " + std::to_string(record.whole(SwfField::kJob)) + " " + message,
                   std::string(source) + ":" + std::to_string(record.line));
}

std::int64_t memory_kib(const SwfRecord& record) {
    const std::int64_t memory = record.whole(SwfField::kRequestedMemory);
    return memory > 0 ? memory : std::max<std::int64_t>(0, record.whole(SwfField::kUsedMemory));
}
std::int32_t small(const SwfRecord& record, SwfField field) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(record.whole(field), -1, 0x7fffffff));
}

/// Resolves what depends on all jobs of a log: repeated numbers and the order.
struct Cleaner {
    const SwfTrace& trace;
    std::string_view source;
    const SwfCleaning& rules;
    CleanedSwf out;

    Error fault(const SwfRecord& record, const std::string& message) const { return fault_of(record, source, message); }
    /// Refuses or drops jobs whose number was seen further up.
    Result<void> resolve_ids() {
        std::vector<WorkloadJob>& jobs = out.workload.jobs;
        const auto id_of = [&](std::size_t i) { return jobs[i].job.id; };
        bool ascending = true;
        for (std::size_t i = 1; i < jobs.size() && ascending; ++i) ascending = id_of(i - 1) < id_of(i);
        if (ascending) return {};
        std::vector<std::uint32_t> by_id(jobs.size());
        std::iota(by_id.begin(), by_id.end(), 0U);
        std::ranges::stable_sort(by_id, {}, id_of);
        std::vector<std::uint32_t> repeated;
        for (std::size_t i = 1; i < by_id.size(); ++i)
            if (id_of(by_id[i - 1]) == id_of(by_id[i])) repeated.push_back(by_id[i]);
        if (repeated.empty()) return {};
        std::ranges::sort(repeated);
        if (rules.repeated_id == SwfCleaning::Action::kRefuse) {
            const std::uint32_t again = repeated.front();
            std::uint32_t first = 0;
            while (id_of(first) != id_of(again)) ++first;
            return fault(record_of(again),
                         "is on line " + std::to_string(record_of(first).line) +
                             ", too: number all jobs anew with --renumber, or skip the later lines of a "
                             "damaged file with --lenient");
        }
        std::size_t kept = 0, next = 0;
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            if (next < repeated.size() && repeated[next] == i) {
                ++next;
                out.drop(SwfDrop::kRepeatedId, record_of(i).line);
                continue;
            }
            jobs[kept] = jobs[i];
            out.record_of_job[kept++] = out.record_of_job[i];
        }
        jobs.resize(kept);
        out.record_of_job.resize(kept);
        return {};
    }

    Result<void> sort() {
        std::vector<WorkloadJob>& jobs = out.workload.jobs;
        const auto before = [](const WorkloadJob& a, const WorkloadJob& b) {
            return a.job.submit != b.job.submit ? a.job.submit < b.job.submit : a.job.id < b.job.id;
        };
        bool sorted = true;
        for (std::size_t i = 1; i < jobs.size(); ++i) {
            if (jobs[i].job.submit < jobs[i - 1].job.submit) {
                if (!rules.out_of_order)
                    return fault(record_of(i), "is submitted before job " + std::to_string(jobs[i - 1].job.id.value) +
                                                   " of line " + std::to_string(record_of(i - 1).line) +
                                                   ": sort the log by submit time, or let it be sorted");
                if (++out.out_of_order == 1) out.first_out_of_order = record_of(i).line;
            }
            sorted = sorted && before(jobs[i - 1], jobs[i]);
        }
        if (sorted) return {};
        std::vector<std::uint32_t> order(jobs.size());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) { return before(jobs[a], jobs[b]); });
        std::vector<WorkloadJob> sorted_jobs(jobs.size());
        std::vector<std::uint32_t> sorted_records(jobs.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            sorted_jobs[i] = jobs[order[i]];
            sorted_records[i] = out.record_of_job[order[i]];
        }
        jobs = std::move(sorted_jobs);
        out.record_of_job = std::move(sorted_records);
        return {};
    }

    const SwfRecord& record_of(std::size_t job) const { return trace.records[out.record_of_job[job]]; }
};

/// Counts of jobs and the start in Unix time as the jobs have them.
void fit_header(const SwfTrace& trace, std::span<const WorkloadJob> jobs, std::span<const std::uint32_t> record_of_job,
                SwfTrace& schedule) {
    for (const std::string_view count : {"MaxJobs", "MaxRecords"})
        schedule.set_directive(count, std::to_string(jobs.size()));
    if (jobs.empty()) return;
    const std::int64_t shift =
        trace.records[record_of_job[0]].millionth(SwfField::kSubmit) - jobs[0].job.submit.time_since_epoch().count();
    if (shift == 0) return;
    if (const std::optional<std::int64_t> begin = trace.number("UnixStartTime"))
        schedule.set_directive("UnixStartTime", std::to_string(*begin + shift / kSecond));
    schedule.erase_directive("StartTime");
}

/// A preceding job (field 17) goes by its new number: the last line above that had the old one. Of one that is not in
/// the schedule, the field is unknown, and so is the think time after it (field 18).
void renumber_preceding(const SwfTrace& trace, std::span<const WorkloadJob> jobs,
                        std::span<const std::uint32_t> record_of_job, SwfTrace& schedule) {
    std::vector<std::uint32_t> by_line(jobs.size());
    std::iota(by_line.begin(), by_line.end(), 0U);
    std::ranges::sort(by_line, {}, [&](std::uint32_t job) { return record_of_job[job]; });
    std::unordered_map<std::int64_t, std::int64_t> new_number;
    std::size_t gone = 0;
    for (const std::uint32_t job : by_line) {
        const SwfRecord& old = trace.records[record_of_job[job]];
        if (old.millionth(SwfField::kPrecedingJob) > 0) {
            const auto found = new_number.find(old.whole(SwfField::kPrecedingJob));
            const bool is_gone = found == new_number.end();
            schedule.records[job].set_whole(SwfField::kPrecedingJob, is_gone ? -1 : found->second);
            if (is_gone) schedule.records[job].set_whole(SwfField::kThinkTime, -1);
            gone += is_gone ? 1 : 0;
        }
        new_number[old.whole(SwfField::kJob)] = jobs[job].job.id.value;
    }
    if (gone > 0)
        schedule.comments.push_back(
            " Note: jobs that followed a job without a line further up, whose fields 17 and "
            "18 are -1 now: " +
            std::to_string(gone));
}

}  // namespace

std::size_t CleanedSwf::dropped_in_all() const {
    return std::accumulate(dropped.begin(), dropped.end(), std::size_t{0});
}

void CleanedSwf::drop(SwfDrop reason, std::uint32_t line) {
    const auto at = static_cast<std::size_t>(reason);
    if (dropped[at]++ == 0) first_line[at] = line;
}

Result<const WorkloadJob*> SwfCleaner::drop(SwfDrop reason, SwfCleaning::Action action, const SwfRecord& record,
                                            const std::string& message) {
    if (action == SwfCleaning::Action::kRefuse) return fault_of(record, source_, message);
    out_.drop(reason, record.line);
    return nullptr;
}

void SwfCleaner::note_assumptions(const SwfRecord& record, bool no_estimate, bool zero_counts) {
    const auto assume = [&](SwfAssumption assumption, bool holds) {
        if (holds) out_.assumed[static_cast<std::size_t>(assumption)].add(record.line);
    };
    if (taken_ == 0) first_partition_ = record.whole(SwfField::kPartition);
    assume(SwfAssumption::kNoEstimate, no_estimate);
    assume(SwfAssumption::kOtherSize,
           record.whole(rules_.allocated_size ? SwfField::kAllocatedProcessors : SwfField::kRequestedProcessors) <= 0);
    assume(SwfAssumption::kFraction, record.millionth(SwfField::kAllocatedProcessors) % kSecond != 0 ||
                                         record.millionth(SwfField::kRequestedProcessors) % kSecond != 0);
    assume(SwfAssumption::kZeroRuntime, zero_counts);
    assume(SwfAssumption::kPreceding, record.millionth(SwfField::kPrecedingJob) > 0);
    assume(SwfAssumption::kPartition, record.whole(SwfField::kPartition) != first_partition_);
}
void SwfCleaner::fit(std::int64_t& runtime, std::int64_t& estimate) {
    if (runtime > estimate) {
        if (rules_.past_estimate == SwfCleaning::PastEstimate::kKilled) {
            runtime = estimate;
            ++out_.cut_at_estimate;
        } else if (rules_.past_estimate == SwfCleaning::PastEstimate::kRaised) {
            estimate = runtime;
        }
    }
    if (rules_.exact_estimates) estimate = runtime;
}

Result<const WorkloadJob*> SwfCleaner::take(const SwfRecord& record) {
    const std::int64_t status = record.whole(SwfField::kStatus);
    if (status >= 2 && status <= 4) return drop(SwfDrop::kPartial, SwfCleaning::Action::kDrop, record, {});
    const std::int64_t allocated = record.whole(SwfField::kAllocatedProcessors);
    const std::int64_t requested = record.whole(SwfField::kRequestedProcessors);
    const std::int64_t size =
        rules_.allocated_size ? (allocated > 0 ? allocated : requested) : (requested > 0 ? requested : allocated);
    const std::int64_t id =
        rules_.renumber ? static_cast<std::int64_t>(taken_ + 1) * kSecond : record.millionth(SwfField::kJob);
    if (id < 0 || id % kSecond != 0)
        return drop(SwfDrop::kImpossible, rules_.impossible, record,
                    "must have a whole number of 0 or more in field 1: correct it, or skip such lines with --lenient");
    if (size <= 0)
        return drop(SwfDrop::kNoSize, rules_.no_size, record,
                    "has no size: give requested (field 8) or allocated processors (field 5), or drop such jobs");
    if (std::max(allocated, requested) > processors_)
        return drop(SwfDrop::kOversized, rules_.oversized, record,
                    "needs " + std::to_string(std::max(allocated, requested)) + " processors, but the machine has " +
                        std::to_string(processors_) + ": give a larger one, or drop such jobs");
    std::int64_t runtime = record.millionth(SwfField::kRuntime);
    const bool zero_counts = rules_.zero_runtime_counts && runtime == 0 && status != 5;
    if (zero_counts) runtime = kSecond;
    if (runtime <= 0)
        return drop(SwfDrop::kNoRuntime, rules_.no_runtime, record,
                    "has no run time above zero (field 4): correct it, or drop such jobs");
    const std::int64_t submit = record.millionth(SwfField::kSubmit);
    if (submit < 0)
        return drop(SwfDrop::kNoSubmit, rules_.no_submit, record,
                    "has no submit time of zero or more (field 2): correct it, or drop such jobs");
    if (rules_.drop_cancelled && status == 5) return drop(SwfDrop::kCancelled, SwfCleaning::Action::kDrop, record, {});
    if (rules_.drop_failed && status == 0) return drop(SwfDrop::kFailed, SwfCleaning::Action::kDrop, record, {});
    std::int64_t estimate = record.millionth(SwfField::kRequestedTime);
    const bool no_estimate = estimate <= 0;
    if (no_estimate) estimate = runtime;
    if (submit > kMaxSubmit || runtime > kMaxLength || estimate > kMaxLength)
        return drop(SwfDrop::kImpossible, rules_.impossible, record,
                    "has a time out of range, beyond 1e12 s for submit times or 1e11 s for run and requested times: "
                    "correct it, or skip such lines with --lenient");
    fit(runtime, estimate);
    note_assumptions(record, no_estimate, zero_counts);
    job_ = {.job = {.id = JobId{id / kSecond},
                    .submit = Time{Duration{submit}},
                    .walltime = Duration{estimate},
                    .processors = static_cast<std::int32_t>(size),
                    .user = small(record, SwfField::kUser),
                    .group = small(record, SwfField::kGroup),
                    .queue = small(record, SwfField::kQueue),
                    .memory_bytes = memory_kib(record) * 1024},
            .runtime = Duration{runtime}};
    ++taken_;
    return &job_;
}

Result<std::int32_t> machine_size(const SwfTrace& trace, std::string_view source, const SwfCleaning& rules) {
    const std::string file(source);
    const std::int64_t processors = rules.processors > 0 ? rules.processors : trace.processors().value_or(0);
    const std::optional<std::string> most = trace.directive("MaxProcs");
    if (rules.processors <= 0 && most && !most->starts_with('-') && !trace.number("MaxProcs"))  // -1: not known
        return invalid("the header's MaxProcs is '" + *most + "', which is no whole number: name the number", file);
    if (processors <= 0)
        return invalid("the header does not say how many processors the machine has (MaxProcs): name the number", file);
    if (processors > kMaxProcessors)
        return invalid("the machine has " + std::to_string(processors) + " processors, but at most " +
                           std::to_string(kMaxProcessors) + " are simulated: name another number",
                       file);
    return static_cast<std::int32_t>(processors);
}

Result<CleanedSwf> clean_swf(const SwfTrace& trace, std::string_view source, const SwfCleaning& rules) {
    const std::string file(source);
    if (trace.records.empty())
        return invalid("the log has no jobs: lines of 18 numbers, one a job, were expected", file);
    const Result<std::int32_t> processors = machine_size(trace, source, rules);
    if (!processors) return processors.error();
    SwfCleaner one_by_one(source, rules, *processors);
    std::vector<WorkloadJob> jobs;
    std::vector<std::uint32_t> records;
    jobs.reserve(trace.records.size());
    records.reserve(trace.records.size());
    for (std::uint32_t i = 0; i < trace.records.size(); ++i) {
        const Result<const WorkloadJob*> job = one_by_one.take(trace.records[i]);
        if (!job) return job.error();
        if (*job == nullptr) continue;
        jobs.push_back(**job);
        records.push_back(i);
    }
    Cleaner cleaner{.trace = trace, .source = source, .rules = rules, .out = one_by_one.found()};
    cleaner.out.workload = {
        .name = file.substr(file.find_last_of('/') + 1), .processors = *processors, .jobs = std::move(jobs)};
    cleaner.out.record_of_job = std::move(records);
    if (Result<void> done = cleaner.resolve_ids(); !done) return done.error();
    if (Result<void> done = cleaner.sort(); !done) return done.error();
    CleanedSwf& out = cleaner.out;
    if (out.workload.jobs.empty()) {
        std::string why;
        for (std::size_t i = 0; i < kSwfDrops; ++i)
            if (out.dropped[i] > 0)
                why += (why.empty() ? "" : ", ") + std::to_string(out.dropped[i]) + " " +
                       std::string(to_string(static_cast<SwfDrop>(i)));
        return invalid("no job of the log is left after cleaning: " + why, file);
    }
    if (rules.shift_to_zero) {
        const Duration origin = out.workload.jobs.front().job.submit.time_since_epoch();
        for (WorkloadJob& entry : out.workload.jobs) entry.job.submit -= origin;
    }
    return std::move(cleaner.out);
}

SwfTrace schedule_swf(const SwfTrace& trace, std::span<const WorkloadJob> jobs,
                      std::span<const std::uint32_t> record_of_job, std::span<const Time> start) {
    ZBS_EXPECTS(record_of_job.size() == jobs.size() && (start.empty() || start.size() == jobs.size()));
    SwfTrace schedule;
    schedule.comments = trace.comments;
    fit_header(trace, jobs, record_of_job, schedule);
    if (!start.empty()) {
        schedule.erase_directive("EndTime");
        schedule.comments.emplace_back(" Note: waits (field 3) were simulated by zbs simulate");
    }
    schedule.records.reserve(jobs.size());
    bool renumbered = false;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        SwfRecord& record = schedule.records.emplace_back(trace.records[record_of_job[i]]);
        const auto set = [&](SwfField field, Duration value) {
            record.millionths[static_cast<std::size_t>(field)] = value.count();
        };
        const auto& [job, runtime] = jobs[i];
        renumbered = renumbered || record.whole(SwfField::kJob) != job.id.value;
        record.set_whole(SwfField::kJob, job.id.value);
        set(SwfField::kSubmit, job.submit.time_since_epoch());
        if (!start.empty()) set(SwfField::kWait, start[i] - job.submit);
        set(SwfField::kRuntime, runtime);
        if (record.millionth(SwfField::kRequestedTime) > 0) set(SwfField::kRequestedTime, job.walltime);
        if (const std::int64_t requested = record.whole(SwfField::kRequestedProcessors);
            requested > 0 && requested != job.processors)
            record.set_whole(SwfField::kRequestedProcessors, job.processors);
    }
    if (renumbered) renumber_preceding(trace, jobs, record_of_job, schedule);
    return schedule;
}

}  // namespace zbs::formats
