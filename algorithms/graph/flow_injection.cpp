#include "algorithms/graph/flow_injection.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kDrawsPerVertex = 8;  // draws until the first cut is expected, where the portion is not capped
constexpr double kPlateau = 1.5;             // stop when half as many draws again bring no new cluster

struct Candidate {
    Partition partition;
    double ratio = kInfinity;
};

/// The network that flow saturates: every edge has one flow, seen from both ends.
class FlowNetwork {
  public:
    FlowNetwork(const WeightedGraph& graph, double alpha) : alpha_(alpha), arcs_(graph.arcs.size()) {
        const auto count = static_cast<std::size_t>(graph.vertex_count());
        offsets_ = graph.offsets;
        std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
        for (std::int32_t v = 0; v < graph.vertex_count(); ++v) {
            for (const WeightedGraph::Arc& arc : graph.arcs_of(v)) {
                if (arc.to < v) continue;
                const auto edge = static_cast<std::int32_t>(edges_.size());
                edges_.push_back({.capacity = arc.weight});
                arcs_[next[static_cast<std::size_t>(v)]++] = {arc.to, edge};
                arcs_[next[static_cast<std::size_t>(arc.to)]++] = {v, edge};
            }
        }
        distance_.assign(count, kInfinity);
        came_by_.assign(count, -1);
        came_from_.assign(count, -1);
    }

    /// Sends `portion` along the shortest path; false where full edges separate the two vertices.
    bool inject(std::int32_t source, std::int32_t sink, double portion) {
        if (!find_path(source, sink)) return false;
        for (std::int32_t v = sink; v != source; v = came_from_[static_cast<std::size_t>(v)]) {
            Edge& edge = edges_[static_cast<std::size_t>(came_by_[static_cast<std::size_t>(v)])];
            edge.flow += portion;
            edge.length = edge.flow >= edge.capacity ? kInfinity : std::exp(alpha_ * edge.flow / edge.capacity);
        }
        return true;
    }

    std::int64_t visits() const { return visits_; }

    /// Components of what is not full yet.
    Partition pieces() const {
        Partition found{std::vector<std::int32_t>(distance_.size(), -1), 0};
        std::vector<std::int32_t> stack;
        for (std::size_t root = 0; root < found.label.size(); ++root) {
            if (found.label[root] >= 0) continue;
            found.label[root] = found.count;
            stack.push_back(static_cast<std::int32_t>(root));
            while (!stack.empty()) {
                const auto v = static_cast<std::size_t>(stack.back());
                stack.pop_back();
                for (std::size_t i = offsets_[v]; i < offsets_[v + 1]; ++i) {
                    std::int32_t& label = found.label[static_cast<std::size_t>(arcs_[i].to)];
                    if (label >= 0 || edges_[static_cast<std::size_t>(arcs_[i].edge)].length == kInfinity) continue;
                    label = found.count;
                    stack.push_back(arcs_[i].to);
                }
            }
            ++found.count;
        }
        return found;
    }

  private:
    struct Edge {
        double capacity;
        double flow = 0;
        double length = 1;
    };
    struct Arc {
        std::int32_t to = 0;
        std::int32_t edge = 0;
    };
    using Reached = std::pair<double, std::int32_t>;

    bool find_path(std::int32_t source, std::int32_t sink) {
        std::ranges::fill(distance_, kInfinity);
        heap_.clear();
        distance_[static_cast<std::size_t>(source)] = 0;
        heap_.emplace_back(0, source);
        while (!heap_.empty()) {
            std::ranges::pop_heap(heap_, std::greater<>{});
            const auto [at, vertex] = heap_.back();
            heap_.pop_back();
            if (vertex == sink) return true;
            const auto v = static_cast<std::size_t>(vertex);
            if (at > distance_[v]) continue;
            visits_ += static_cast<std::int64_t>(offsets_[v + 1] - offsets_[v]) + 1;
            for (std::size_t i = offsets_[v]; i < offsets_[v + 1]; ++i) {
                const auto to = static_cast<std::size_t>(arcs_[i].to);
                const double through = at + edges_[static_cast<std::size_t>(arcs_[i].edge)].length;
                if (through >= distance_[to]) continue;
                distance_[to] = through;
                came_by_[to] = arcs_[i].edge;
                came_from_[to] = vertex;
                heap_.emplace_back(through, arcs_[i].to);
                std::ranges::push_heap(heap_, std::greater<>{});
            }
        }
        return false;
    }

    double alpha_;
    std::vector<std::size_t> offsets_;
    std::vector<Arc> arcs_;
    std::vector<Edge> edges_;
    std::vector<double> distance_;
    std::vector<std::int32_t> came_by_;
    std::vector<std::int32_t> came_from_;
    std::vector<Reached> heap_;
    std::int64_t visits_ = 0;  // of arcs, in all searches
};

/// The best cluster ratio among the cuts that a maximum spanning tree offers when its lightest edges go first:
/// an upper bound of the best ratio, from which the portion of flow is set. O(vertices x edges).
Candidate best_spanning_cut(const WeightedGraph& graph) {
    struct Edge {
        double weight;
        std::int32_t u;
        std::int32_t v;
    };
    std::vector<Edge> edges;
    edges.reserve(graph.edge_count());
    for (std::int32_t v = 0; v < graph.vertex_count(); ++v) {
        for (const WeightedGraph::Arc& arc : graph.arcs_of(v)) {
            if (v < arc.to) edges.push_back({arc.weight, v, arc.to});
        }
    }
    std::ranges::stable_sort(edges, std::greater<>{}, &Edge::weight);

    std::vector<std::int32_t> root(static_cast<std::size_t>(graph.vertex_count()));
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](std::int32_t v) {
        while (root[static_cast<std::size_t>(v)] != v) {
            v = root[static_cast<std::size_t>(v)] = root[static_cast<std::size_t>(root[static_cast<std::size_t>(v)])];
        }
        return v;
    };
    Candidate best;
    const auto consider = [&] {
        Partition now{std::vector<std::int32_t>(root.size()), graph.vertex_count()};
        for (std::int32_t v = 0; v < graph.vertex_count(); ++v) now.label[static_cast<std::size_t>(v)] = find(v);
        compact(now);
        if (now.count < 2) return;
        const double ratio = cluster_ratio(graph, now);
        if (ratio < best.ratio) best = {std::move(now), ratio};
    };
    consider();
    for (const Edge& edge : edges) {
        const std::int32_t a = find(edge.u);
        const std::int32_t b = find(edge.v);
        if (a == b) continue;
        root[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
        consider();
    }
    return best;
}

}  // namespace

Partition split_by_flow(const WeightedGraph& graph, const FlowOptions& options, Rng& rng) {
    const std::int32_t count = graph.vertex_count();
    ZBS_EXPECTS(count >= 2);
    Candidate spanning = best_spanning_cut(graph);
    if (count == 2) return std::move(spanning.partition);

    std::vector<std::int64_t> end_of(graph.size.size());  // tasks 0..end_of[v]-1 belong to vertices 0..v
    std::partial_sum(graph.size.begin(), graph.size.end(), end_of.begin());
    const std::int64_t tasks = end_of.back();
    double squares = 0;
    for (const std::int64_t s : graph.size) squares += static_cast<double>(s) * static_cast<double>(s);
    const double pairs = (static_cast<double>(tasks) * static_cast<double>(tasks) - squares) / 2;
    double capacity = 0;
    for (const WeightedGraph::Arc& arc : graph.arcs) capacity += arc.weight;
    const double mean = capacity / static_cast<double>(graph.arcs.size());
    // After N draws a cut is full when N x portion / pairs reaches its cluster ratio; weights may span many orders of
    // magnitude, so the portion must follow the cut that is going to fill up first and not the mean alone.
    const double portion =
        std::min(options.injection * mean, spanning.ratio * pairs / static_cast<double>(kDrawsPerVertex * count));

    FlowNetwork network(graph, options.alpha);
    std::vector<Candidate> cuts;
    Partition pieces{std::vector<std::int32_t>(graph.size.size(), 0), 1};
    const auto draw = [&] {
        const auto task = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(tasks)));
        return static_cast<std::int32_t>(std::ranges::upper_bound(end_of, task) - end_of.begin());
    };
    const std::int64_t budget = 64 * std::int64_t{count} + 8 * static_cast<std::int64_t>(graph.edge_count());
    std::int64_t last_cut = 0;
    for (std::int64_t draws = 1; draws <= budget && pieces.count < count; ++draws) {
        if (options.work != nullptr && network.visits() > *options.work) break;
        if (!cuts.empty() && static_cast<double>(draws) > kPlateau * static_cast<double>(last_cut) + count) break;
        const std::int32_t source = draw();
        const std::int32_t sink = draw();
        if (source == sink ||
            pieces.label[static_cast<std::size_t>(source)] != pieces.label[static_cast<std::size_t>(sink)])
            continue;
        if (network.inject(source, sink, portion)) continue;
        pieces = network.pieces();
        cuts.push_back({pieces, cluster_ratio(graph, pieces)});
        last_cut = draws;
    }

    if (options.work != nullptr)
        *options.work -= network.visits() + std::int64_t{count} * static_cast<std::int64_t>(graph.arcs.size());
    double best = spanning.ratio;
    for (const Candidate& cut : cuts) best = std::min(best, cut.ratio);
    for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut) {
        if (cut->ratio <= options.tolerance * best) return std::move(cut->partition);
    }
    return std::move(spanning.partition);
}

}  // namespace zbs
