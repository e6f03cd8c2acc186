#include "docs/examples/policy/narrow_first.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace zbs::examples {

void NarrowFirst::plan(const ZoneSnapshot& zone, Plan& plan) {
    plan.clear();
    const auto place = [&](const WaitingJob& job) {
        const bool impatient = zone.now - zone.record(job.handle).job.submit > patience_;
        return std::tuple(!impatient, impatient ? 0 : job.processors, job.arrival);
    };
    std::vector<WaitingJob> line;
    zone.waiting.visit([&](const WaitingJob& job) { return line.push_back(job), true; });
    std::ranges::sort(line, {}, place);

    std::int32_t free = zone.free_processors;
    for (const WaitingJob& job : line) {
        if (job.processors > free) break;  // nobody passes an impatient job; behind any other all are as wide
        free -= job.processors;
        plan.starts.push_back(zone.record(job.handle).job.id);
    }
}

}  // namespace zbs::examples
