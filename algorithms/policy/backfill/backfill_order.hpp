#pragma once
#include <vector>

#include "algorithms/model/zone_state.hpp"

namespace zbs {

/// In which order jobs behind the head are tried for backfilling.
enum class BackfillOrder : std::uint8_t {
    kArrival,
    kEstimate,  ///< shortest walltime first
    kSlowdown,  ///< largest expected slowdown, (wait + walltime) / walltime, first
    kPriority,  ///< largest priority first
};

/// The slowdown that a waiting job would have if it started now and ran to its walltime; >= 1.
double expected_slowdown(const ZoneSnapshot& zone, const WaitingJob& job);

/// Puts waiting jobs into `order`; ties stay in the order of arrival. O(n log n).
void sort_jobs(const ZoneSnapshot& zone, BackfillOrder order, std::vector<WaitingJob>& jobs);

}  // namespace zbs
