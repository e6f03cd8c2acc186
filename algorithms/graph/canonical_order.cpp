#include "algorithms/graph/canonical_order.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

namespace zbs {
namespace {

constexpr int kMaxRounds = 32;

std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value); }

std::size_t count_distinct(std::vector<std::uint64_t> keys) {
    std::ranges::sort(keys);
    return static_cast<std::size_t>(std::ranges::unique(keys).begin() - keys.begin());
}

}  // namespace

std::vector<TaskIndex> canonical_order(const TaskGraph& graph, std::span<const double> weight) {
    const auto count = static_cast<std::size_t>(graph.task_count());
    const std::span<const TaskEdge> edges = graph.edges();

    // Sums of the same numbers in another order differ in the last bit, so each task's weights are sorted first.
    std::vector<std::size_t> offsets(count + 1, 0);
    for (const TaskEdge& edge : edges) {
        ++offsets[static_cast<std::size_t>(edge.u) + 1];
        ++offsets[static_cast<std::size_t>(edge.v) + 1];
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<double> sorted(edges.size() * 2);
    std::vector<std::size_t> next(offsets.begin(), offsets.end() - 1);
    for (std::size_t i = 0; i < edges.size(); ++i) {
        sorted[next[static_cast<std::size_t>(edges[i].u)]++] = weight[i];
        sorted[next[static_cast<std::size_t>(edges[i].v)]++] = weight[i];
    }
    std::vector<double> traffic(count);
    std::vector<std::uint64_t> key(count);
    for (std::size_t t = 0; t < count; ++t) {
        const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(offsets[t]);
        const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(offsets[t + 1]);
        std::sort(begin, end);
        traffic[t] = std::accumulate(begin, end, 0.0);
        key[t] = mix(bits(graph.compute()[t]) ^ mix(bits(traffic[t])));
    }

    std::size_t distinct = count_distinct(key);
    for (int round = 0; round < kMaxRounds && distinct < count; ++round) {
        std::vector<std::uint64_t> refined(count);
        for (std::size_t t = 0; t < count; ++t) refined[t] = mix(key[t]);
        // A wrapping sum of mixed terms is the same in any order of the neighbours.
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const auto u = static_cast<std::size_t>(edges[i].u);
            const auto v = static_cast<std::size_t>(edges[i].v);
            const std::uint64_t label = mix(bits(weight[i]) ^ mix(bits(edges[i].messages)));
            refined[u] += mix(label ^ key[v]);
            refined[v] += mix(label ^ key[u]);
        }
        const std::size_t now = count_distinct(refined);
        if (now <= distinct && round > 0) break;
        key = std::move(refined);
        distinct = now;
    }

    std::vector<TaskIndex> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](TaskIndex a, TaskIndex b) {
        const auto x = static_cast<std::size_t>(a);
        const auto y = static_cast<std::size_t>(b);
        if (traffic[x] != traffic[y]) return traffic[x] < traffic[y];
        if (graph.compute()[x] != graph.compute()[y]) return graph.compute()[x] > graph.compute()[y];
        if (key[x] != key[y]) return key[x] < key[y];
        return a < b;
    });
    return order;
}

}  // namespace zbs
