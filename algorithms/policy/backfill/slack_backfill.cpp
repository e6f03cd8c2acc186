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

/// Starts of all jobs but the candidate, placed in the order given, each as early as possible, into `found`; false, and
/// `profile` of no use, where one comes too late.
bool place_in_time(const ZoneSnapshot& zone, CapacityProfile& profile, const std::vector<Placed>& jobs,
                   const WaitingJob& candidate, std::vector<Time>& found) {
    StartBounds bounds(zone.processors);
    found.clear();
    for (const Placed& placed : jobs) {
        if (placed.job.arrival == candidate.arrival) continue;
        const Time at = bounds.earliest_start(profile, zone.now, placed.job.processors, placed.job.walltime);
        if (at > placed.latest) return false;
        if (at != kNever) profile.add(at, at + placed.job.walltime, -placed.job.processors);
        found.push_back(at);
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

/// By the latest start that they were promised.
std::vector<Placed> by_deadline(std::vector<Placed> jobs) {
    std::sort(jobs.begin(), jobs.end(), [](const Placed& a, const Placed& b) {
        return a.latest != b.latest ? a.latest < b.latest : a.job.arrival < b.job.arrival;
    });
    return jobs;
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
    StartBounds bounds(zone.processors);
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
    std::vector<Placed> ordered;  // those that wait, by deadline
    if (!candidates.empty()) ordered = by_deadline(waiting);
    bool started = false;
    std::vector<Time> found;
    for (const WaitingJob& candidate : candidates) {
        if (candidate.processors > free) continue;
        CapacityProfile trial = base;
        trial.add(zone.now, zone.now + candidate.walltime, -candidate.processors);
        if (!place_in_time(zone, trial, ordered, candidate, found)) continue;
        start(candidate);
        started = true;
        std::erase_if(ordered, [&](const Placed& placed) { return placed.job.arrival == candidate.arrival; });
        for (std::size_t i = 0; i < found.size(); ++i) ordered[i].at = found[i];
    }
    if (started) waiting = std::move(ordered);
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
