#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "algorithms/multilevel/compact_graph.hpp"
#include "algorithms/multilevel/target_tree.hpp"

namespace zbs::multilevel {

/// A leaf for every vertex, and the load of every leaf. Refers to graph and tree, which must outlive it.
struct Placement {
    const CompactGraph& graph;
    const TargetTree& tree;
    std::vector<std::int32_t> leaf_of;
    std::vector<std::int64_t> load;

    Placement(const CompactGraph& g, const TargetTree& t, std::vector<std::int32_t> leaves)
        : graph(g), tree(t), leaf_of(std::move(leaves)), load(static_cast<std::size_t>(t.leaves), 0) {
        for (std::size_t v = 0; v < leaf_of.size(); ++v) load[static_cast<std::size_t>(leaf_of[v])] += g.weight[v];
    }

    std::int32_t leaf(Vertex v) const { return leaf_of[static_cast<std::size_t>(v)]; }
    std::int64_t room(std::int32_t leaf) const {
        return tree.capacity[static_cast<std::size_t>(leaf)] - load[static_cast<std::size_t>(leaf)];
    }
    void move(Vertex v, std::int32_t to) {
        const std::int64_t weight = graph.load(v);
        std::int32_t& at = leaf_of[static_cast<std::size_t>(v)];
        load[static_cast<std::size_t>(at)] -= weight;
        load[static_cast<std::size_t>(to)] += weight;
        at = to;
    }
    /// Load above the capacities, summed; 0 is balanced. O(leaves).
    std::int64_t overload() const {
        std::int64_t sum = 0;
        for (std::int32_t leaf = 0; leaf < tree.leaves; ++leaf) sum += std::max<std::int64_t>(0, -room(leaf));
        return sum;
    }
    /// Sum over edges of weight x distance. O(edges x levels).
    std::int64_t cost() const {
        std::int64_t sum = 0;
        for (Vertex v = 0; v < graph.vertex_count(); ++v) {
            const std::int32_t a = leaf(v);
            for (const auto& arc : graph.arcs_of(v)) {
                const std::int32_t b = leaf(arc.head);
                if (arc.head > v && a != b) sum += arc.weight * tree.distance(a, b);
            }
        }
        return sum;
    }
};

}  // namespace zbs::multilevel
