#include "algorithms/policy/backfill/dynamic_backfill.hpp"

#include <algorithm>
#include <vector>

namespace zbs {

void DynamicBackfill::plan(const ZoneSnapshot& zone, Plan& plan) {
    plan.clear();
    CapacityProfile profile = running_.follow(zone);  // without the head's reservation
    std::int32_t free = zone.free_processors;
    const auto start = [&](const WaitingJob& job) {
        plan.starts.push_back(zone.record(job.handle).job.id);
        profile.add(zone.now, zone.now + job.walltime, -job.processors);
        free -= job.processors;
    };
    const WaitingJob* head = nullptr;
    std::vector<WaitingJob> others;
    zone.waiting.visit([&](const WaitingJob& job) {
        if (head == nullptr && job.processors <= free)
            start(job);
        else if (head == nullptr)
            head = &job;
        else if (job.processors <= free)
            others.push_back(job);
        return true;
    });
    if (head == nullptr) return;
    const auto head_start = [&] { return profile.first_with(zone.now, head->processors); };
    const JobRecord& record = zone.record(head->handle);
    Time at = head_start();
    Time latest = record.latest_start;
    if (latest == kNever && at != kNever) latest = at + options_.max_delay;

    const auto start_unless_later_than = [&](const WaitingJob& job, Time limit) {
        if (job.processors > free) return false;
        profile.add(zone.now, zone.now + job.walltime, -job.processors);
        const Time delayed = head_start();
        if (delayed > limit) {
            profile.add(zone.now, zone.now + job.walltime, job.processors);
            return false;
        }
        at = delayed;
        plan.starts.push_back(zone.record(job.handle).job.id);
        free -= job.processors;
        return true;
    };
    std::erase_if(others, [&](const WaitingJob& job) { return start_unless_later_than(job, at); });
    const double enough = options_.gain * zone.processors;
    for (const WaitingJob& job : others)
        if (job.processors >= enough) start_unless_later_than(job, latest);
    if (at != record.reserved || latest != record.latest_start)
        plan.reservations.push_back({record.job.id, at, std::max(at, latest)});
}

}  // namespace zbs
