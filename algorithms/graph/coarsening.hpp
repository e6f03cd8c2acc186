#pragma once
#include <cstddef>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "algorithms/graph/cluster_ratio.hpp"
#include "algorithms/graph/weighted_graph.hpp"

namespace zbs {

/// When a graph is small enough to inject flow: at most `vertices` and `edges`, or at most `few_vertices`.
struct CoarseSize {
    std::int32_t vertices = 256;
    std::size_t edges = 1'024;
    std::int32_t few_vertices = 48;
};

/// One step of coarsening: `coarse_of[v]` is the vertex of `graph` that stands for vertex v of the finer graph.
struct CoarseLevel {
    WeightedGraph graph;
    std::vector<std::int32_t> coarse_of;
};

/// Coarser and coarser graphs by heavy-edge matching, until one is small or matching stalls; empty when `graph` is
/// small. Vertices that find no partner pair up with another that has the same strongest neighbour, so stars shrink
/// too. Each level takes O(edges log degree); levels shrink geometrically.
std::vector<CoarseLevel> coarsen(const WeightedGraph& graph, const CoarseSize& size, Rng& rng);

}  // namespace zbs
