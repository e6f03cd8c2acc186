#include "algorithms/policy/fcfs.hpp"

namespace zbs {

void Fcfs::plan(const ZoneSnapshot& zone, Plan& plan) {
    plan.clear();
    std::int32_t free = zone.free_processors;
    zone.waiting.visit([&](const WaitingJob& job) {
        if (job.processors > free) return false;
        free -= job.processors;
        plan.starts.push_back(zone.record(job.handle).job.id);
        return true;
    });
}

}  // namespace zbs
