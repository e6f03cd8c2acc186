#include "algorithms/graph/coarsening.hpp"

#include <algorithm>
#include <numeric>

namespace zbs {
namespace {

constexpr double kStalled = 0.95;

bool is_small(const WeightedGraph& graph, const CoarseSize& size) {
    return graph.vertex_count() <= size.few_vertices ||
           (graph.vertex_count() <= size.vertices && graph.edge_count() <= size.edges);
}

/// Pairs vertices along heavy edges. Rating weight/(size x size) keeps vertices of even size: without it the first
/// heavy vertex swallows the graph.
Partition match(const WeightedGraph& graph, std::int64_t max_size, Rng& rng) {
    const auto count = static_cast<std::size_t>(graph.vertex_count());
    std::vector<std::int32_t> visit(count);
    std::iota(visit.begin(), visit.end(), 0);
    rng.shuffle(visit);

    Partition pairs{std::vector<std::int32_t>(count, -1), 0};
    std::vector<std::int32_t> strongest(count, -1);
    const auto fits = [&](std::int32_t a, std::int32_t b) {
        return graph.size[static_cast<std::size_t>(a)] + graph.size[static_cast<std::size_t>(b)] <= max_size;
    };
    for (const std::int32_t v : visit) {
        if (pairs.label[static_cast<std::size_t>(v)] >= 0) continue;
        double best_rating = 0;
        double best_any = 0;
        std::int32_t partner = -1;
        for (const WeightedGraph::Arc& arc : graph.arcs_of(v)) {
            const double rating = arc.weight / static_cast<double>(graph.size[static_cast<std::size_t>(arc.to)]);
            if (rating > best_any) {
                best_any = rating;
                strongest[static_cast<std::size_t>(v)] = arc.to;
            }
            if (rating > best_rating && pairs.label[static_cast<std::size_t>(arc.to)] < 0 && fits(v, arc.to)) {
                best_rating = rating;
                partner = arc.to;
            }
        }
        if (partner < 0) continue;
        pairs.label[static_cast<std::size_t>(v)] = pairs.label[static_cast<std::size_t>(partner)] = pairs.count++;
    }

    std::vector<std::int32_t> waiting(count, -1);  // by strongest neighbour: a vertex that still looks for a partner
    for (const std::int32_t v : visit) {
        if (pairs.label[static_cast<std::size_t>(v)] >= 0) continue;
        const std::int32_t hub = strongest[static_cast<std::size_t>(v)];
        if (hub >= 0) {
            std::int32_t& other = waiting[static_cast<std::size_t>(hub)];
            if (other >= 0 && fits(v, other)) {
                pairs.label[static_cast<std::size_t>(v)] = pairs.label[static_cast<std::size_t>(other)];
                other = -1;
                continue;
            }
            other = v;
        }
        pairs.label[static_cast<std::size_t>(v)] = pairs.count++;
    }
    compact(pairs);
    return pairs;
}

}  // namespace

std::vector<CoarseLevel> coarsen(const WeightedGraph& graph, const CoarseSize& size, Rng& rng) {
    std::vector<CoarseLevel> levels;
    const std::int64_t max_size = std::max<std::int64_t>(2, 4 * graph.total_size() / size.few_vertices);
    const WeightedGraph* finest = &graph;
    while (!is_small(*finest, size)) {
        Partition pairs = match(*finest, max_size, rng);
        if (pairs.count > kStalled * finest->vertex_count()) break;
        WeightedGraph coarse = contract(*finest, pairs.label, pairs.count);
        levels.push_back({std::move(coarse), std::move(pairs.label)});
        finest = &levels.back().graph;
    }
    return levels;
}

}  // namespace zbs
