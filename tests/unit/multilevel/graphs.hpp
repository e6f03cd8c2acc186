#pragma once
#include <map>
#include <utility>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "algorithms/multilevel/compact_graph.hpp"
#include "algorithms/multilevel/target_tree.hpp"

namespace zbs::multilevel::testing {

struct WeightedEdge {
    Vertex u, v;
    std::int32_t weight;
};

inline CompactGraph graph_of(Vertex vertices, const std::vector<WeightedEdge>& edges,
                             std::vector<std::int64_t> weights = {}) {
    CompactGraph graph;
    graph.weight = weights.empty() ? std::vector<std::int64_t>(static_cast<std::size_t>(vertices), 1) : weights;
    std::vector<std::vector<CompactGraph::Arc>> arcs(static_cast<std::size_t>(vertices));
    for (const WeightedEdge& e : edges) {
        arcs[static_cast<std::size_t>(e.u)].push_back({e.v, e.weight});
        arcs[static_cast<std::size_t>(e.v)].push_back({e.u, e.weight});
    }
    for (std::size_t v = 0; v < arcs.size(); ++v) {
        graph.arcs.insert(graph.arcs.end(), arcs[v].begin(), arcs[v].end());
        graph.offsets.push_back(static_cast<std::uint32_t>(graph.arcs.size()));
        graph.total += graph.weight[v];
        graph.heaviest = std::max(graph.heaviest, graph.weight[v]);
    }
    return graph;
}

inline CompactGraph grid(int width, int height) {
    std::vector<WeightedEdge> edges;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            if (x + 1 < width) edges.push_back({y * width + x, y * width + x + 1, 1});
            if (y + 1 < height) edges.push_back({y * width + x, (y + 1) * width + x, 1});
        }
    }
    return graph_of(width * height, edges);
}

/// A random graph with random weights; may be disconnected.
inline CompactGraph random_graph(Vertex vertices, int edges, Rng& rng) {
    std::map<std::pair<Vertex, Vertex>, std::int32_t> found;
    for (int i = 0; i < edges; ++i) {
        auto u = static_cast<Vertex>(rng.below(static_cast<std::uint64_t>(vertices)));
        auto v = static_cast<Vertex>(rng.below(static_cast<std::uint64_t>(vertices)));
        if (u == v) continue;
        if (u > v) std::swap(u, v);
        found[{u, v}] = 1 + static_cast<std::int32_t>(rng.below(50));
    }
    std::vector<WeightedEdge> list;
    for (const auto& [pair, weight] : found) list.push_back({pair.first, pair.second, weight});
    std::vector<std::int64_t> weights;
    for (Vertex v = 0; v < vertices; ++v) weights.push_back(1 + static_cast<std::int64_t>(rng.below(4)));
    return graph_of(vertices, list, weights);
}

/// Equal groups, distances 1, 10, 100 ..., every leaf of this capacity.
inline TargetTree tree_of(std::vector<int> arity, std::int64_t capacity) {
    std::vector<double> distances;
    for (std::size_t level = 0; level < arity.size(); ++level)
        distances.push_back(level == 0 ? 1 : distances.back() * 10);
    const ProcessorTree tree = *ProcessorTree::uniform(arity, distances);
    return make_target_tree(tree,
                            std::vector<std::int64_t>(static_cast<std::size_t>(tree.processor_count()), capacity));
}

inline std::vector<std::pair<const char*, CompactGraph>> odd_graphs() {
    std::vector<WeightedEdge> star;
    for (Vertex v = 1; v < 50; ++v) star.push_back({0, v, 3});
    return {
        {"no vertex", graph_of(0, {})},
        {"one vertex", graph_of(1, {})},
        {"no edges", graph_of(30, {})},
        {"a star", graph_of(50, star)},
        {"weights of zero", graph_of(4, {{0, 1, 1}}, {0, 0, 0, 0})},
        {"some of zero", graph_of(6, {{0, 1, 1}, {2, 3, 9}}, {0, 5, 0, 5, 5, 0})},
    };
}

}  // namespace zbs::multilevel::testing
