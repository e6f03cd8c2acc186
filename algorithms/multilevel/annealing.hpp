#pragma once
#include <cstdint>
#include <functional>

#include "algorithms/base/rng.hpp"
#include "algorithms/multilevel/placement.hpp"

namespace zbs::multilevel {

struct AnnealingOptions {
    std::int64_t proposals = 1'000'000;
    double hot = 0.5;     ///< first temperature, relative to the mean size of a change
    double cold = 0.005;  ///< last one, likewise
};

/// Whether annealing is worth its memory: vertices x groups of 4 bytes.
bool fits_annealing(const CompactGraph& graph, const TargetTree& tree);

/// Simulated annealing with swaps, and moves where there is room, each judged in O(levels) from a table of every
/// vertex's weight to every group; ends at the best placement seen; up to 2,000 vertices a local optimum of all swaps
/// and moves. Precondition: no overload. Never worse. O(proposals x levels + accepted x degree x levels).
void anneal(Placement& placement, Rng& rng, const AnnealingOptions& options, const std::function<bool()>& out_of_time);

}  // namespace zbs::multilevel
