#include "algorithms/metrics/turn_metrics.hpp"

#include <algorithm>
#include <numeric>

#include "algorithms/base/expects.hpp"
#include "algorithms/model/speedup.hpp"

namespace zbs {

TurnMetrics turn_metrics(const Workload& workload, const TurnUse& use, const TurnCosts& costs) {
    ZBS_EXPECTS(use.processor_seconds.size() == workload.jobs.size());
    ZBS_EXPECTS(use.processors > 0 && use.makespan_s > 0);
    ZBS_EXPECTS(costs.of_slice >= 0 && costs.of_slice <= 1);
    const double used = std::accumulate(use.processor_seconds.begin(), use.processor_seconds.end(), 0.0);
    double with_jobs_s = 0, switching_s = 0;
    for (std::size_t rows = 1; rows < use.time_with_rows.size(); ++rows) {
        const double time_s = to_seconds(use.time_with_rows[rows]);
        with_jobs_s += time_s;
        if (rows == 1) continue;
        const double of_full = costs.level > 0 ? static_cast<double>(rows) / costs.level : 1;
        switching_s += time_s * std::min(1.0, costs.of_slice * of_full);
    }
    // A job's work is the speedup on what it asked for x its run time, on whatever sizes it was done.
    double work = 0;
    for (const auto& [job, runtime] : workload.jobs) {
        const SizeRange range = size_range(job, use.processors);
        work += speedup(range, range.best) * to_seconds(runtime);
    }
    TurnMetrics found;
    const double capacity = use.processors * use.makespan_s;
    found.utilization = used / capacity;
    found.switching = switching_s / use.makespan_s;
    found.resizing = static_cast<double>(use.resized_processors) * to_seconds(costs.resize_per_processor) / capacity;
    found.effective_utilization = found.utilization - found.switching - found.resizing;
    found.fragmentation = with_jobs_s > 0 ? 1 - used / (use.processors * with_jobs_s) : 0;
    found.accumulated_efficiency = used > 0 ? work / used : 0;
    return found;
}

}  // namespace zbs
