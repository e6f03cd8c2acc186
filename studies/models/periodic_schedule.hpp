#pragma once
#include <cstdint>
#include <optional>

#include "algorithms/model/trace_diagram.hpp"

namespace zbs::gang {

/// Part of a longer diagram that can be run over and over.
struct PeriodicPart {
    std::int32_t begin = 0;  ///< first row
    std::int32_t end = 0;    ///< one past the last
    TraceDiagram period;     ///< those rows

    explicit PeriodicPart(std::int32_t processors) : period(processors) {}
};

/// The largest lead, in slices, that a task of any job ever has over another of the same job (C of the legal execution
/// rule) [DaSilva2000, section 5.1]. A job's tasks are its processors anywhere in the diagram: no migration.
std::int32_t largest_lead(const TraceDiagram& history);

/// Whether all tasks of every job get the same number of slices in `period`, the tasks being those of `history`.
bool serves_equally(const TraceDiagram& period, const TraceDiagram& history);

/// The part between two instants with equal differential progress (progress of every task less that of its job's
/// slowest) in which the fewest slots are idle; the earliest of equals. By [DaSilva2000, theorem 5] that part, run
/// periodically, serves all tasks of a job equally and idles no more than those parts of the history together.
/// Nothing where no state recurs, as in a diagram without rows. O(rows x processors x log rows).
std::optional<PeriodicPart> best_periodic_part(const TraceDiagram& history);

}  // namespace zbs::gang
