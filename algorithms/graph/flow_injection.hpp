#pragma once
#include "algorithms/base/rng.hpp"
#include "algorithms/graph/cluster_ratio.hpp"
#include "algorithms/graph/weighted_graph.hpp"

namespace zbs {

struct FlowOptions {
    double alpha =
        10;  ///< how steeply an edge's length grows with its saturation: exp(alpha x flow / capacity), in (0, 100]
    double injection = 0.3;   ///< largest portion of flow, relative to the mean capacity, in (0, 1]
    double tolerance = 1.25;  ///< the finest cut whose cluster ratio is within this factor of the best one wins, >= 1
    std::int64_t* work = nullptr;  ///< visits of arcs left, counted down; draws end at 0. Null: no limit
};

/// Splits a connected graph where random flow saturates it [YehChengLin1995, Prabhakar2003, section 4.4.1]: flow
/// between random pairs follows shortest paths, full edges drop out, and the pieces that remain are the clusters. At
/// least two. Where flow finds nothing better (its budget of draws is bounded), the best cut of a maximum spanning tree
/// is taken. Precondition: connected, >= 2 vertices. O(draws x edges log vertices) with O(vertices + edges) draws, so
/// meant for graphs of a few hundred vertices.
Partition split_by_flow(const WeightedGraph& graph, const FlowOptions& options, Rng& rng);

}  // namespace zbs
