#include "algorithms/policy/backfill/depth_backfill.hpp"

namespace zbs {

void DepthBackfill::plan(const ZoneSnapshot& zone, Plan& plan) {
    plan.clear();
    CapacityProfile profile = running_.follow(zone);
    std::int32_t free = zone.free_processors;
    StartBounds bounds(zone.processors);
    std::size_t reserved = 0;
    std::vector<WaitingJob> others;
    const auto start = [&](const WaitingJob& job) {
        plan.starts.push_back(zone.record(job.handle).job.id);
        profile.add(zone.now, zone.now + job.walltime, -job.processors);
        free -= job.processors;
    };
    zone.waiting.visit([&](const WaitingJob& job) {
        if (reserved >= depth_) {
            if (free == 0) return false;
            if (job.processors <= free) others.push_back(job);
            return true;
        }
        const Time at = bounds.earliest_start(profile, zone.now, job.processors, job.walltime);
        if (at == zone.now && job.processors <= free) {
            start(job);
            return true;
        }
        ++reserved;
        if (at != kNever) profile.add(at, at + job.walltime, -job.processors);
        const JobRecord& record = zone.record(job.handle);
        if (record.reserved != at) plan.reservations.push_back({record.job.id, at});
        return true;
    });
    if (order_ != BackfillOrder::kArrival) sort_jobs(zone, order_, others);
    for (const WaitingJob& job : others)
        if (job.processors <= free && profile.fits(zone.now, job.walltime, job.processors)) start(job);
}

}  // namespace zbs
