#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "algorithms/multilevel/compact_graph.hpp"

namespace zbs::multilevel {

struct CoarseningOptions {
    std::int64_t heaviest = 0;  ///< no cluster gets heavier than this (single vertices may be)
    bool pairs = true;          ///< matchings; false: clusters of any number, faster and for graphs with hubs
};

/// Clusters of vertices joined by heavy edges, relative to their weights; `clusters` receives their number. Vertices of
/// different `label` (where any are given) are never joined. Numbers keep the order of the vertices. O(edges).
std::vector<Vertex> find_clusters(const CompactGraph& graph, std::span<const std::int32_t> label, Rng& rng,
                                  const CoarseningOptions& options, Vertex& clusters);

}  // namespace zbs::multilevel
