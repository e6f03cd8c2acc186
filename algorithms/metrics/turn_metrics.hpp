#pragma once
#include <chrono>
#include <cstdint>
#include <span>

#include "algorithms/model/workload.hpp"

namespace zbs {

/// What a schedule whose jobs take turns used of the machine.
struct TurnUse {
    std::span<const double> processor_seconds;  ///< of each job, over all of its sizes, as it was served
    std::span<const Duration> time_with_rows;   ///< how long the slice matrix had so many rows, by their number
    std::int32_t processors = 0;                ///< of the machine, > 0
    std::uint64_t resized_processors = 0;       ///< what running jobs changed their size by, in all
    double makespan_s = 0;                      ///< > 0
};

/// What is booked besides the schedule, which knows nothing of it.
struct TurnCosts {
    /// Of each switch between rows, as part of a slice, 0..1; a lone row is never switched.
    double of_slice = 0.1;
    /// Rows among which a period is shared out: with fewer rows the slices are longer by as much. 0: the cost is part
    /// of each slice, however long.
    std::int32_t level = 0;
    Duration resize_per_processor = std::chrono::microseconds{100};  ///< of one processor
};

/// Where the capacity, processors of the machine x makespan, went. Parts of it, 0..1, but for the last two.
struct TurnMetrics {
    double utilization = 0;  ///< what jobs were served
    double switching = 0;
    double resizing = 0;
    double effective_utilization = 0;  ///< utilization - switching - resizing
    double fragmentation = 0;          ///< idle slots / slots of all rows, over the time
    /// sum S T / sum N T over all jobs and sizes: S the speedup [Huang2004, section 6.2], N the size, T the time.
    double accumulated_efficiency = 0;
    bool operator==(const TurnMetrics&) const = default;
};

/// Preconditions: `use` is that of a schedule of this workload; 0 <= of_slice <= 1. Linear.
TurnMetrics turn_metrics(const Workload& workload, const TurnUse& use, const TurnCosts& costs = {});

}  // namespace zbs
