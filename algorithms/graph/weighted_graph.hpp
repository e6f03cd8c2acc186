#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace zbs {

/// The working graph of clustering: undirected, weights > 0, every edge stored at both ends, arcs sorted by `to`.
/// A vertex stands for `size` tasks.
struct WeightedGraph {
    struct Arc {
        std::int32_t to;
        double weight;
    };
    std::vector<std::size_t> offsets = {0};
    std::vector<Arc> arcs;
    std::vector<std::int64_t> size;

    std::int32_t vertex_count() const { return static_cast<std::int32_t>(size.size()); }
    std::size_t edge_count() const { return arcs.size() / 2; }
    std::span<const Arc> arcs_of(std::int32_t vertex) const {
        const auto v = static_cast<std::size_t>(vertex);
        return {arcs.data() + offsets[v], arcs.data() + offsets[v + 1]};
    }
    std::int64_t total_size() const;
};

/// Labels of the connected components, numbered by their smallest vertex. O(vertices + edges).
struct Components {
    std::vector<std::int32_t> label;
    std::int32_t count = 0;
};
Components connected_components(const WeightedGraph& graph);

/// One vertex per part (labels 0..parts-1, none empty); weights between parts add up, those inside vanish.
/// O(vertices + edges log degree).
WeightedGraph contract(const WeightedGraph& graph, std::span<const std::int32_t> part, std::int32_t parts);

/// The graphs inside each part, vertices kept in order. `local` receives each vertex's number in its part. O(vertices +
/// edges).
std::vector<WeightedGraph> split(const WeightedGraph& graph, std::span<const std::int32_t> part, std::int32_t parts,
                                 std::vector<std::int32_t>& local);

}  // namespace zbs
