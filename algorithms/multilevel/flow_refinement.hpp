#pragma once
#include <cstdint>

#include "algorithms/multilevel/placement.hpp"

namespace zbs::multilevel {

struct FlowOptions {
    int rounds = 2;           ///< over all pairs of neighbouring parts; ends early when nothing changes
    double reach = 8;         ///< region around a border, in multiples of what balance would let cross it at most
    Vertex largest = 60'000;  ///< vertices of a region
};

/// Replaces the border of two parts by a minimum cut of the region around it, pair by pair, where the new cut keeps the
/// capacities [after SandersSchulz2011, section 4]. For trees of one level, whose cost is the edge cut; others stay as
/// they are. Never worse. Returns the cost saved. O(rounds x (edges + flows in the regions)).
std::int64_t flow_refinement(Placement& placement, const FlowOptions& options);

}  // namespace zbs::multilevel
