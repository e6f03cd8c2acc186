#include "algorithms/multilevel/coarsening.hpp"

#include <algorithm>
#include <numeric>

namespace zbs::multilevel {

namespace {

constexpr Vertex kNone = -1;

std::vector<Vertex> draw_order(Vertex n, Rng& rng) {
    std::vector<Vertex> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    if (n > 200'000) {
        // Shuffled in blocks: chance within, neighbours in memory kept together.
        constexpr std::size_t kBlock = 1024;
        for (std::size_t begin = 0; begin < order.size(); begin += kBlock) {
            const std::size_t end = std::min(begin + kBlock, order.size());
            for (std::size_t i = end - 1; i > begin; --i)
                std::swap(order[i], order[begin + (rng.next() >> 32) * (i - begin + 1) / (std::uint64_t{1} << 32)]);
        }
    } else {
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[((rng.next() >> 32) * i) >> 32]);
    }
    return order;
}

/// What found no partner joins others like it: leaves of one hub whose cluster is full, and vertices without edges.
void join_alike(const CompactGraph& graph, std::span<const std::int32_t> label, const CoarseningOptions& options,
                std::vector<Vertex>& leader, std::vector<std::int64_t>& load) {
    const Vertex n = graph.vertex_count();
    const bool labelled = !label.empty();
    std::vector<Vertex> open(static_cast<std::size_t>(n) + 1, kNone);  // by heaviest neighbour; the last: none
    for (Vertex v = 0; v < n; ++v) {
        const auto i = static_cast<std::size_t>(v);
        const auto arcs = graph.arcs_of(v);
        if (leader[i] != kNone || arcs.size() > 2) continue;
        auto key = static_cast<std::size_t>(n);
        std::int32_t heaviest = 0;
        for (const auto& arc : arcs) {
            if (arc.weight <= heaviest) continue;
            heaviest = arc.weight;
            key = static_cast<std::size_t>(arc.head);
        }
        const Vertex host = open[key];
        const auto h = static_cast<std::size_t>(host);
        if (host == kNone || (labelled && label[h] != label[i]) || load[h] + load[i] > options.heaviest ||
            (options.pairs && leader[h] != kNone)) {
            open[key] = v;
            continue;
        }
        leader[h] = leader[i] = host;
        load[h] += load[i];
    }
}

/// Clusters by number, in the order of their first vertices.
std::vector<Vertex> number_clusters(std::span<const Vertex> leader, Vertex& clusters) {
    std::vector<Vertex> number(leader.size(), kNone);
    std::vector<Vertex> cluster(leader.size());
    clusters = 0;
    for (std::size_t v = 0; v < cluster.size(); ++v) {
        const auto top = static_cast<std::size_t>(leader[v] == kNone ? static_cast<Vertex>(v) : leader[v]);
        if (number[top] == kNone) number[top] = clusters++;
        cluster[v] = number[top];
    }
    return cluster;
}

}  // namespace

std::vector<Vertex> find_clusters(const CompactGraph& graph, std::span<const std::int32_t> label, Rng& rng,
                                  const CoarseningOptions& options, Vertex& clusters) {
    const Vertex n = graph.vertex_count();
    std::vector<Vertex> leader(static_cast<std::size_t>(n), kNone);
    std::vector<std::int64_t> load(graph.weight);  // by leader
    const std::vector<Vertex> order = draw_order(n, rng);
    const bool labelled = !label.empty();
    // Vertices of small degree first have the fewest choices [Karypis and Kumar 1998 sort likewise]; here by chance
    // only.
    std::uint64_t noise = rng.next() | 1;
    for (const Vertex v : order) {
        const auto i = static_cast<std::size_t>(v);
        if (leader[i] != kNone) continue;
        const std::int64_t own = load[i];
        double best = 0;
        Vertex choice = kNone;
        for (const auto& arc : graph.arcs_of(v)) {
            const auto h = static_cast<std::size_t>(arc.head);
            if (labelled && label[h] != label[i]) continue;
            Vertex target = leader[h];
            if (target == kNone) {
                target = arc.head;
            } else if (options.pairs) {
                continue;
            }
            if (target == v) continue;
            const std::int64_t other = load[static_cast<std::size_t>(target)];
            if (own + other > options.heaviest) continue;
            double rating = static_cast<double>(arc.weight) * static_cast<double>(arc.weight) /
                            (static_cast<double>(own + 1) * static_cast<double>(other + 1));
            noise ^= noise << 13;
            noise ^= noise >> 7;
            noise ^= noise << 17;
            rating *= 1.0 + 1e-3 * static_cast<double>(noise & 1023) / 1024.0;  // ties by chance
            if (rating > best) {
                best = rating;
                choice = target;
            }
        }
        if (choice == kNone) continue;
        const auto c = static_cast<std::size_t>(choice);
        if (leader[c] == kNone) leader[c] = choice;
        leader[i] = choice;
        load[c] += own;
    }
    join_alike(graph, label, options, leader, load);
    return number_clusters(leader, clusters);
}

}  // namespace zbs::multilevel
