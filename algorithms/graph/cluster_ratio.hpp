#pragma once
#include <cstdint>
#include <vector>

#include "algorithms/graph/weighted_graph.hpp"

namespace zbs {

/// A partition of a weighted graph: a label in 0..count-1 for every vertex, no label unused.
struct Partition {
    std::vector<std::int32_t> label;
    std::int32_t count = 0;
    bool operator==(const Partition&) const = default;
};

/// Cluster ratio Rc: weight between clusters over the number of task pairs that the clusters separate
/// [YehChengLin1995]. In a graph without structure every partition has the same expected Rc, so low means "here is a
/// real gap", for any number and sizes of clusters. Infinite for a single cluster. O(vertices + edges).
double cluster_ratio(const WeightedGraph& graph, const Partition& partition);

/// Renumbers labels by their first vertex and drops unused ones. O(vertices).
void compact(Partition& partition);

/// Moves single vertices to a neighbouring cluster as long as each move lowers Rc; never leaves fewer than 2 clusters.
/// Heals cuts that saturated edges left impure and gives weakly tied singletons back. Precondition: count >= 2.
/// O(passes x edges), at most 8 passes.
void refine(const WeightedGraph& graph, Partition& partition);

}  // namespace zbs
