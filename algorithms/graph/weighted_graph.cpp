#include "algorithms/graph/weighted_graph.hpp"

#include <algorithm>
#include <numeric>

namespace zbs {
namespace {

/// Vertices of each part, part after part, in vertex order.
struct Members {
    std::vector<std::size_t> offsets;
    std::vector<std::int32_t> vertices;
};
Members members_of(std::span<const std::int32_t> part, std::int32_t parts) {
    Members members;
    members.offsets.assign(static_cast<std::size_t>(parts) + 1, 0);
    for (const std::int32_t p : part) ++members.offsets[static_cast<std::size_t>(p) + 1];
    std::partial_sum(members.offsets.begin(), members.offsets.end(), members.offsets.begin());
    std::vector<std::size_t> next(members.offsets.begin(), members.offsets.end() - 1);
    members.vertices.resize(part.size());
    for (std::size_t v = 0; v < part.size(); ++v) {
        members.vertices[next[static_cast<std::size_t>(part[v])]++] = static_cast<std::int32_t>(v);
    }
    return members;
}

}  // namespace

std::int64_t WeightedGraph::total_size() const { return std::accumulate(size.begin(), size.end(), std::int64_t{0}); }

Components connected_components(const WeightedGraph& graph) {
    Components found;
    found.label.assign(graph.size.size(), -1);
    std::vector<std::int32_t> stack;
    for (std::int32_t root = 0; root < graph.vertex_count(); ++root) {
        if (found.label[static_cast<std::size_t>(root)] >= 0) continue;
        found.label[static_cast<std::size_t>(root)] = found.count;
        stack.push_back(root);
        while (!stack.empty()) {
            const std::int32_t v = stack.back();
            stack.pop_back();
            for (const WeightedGraph::Arc& arc : graph.arcs_of(v)) {
                std::int32_t& label = found.label[static_cast<std::size_t>(arc.to)];
                if (label >= 0) continue;
                label = found.count;
                stack.push_back(arc.to);
            }
        }
        ++found.count;
    }
    return found;
}

WeightedGraph contract(const WeightedGraph& graph, std::span<const std::int32_t> part, std::int32_t parts) {
    const Members members = members_of(part, parts);
    WeightedGraph coarse;
    coarse.size.assign(static_cast<std::size_t>(parts), 0);
    coarse.offsets.reserve(static_cast<std::size_t>(parts) + 1);
    std::vector<std::size_t> arc_to(static_cast<std::size_t>(parts),
                                    0);  // 1 + index into arcs, valid if in this part's range
    for (std::int32_t p = 0; p < parts; ++p) {
        const std::size_t begin = coarse.arcs.size();
        for (std::size_t i = members.offsets[static_cast<std::size_t>(p)];
             i < members.offsets[static_cast<std::size_t>(p) + 1]; ++i) {
            const std::int32_t v = members.vertices[i];
            coarse.size[static_cast<std::size_t>(p)] += graph.size[static_cast<std::size_t>(v)];
            for (const WeightedGraph::Arc& arc : graph.arcs_of(v)) {
                const std::int32_t q = part[static_cast<std::size_t>(arc.to)];
                if (q == p) continue;
                std::size_t& slot = arc_to[static_cast<std::size_t>(q)];
                if (slot <= begin) {
                    coarse.arcs.push_back({q, 0});
                    slot = coarse.arcs.size();
                }
                coarse.arcs[slot - 1].weight += arc.weight;
            }
        }
        std::sort(coarse.arcs.begin() + static_cast<std::ptrdiff_t>(begin), coarse.arcs.end(),
                  [](const auto& a, const auto& b) { return a.to < b.to; });
        coarse.offsets.push_back(coarse.arcs.size());
    }
    return coarse;
}

std::vector<WeightedGraph> split(const WeightedGraph& graph, std::span<const std::int32_t> part, std::int32_t parts,
                                 std::vector<std::int32_t>& local) {
    std::vector<WeightedGraph> inner(static_cast<std::size_t>(parts));
    local.resize(part.size());
    for (std::size_t v = 0; v < part.size(); ++v) {
        WeightedGraph& mine = inner[static_cast<std::size_t>(part[v])];
        local[v] = mine.vertex_count();
        mine.size.push_back(graph.size[v]);
    }
    for (std::int32_t v = 0; v < graph.vertex_count(); ++v) {
        const std::int32_t p = part[static_cast<std::size_t>(v)];
        WeightedGraph& mine = inner[static_cast<std::size_t>(p)];
        for (const WeightedGraph::Arc& arc : graph.arcs_of(v)) {
            if (part[static_cast<std::size_t>(arc.to)] == p)
                mine.arcs.push_back({local[static_cast<std::size_t>(arc.to)], arc.weight});
        }
        mine.offsets.push_back(mine.arcs.size());
    }
    return inner;
}

}  // namespace zbs
