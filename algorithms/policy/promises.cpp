#include "algorithms/policy/promises.hpp"

#include <algorithm>

namespace zbs {

void PlanInMaking::start(const WaitingJob& job) {
    plan_.starts.push_back(zone_.record(job.handle).job.id);
    profile_.add(zone_.now, zone_.now + job.walltime, -job.processors);
    free_ -= job.processors;
}

bool PlanInMaking::start_if_room(const WaitingJob& job) {
    if (job.processors > free_ || !profile_.fits(zone_.now, job.walltime, job.processors)) return false;
    start(job);
    return true;
}

void PlanInMaking::promise(const WaitingJob& job, Duration slack) {
    const JobRecord& record = zone_.record(job.handle);
    const Time at = bounds_.earliest_start(profile_, zone_.now, job.processors, job.walltime);
    if (at == zone_.now && job.processors <= free_) return start(job);
    if (at != kNever) profile_.add(at, at + job.walltime, -job.processors);
    const Time latest = at == kNever || slack > kNever - at ? kNever : at + slack;
    if (record.reserved != at) plan_.reservations.push_back({record.job.id, at, std::min(latest, record.latest_start)});
}

void PlanInMaking::renew_promises() {
    std::vector<std::pair<Time, WaitingJob>> promised;
    zone_.waiting.visit([&](const WaitingJob& job) {
        const Time at = zone_.record(job.handle).reserved;
        if (at != kNever) promised.emplace_back(at, job);
        return true;
    });
    std::sort(promised.begin(), promised.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.second.arrival < b.second.arrival;
    });
    for (const auto& [at, job] : promised) promise(job);
}

}  // namespace zbs
