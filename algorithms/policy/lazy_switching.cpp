#include "algorithms/policy/lazy_switching.hpp"

namespace zbs {

void LazySwitching::plan(const ZoneSnapshot& zone, Plan& plan) {
    plan.clear();
    const auto described = [&](const JobRecord& record, Time since) {
        const Job& job = record.job;
        gang::PatienceClass patience = gang::PatienceClass::kBatch;
        if (job.walltime <= options_.debug_walltime) patience = gang::PatienceClass::kDebug;
        if (job.queue == 0) patience = gang::PatienceClass::kInteractive;
        constexpr std::int64_t kGiB = std::int64_t{1} << 30;
        return gang::LazyJob{.id = job.id,
                             .processors = job.processors,
                             .memory = (job.memory_bytes + kGiB - 1) / kGiB * job.processors,
                             .priority = job.priority,
                             .patience = patience,
                             .since = since};
    };
    std::vector<gang::LazyJob> running, waiting;
    zone.running.visit([&](const RunningJob& job) {
        const JobRecord& record = zone.record(job.handle);
        running.push_back(described(record, record.start));
        return true;
    });
    zone.waiting.visit([&](const WaitingJob& job) {
        // Processors may have left the zone: a job that is too wide now waits until they are back.
        const JobRecord& record = zone.record(job.handle);
        if (job.processors <= zone.processors) waiting.push_back(described(record, record.waiting_since));
        return true;
    });
    gang::LazyPlan decided = gang::plan_lazy_gang(zone.now, zone.processors, running, waiting, options_.lazy);
    plan.preemptions = std::move(decided.preemptions);
    plan.starts = std::move(decided.starts);
    plan.wake_at = decided.wake_at;
}

}  // namespace zbs
