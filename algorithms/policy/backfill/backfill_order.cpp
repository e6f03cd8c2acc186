#include "algorithms/policy/backfill/backfill_order.hpp"

#include <algorithm>

namespace zbs {

double expected_slowdown(const ZoneSnapshot& zone, const WaitingJob& job) {
    const double wait = static_cast<double>((zone.now - zone.record(job.handle).job.submit).count());
    return 1.0 + std::max(0.0, wait) / static_cast<double>(job.walltime.count());
}

void sort_jobs(const ZoneSnapshot& zone, BackfillOrder order, std::vector<WaitingJob>& jobs) {
    std::vector<std::pair<double, WaitingJob>> ranked;
    ranked.reserve(jobs.size());
    for (const WaitingJob& job : jobs) {
        double rank = 0;
        switch (order) {
            case BackfillOrder::kArrival:
                break;
            case BackfillOrder::kEstimate:
                rank = static_cast<double>(job.walltime.count());
                break;
            case BackfillOrder::kSlowdown:
                rank = -expected_slowdown(zone, job);
                break;
            case BackfillOrder::kPriority:
                rank = -static_cast<double>(zone.record(job.handle).job.priority);
                break;
        }
        ranked.emplace_back(rank, job);
    }
    std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.second.arrival < b.second.arrival;
    });
    for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i] = ranked[i].second;
}

}  // namespace zbs
