#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace zbs::multilevel {

using Vertex = std::int32_t;

/// The graph all steps of the multilevel mapper work on: undirected, no self loops, integer edge weights > 0, every
/// edge stored at both ends. 8 bytes an arc, so that a million tasks stay in reach of the caches level by level. The
/// sum of all edge weights stays below 2^31.
struct CompactGraph {
    struct Arc {
        Vertex head;
        std::int32_t weight;
    };
    std::vector<std::uint32_t> offsets = {0};
    std::vector<Arc> arcs;
    std::vector<std::int64_t> weight;  ///< load of a vertex, >= 0
    std::int64_t total = 0;            ///< sum of weight
    std::int64_t heaviest = 0;         ///< largest weight

    Vertex vertex_count() const { return static_cast<Vertex>(weight.size()); }
    std::span<const Arc> arcs_of(Vertex v) const {
        const auto i = static_cast<std::size_t>(v);
        return {arcs.data() + offsets[i], arcs.data() + offsets[i + 1]};
    }
    std::int64_t load(Vertex v) const { return weight[static_cast<std::size_t>(v)]; }
};

/// Merges vertices with equal `cluster` (0..clusters-1, none empty). O(vertices + edges).
CompactGraph contract(const CompactGraph& graph, std::span<const Vertex> cluster, Vertex clusters);

/// The graph over the vertices whose `part` is p, for p = 0..parts-1, in order; `local[v]` is v's number there.
/// O(vertices + edges).
std::vector<CompactGraph> split(const CompactGraph& graph, std::span<const std::int32_t> part, std::int32_t parts,
                                std::vector<Vertex>& local);

}  // namespace zbs::multilevel
