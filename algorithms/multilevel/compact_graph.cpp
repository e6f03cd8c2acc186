#include "algorithms/multilevel/compact_graph.hpp"

#include <algorithm>

namespace zbs::multilevel {

CompactGraph contract(const CompactGraph& graph, std::span<const Vertex> cluster, Vertex clusters) {
    const auto n = cluster.size();
    const auto k = static_cast<std::size_t>(clusters);
    // Members of each cluster, by counting.
    std::vector<std::uint32_t> begin(k + 1, 0);
    for (const Vertex c : cluster) ++begin[static_cast<std::size_t>(c) + 1];
    for (std::size_t c = 0; c < k; ++c) begin[c + 1] += begin[c];
    std::vector<Vertex> members(n);
    {
        std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
        for (std::size_t v = 0; v < n; ++v)
            members[next[static_cast<std::size_t>(cluster[v])]++] = static_cast<Vertex>(v);
    }
    CompactGraph coarse;
    coarse.total = graph.total;
    coarse.offsets.resize(k + 1);
    coarse.weight.resize(k);
    coarse.arcs.reserve(graph.arcs.size());
    constexpr std::uint32_t kNone = ~std::uint32_t{0};
    std::vector<std::uint32_t> slot(k, kNone);
    for (std::size_t c = 0; c < k; ++c) {
        const auto first = static_cast<std::uint32_t>(coarse.arcs.size());
        std::int64_t weight = 0;
        for (std::uint32_t i = begin[c]; i < begin[c + 1]; ++i) {
            const Vertex v = members[i];
            weight += graph.load(v);
            for (const auto& arc : graph.arcs_of(v)) {
                const auto to = static_cast<std::size_t>(cluster[static_cast<std::size_t>(arc.head)]);
                if (to == c) continue;
                if (slot[to] >= first && slot[to] != kNone) {
                    coarse.arcs[slot[to]].weight += arc.weight;
                } else {
                    slot[to] = static_cast<std::uint32_t>(coarse.arcs.size());
                    coarse.arcs.push_back({static_cast<Vertex>(to), arc.weight});
                }
            }
        }
        coarse.weight[c] = weight;
        coarse.heaviest = std::max(coarse.heaviest, weight);
        coarse.offsets[c + 1] = static_cast<std::uint32_t>(coarse.arcs.size());
    }
    coarse.arcs.shrink_to_fit();
    return coarse;
}

std::vector<CompactGraph> split(const CompactGraph& graph, std::span<const std::int32_t> part, std::int32_t parts,
                                std::vector<Vertex>& local) {
    std::vector<CompactGraph> graphs(static_cast<std::size_t>(parts));
    local.resize(part.size());
    for (std::size_t v = 0; v < part.size(); ++v) {
        CompactGraph& g = graphs[static_cast<std::size_t>(part[v])];
        local[v] = g.vertex_count();
        g.weight.push_back(graph.weight[v]);
        g.total += graph.weight[v];
        g.heaviest = std::max(g.heaviest, graph.weight[v]);
    }
    for (std::size_t v = 0; v < part.size(); ++v) {
        CompactGraph& g = graphs[static_cast<std::size_t>(part[v])];
        for (const auto& arc : graph.arcs_of(static_cast<Vertex>(v))) {
            const auto head = static_cast<std::size_t>(arc.head);
            if (part[head] == part[v]) g.arcs.push_back({local[head], arc.weight});
        }
        g.offsets.push_back(static_cast<std::uint32_t>(g.arcs.size()));
    }
    return graphs;
}

}  // namespace zbs::multilevel
