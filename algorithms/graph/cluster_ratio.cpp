#include "algorithms/graph/cluster_ratio.hpp"

#include <limits>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

constexpr int kMaxPasses = 8;
constexpr double kLess = 1 - 1e-9;  // a gain smaller than rounding is none

struct RatioState {
    double cut = 0;
    double separated = 0;  // pairs of tasks in different clusters
    std::vector<double> size;
    std::vector<std::int32_t> vertices;
    std::int32_t clusters = 0;
};

RatioState measure(const WeightedGraph& graph, const Partition& partition) {
    RatioState state;
    state.size.assign(static_cast<std::size_t>(partition.count), 0);
    state.vertices.assign(static_cast<std::size_t>(partition.count), 0);
    for (std::int32_t v = 0; v < graph.vertex_count(); ++v) {
        const std::int32_t mine = partition.label[static_cast<std::size_t>(v)];
        state.size[static_cast<std::size_t>(mine)] += static_cast<double>(graph.size[static_cast<std::size_t>(v)]);
        if (state.vertices[static_cast<std::size_t>(mine)]++ == 0) ++state.clusters;
        for (const WeightedGraph::Arc& arc : graph.arcs_of(v)) {
            if (v < arc.to && partition.label[static_cast<std::size_t>(arc.to)] != mine) state.cut += arc.weight;
        }
    }
    const auto total = static_cast<double>(graph.total_size());
    double squares = 0;
    for (const double s : state.size) squares += s * s;
    state.separated = (total * total - squares) / 2;
    return state;
}

}  // namespace

double cluster_ratio(const WeightedGraph& graph, const Partition& partition) {
    const RatioState state = measure(graph, partition);
    return state.separated > 0 ? state.cut / state.separated : std::numeric_limits<double>::infinity();
}

void compact(Partition& partition) {
    std::vector<std::int32_t> number(static_cast<std::size_t>(partition.count), -1);
    std::int32_t count = 0;
    for (std::int32_t& label : partition.label) {
        std::int32_t& mine = number[static_cast<std::size_t>(label)];
        if (mine < 0) mine = count++;
        label = mine;
    }
    partition.count = count;
}

void refine(const WeightedGraph& graph, Partition& partition) {
    ZBS_EXPECTS(partition.count >= 2);
    RatioState state = measure(graph, partition);
    std::vector<double> pull(static_cast<std::size_t>(partition.count), 0);  // weight from one vertex to each cluster
    std::vector<std::int32_t> touched;
    bool moved = true;
    for (int pass = 0; pass < kMaxPasses && moved; ++pass) {
        moved = false;
        for (std::int32_t v = 0; v < graph.vertex_count(); ++v) {
            const std::int32_t from = partition.label[static_cast<std::size_t>(v)];
            const bool empties = state.vertices[static_cast<std::size_t>(from)] == 1;
            if (empties && state.clusters == 2) continue;
            touched.clear();
            for (const WeightedGraph::Arc& arc : graph.arcs_of(v)) {
                const std::int32_t other = partition.label[static_cast<std::size_t>(arc.to)];
                double& sum = pull[static_cast<std::size_t>(other)];
                if (sum == 0) touched.push_back(other);
                sum += arc.weight;
            }
            const auto weight = static_cast<double>(graph.size[static_cast<std::size_t>(v)]);
            double best_ratio = state.cut / state.separated * kLess;
            double best_cut = 0;
            double best_separated = 0;
            std::int32_t best = from;
            for (const std::int32_t to : touched) {
                if (to == from) continue;
                const double cut =
                    state.cut + pull[static_cast<std::size_t>(from)] - pull[static_cast<std::size_t>(to)];
                const double separated =
                    state.separated - weight * (state.size[static_cast<std::size_t>(to)] -
                                                state.size[static_cast<std::size_t>(from)] + weight);
                if (separated <= 0 || cut / separated >= best_ratio) continue;
                best_ratio = cut / separated;
                best_cut = cut;
                best_separated = separated;
                best = to;
            }
            for (const std::int32_t label : touched) pull[static_cast<std::size_t>(label)] = 0;
            if (best == from) continue;
            state.cut = best_cut;
            state.separated = best_separated;
            state.size[static_cast<std::size_t>(from)] -= weight;
            state.size[static_cast<std::size_t>(best)] += weight;
            if (--state.vertices[static_cast<std::size_t>(from)] == 0) --state.clusters;
            ++state.vertices[static_cast<std::size_t>(best)];
            partition.label[static_cast<std::size_t>(v)] = best;
            moved = true;
        }
    }
    compact(partition);
}

}  // namespace zbs
