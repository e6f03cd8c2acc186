#include "algorithms/policy/backfill/slack_backfill.hpp"

#include <algorithm>
#include <vector>

namespace zbs {
namespace {

struct Placed {
    WaitingJob job;
    Time at;
    Time latest;
};

/// Places the jobs in the order given, each as early as possible; false, and `profile` of no use, where one comes too
/// late.
bool place_in_time(Time now, CapacityProfile& profile, std::vector<Placed>& jobs) {
    StartBounds bounds;
    for (Placed& placed : jobs) {
        placed.at = bounds.earliest_start(profile, now, placed.job.processors, placed.job.walltime);
        if (placed.at > placed.latest) return false;
        if (placed.at != kNever) profile.add(placed.at, placed.at + placed.job.walltime, -placed.job.processors);
    }
    return true;
}

void keep_promises(Time now, CapacityProfile& profile, StartBounds& bounds, std::vector<Placed>& waiting) {
    std::sort(waiting.begin(), waiting.end(), [](const Placed& a, const Placed& b) {
        return a.at != b.at ? a.at < b.at : a.job.arrival < b.job.arrival;
    });
    for (Placed& placed : waiting) {
        placed.at = bounds.earliest_start(profile, now, placed.job.processors, placed.job.walltime);
        if (placed.at != kNever) profile.add(placed.at, placed.at + placed.job.walltime, -placed.job.processors);
    }
}

/// The first promise to a job: as early as possible, and later by its slack at most.
Placed first_promise(const ZoneSnapshot& zone, CapacityProfile& profile, StartBounds& bounds, const WaitingJob& job,
                     double factor) {
    const Time at = bounds.earliest_start(profile, zone.now, job.processors, job.walltime);
    const double important = 1.0 + std::max(0, zone.record(job.handle).job.priority);
    const double slack = factor * static_cast<double>(job.walltime.count()) / important;
    const double most = static_cast<double>(ZoneState::kMaxTimeUs);
    if (at != kNever) profile.add(at, at + job.walltime, -job.processors);
    return {job, at, at == kNever ? kNever : at + Duration{static_cast<std::int64_t>(std::min(slack, most))}};
}

/// All but the candidate, by the latest start that they were promised.
std::vector<Placed> others_by_deadline(const std::vector<Placed>& waiting, const WaitingJob& candidate) {
    std::vector<Placed> others;
    for (const Placed& placed : waiting)
        if (placed.job.arrival != candidate.arrival) others.push_back(placed);
    std::sort(others.begin(), others.end(), [](const Placed& a, const Placed& b) {
        return a.latest != b.latest ? a.latest < b.latest : a.job.arrival < b.job.arrival;
    });
    return others;
}

}  // namespace

void SlackBackfill::plan(const ZoneSnapshot& zone, Plan& plan) {
    plan.clear();
    CapacityProfile base = running_.follow(zone);  // running jobs and those that this plan starts
    std::vector<Placed> waiting;
    std::vector<WaitingJob> arrived;
    zone.waiting.visit([&](const WaitingJob& job) {
        const JobRecord& record = zone.record(job.handle);
        if (record.reserved == kNever)
            arrived.push_back(job);
        else
            waiting.push_back({job, record.reserved, record.latest_start});
        return true;
    });

    // Promises again in their own order: none moves back (see promises.hpp), none can be too late but by a fault.
    CapacityProfile profile = base;
    StartBounds bounds;
    keep_promises(zone.now, profile, bounds, waiting);
    for (const WaitingJob& job : arrived) waiting.push_back(first_promise(zone, profile, bounds, job, options_.slack));

    std::int32_t free = zone.free_processors;
    const auto start = [&](const WaitingJob& job) {
        plan.starts.push_back(zone.record(job.handle).job.id);
        base.add(zone.now, zone.now + job.walltime, -job.processors);
        free -= job.processors;
    };
    std::erase_if(waiting, [&](const Placed& placed) {
        if (placed.at > zone.now || placed.job.processors > free) return false;
        start(placed.job);
        return true;
    });

    std::vector<WaitingJob> candidates;
    for (const Placed& placed : waiting)
        if (placed.job.processors <= free) candidates.push_back(placed.job);
    std::sort(candidates.begin(), candidates.end(),
              [](const WaitingJob& a, const WaitingJob& b) { return a.arrival < b.arrival; });
    if (candidates.size() > options_.lookahead) candidates.resize(options_.lookahead);
    for (const WaitingJob& candidate : candidates) {
        if (candidate.processors > free) continue;
        std::vector<Placed> others = others_by_deadline(waiting, candidate);
        CapacityProfile trial = base;
        trial.add(zone.now, zone.now + candidate.walltime, -candidate.processors);
        if (!place_in_time(zone.now, trial, others)) continue;
        start(candidate);
        waiting = std::move(others);
    }
    // Moving one job can open room now for another.
    std::erase_if(waiting, [&](const Placed& placed) {
        if (placed.at > zone.now || placed.job.processors > free) return false;
        start(placed.job);
        return true;
    });
    for (const Placed& placed : waiting) {
        const JobRecord& record = zone.record(placed.job.handle);
        if (record.reserved != placed.at)
            plan.reservations.push_back({record.job.id, placed.at, std::max(placed.at, placed.latest)});
    }
}

}  // namespace zbs
