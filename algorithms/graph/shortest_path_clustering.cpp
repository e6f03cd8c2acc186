#include "algorithms/graph/shortest_path_clustering.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/rng.hpp"
#include "algorithms/graph/canonical_order.hpp"
#include "algorithms/graph/coarsening.hpp"
#include "algorithms/graph/flow_injection.hpp"
#include "algorithms/graph/weighted_graph.hpp"

namespace zbs {
namespace {

constexpr double kLopsidedShare = 0.75;  // a split that leaves more than this in one child made little progress
// Visits of arcs that flow may take, more for every task and edge. A cluster passes what it has left on to its parts
// by their sizes; where nothing is left, matching alone finds the parts.
constexpr std::int64_t kFlowWork = 10'000'000, kFlowWorkOfTask = 2'000, kFlowWorkOfEdge = 10;
constexpr CoarseSize kFewClusters{.vertices = 8, .edges = 28, .few_vertices = 8};
constexpr int kPatience = 3;  // so many of them in a row, then finer cuts are accepted, or trees grow as deep as wide

WeightedGraph make_weighted_graph(const TaskGraph& graph, const std::vector<double>& weight,
                                  const std::vector<TaskIndex>& order) {
    const auto count = static_cast<std::size_t>(graph.task_count());
    std::vector<std::int32_t> number(count);
    for (std::size_t i = 0; i < count; ++i) number[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    WeightedGraph made;
    made.size.assign(count, 1);
    made.offsets.assign(count + 1, 0);
    const std::span<const TaskEdge> edges = graph.edges();
    const auto end_of = [&](TaskIndex task) {
        return static_cast<std::size_t>(number[static_cast<std::size_t>(task)]);
    };
    for (std::size_t i = 0; i < edges.size(); ++i) {
        if (weight[i] <= 0) continue;
        ++made.offsets[end_of(edges[i].u) + 1];
        ++made.offsets[end_of(edges[i].v) + 1];
    }
    std::partial_sum(made.offsets.begin(), made.offsets.end(), made.offsets.begin());
    made.arcs.resize(made.offsets.back());
    std::vector<std::size_t> next(made.offsets.begin(), made.offsets.end() - 1);
    for (std::size_t i = 0; i < edges.size(); ++i) {
        if (weight[i] <= 0) continue;
        const std::size_t u = end_of(edges[i].u);
        const std::size_t v = end_of(edges[i].v);
        made.arcs[next[u]++] = {static_cast<std::int32_t>(v), weight[i]};
        made.arcs[next[v]++] = {static_cast<std::int32_t>(u), weight[i]};
    }
    for (std::size_t v = 0; v < count; ++v) {
        std::sort(made.arcs.begin() + static_cast<std::ptrdiff_t>(made.offsets[v]),
                  made.arcs.begin() + static_cast<std::ptrdiff_t>(made.offsets[v + 1]),
                  [](const auto& a, const auto& b) { return a.to < b.to; });
    }
    return made;
}

/// Parts of a connected graph by matching: about eight of them, single vertices where they are fewer. O(edges).
Partition split_by_matching(const WeightedGraph& graph, Rng& rng) {
    Partition partition{std::vector<std::int32_t>(graph.size.size()), graph.vertex_count()};
    std::iota(partition.label.begin(), partition.label.end(), 0);
    for (const CoarseLevel& level : coarsen(graph, kFewClusters, rng)) {
        for (std::int32_t& label : partition.label) label = level.coarse_of[static_cast<std::size_t>(label)];
        partition.count = level.graph.vertex_count();
    }
    return partition;
}

/// Clusters of a connected graph: flow on its coarsest picture, then every finer picture corrects the borders.
/// After `lopsided` splits that each shed a few tasks, finer and finer cuts are taken as they are: in a star every
/// single leaf is the best cut, and correcting borders would always come back to it.
Partition split_connected(const WeightedGraph& graph, FlowOptions options, int lopsided, Rng& rng) {
    for (int i = kPatience; i < lopsided; ++i) options.tolerance *= 2;
    const bool correct = lopsided <= kPatience;
    const std::vector<CoarseLevel> levels = coarsen(graph, CoarseSize{}, rng);
    Partition partition = split_by_flow(levels.empty() ? graph : levels.back().graph, options, rng);
    if (correct) refine(levels.empty() ? graph : levels.back().graph, partition);
    for (std::size_t level = levels.size(); level-- > 0;) {
        Partition finer{std::vector<std::int32_t>(levels[level].coarse_of.size()), partition.count};
        for (std::size_t v = 0; v < finer.label.size(); ++v) {
            finer.label[v] = partition.label[static_cast<std::size_t>(levels[level].coarse_of[v])];
        }
        partition = std::move(finer);
        if (correct) refine(level == 0 ? graph : levels[level - 1].graph, partition);
    }
    return partition;
}

/// Renumbers clusters so that each comes soon after what it is tied to. `before[v]` is the traffic of vertex v with
/// tasks that the walk has passed already. First the cluster tied most to those (at the very start: the one with most
/// traffic to its siblings), then always the one tied most to all before it; of equals, the one with the first vertex.
void order_clusters(const WeightedGraph& graph, const std::vector<double>& before, Partition& partition) {
    compact(partition);
    const WeightedGraph between = contract(graph, partition.label, partition.count);
    const auto count = static_cast<std::size_t>(partition.count);
    std::vector<double> total(count, 0);
    for (std::int32_t c = 0; c < partition.count; ++c) {
        for (const WeightedGraph::Arc& arc : between.arcs_of(c)) total[static_cast<std::size_t>(c)] += arc.weight;
    }
    std::vector<std::int32_t> hubs(count);
    std::iota(hubs.begin(), hubs.end(), 0);
    std::ranges::stable_sort(hubs, std::greater<>{},
                             [&](std::int32_t c) { return total[static_cast<std::size_t>(c)]; });

    std::vector<double> tie(count, 0);
    for (std::size_t v = 0; v < before.size(); ++v) tie[static_cast<std::size_t>(partition.label[v])] += before[v];
    std::vector<std::int32_t> place(count, -1);
    std::int32_t placed = 0;
    std::priority_queue<std::pair<double, std::int32_t>> next;  // (tie, -cluster); entries with an old tie are skipped
    for (std::int32_t c = 0; c < partition.count; ++c) {
        if (tie[static_cast<std::size_t>(c)] > 0) next.emplace(tie[static_cast<std::size_t>(c)], -c);
    }
    const auto place_all_tied = [&] {
        while (!next.empty()) {
            const auto [known_tie, negative] = next.top();
            next.pop();
            const auto cluster = static_cast<std::size_t>(-negative);
            if (place[cluster] >= 0 || known_tie != tie[cluster]) continue;
            place[cluster] = placed++;
            for (const WeightedGraph::Arc& arc : between.arcs_of(-negative)) {
                const auto other = static_cast<std::size_t>(arc.to);
                if (place[other] >= 0) continue;
                tie[other] += arc.weight;
                next.emplace(tie[other], -arc.to);
            }
        }
    };
    place_all_tied();
    for (const std::int32_t hub : hubs) {
        if (place[static_cast<std::size_t>(hub)] >= 0) continue;
        next.emplace(tie[static_cast<std::size_t>(hub)], -hub);
        place_all_tied();
    }
    for (std::int32_t& label : partition.label) label = place[static_cast<std::size_t>(label)];
}

/// A cluster still to be split: its graph, and the canonical number of each of its vertices.
struct Pending {
    std::int32_t node;
    int lopsided;
    std::int64_t work;
    WeightedGraph graph;
    std::vector<std::int32_t> member;
};

}  // namespace

std::vector<double> edge_weight(const TaskGraph& graph, bool weigh_messages) {
    std::vector<double> weight;
    weight.reserve(graph.edge_count());
    double fewest = 0;
    for (const TaskEdge& edge : graph.edges()) {
        if (edge.messages > 0 && (fewest == 0 || edge.messages < fewest)) fewest = edge.messages;
    }
    for (const TaskEdge& edge : graph.edges()) {
        if (!weigh_messages) {
            weight.push_back(edge.bytes);
            continue;
        }
        const double factor = edge.messages > 0 ? 1 + std::log10(edge.messages / fewest) : 1;
        weight.push_back(std::max(edge.bytes, edge.messages) * factor);
    }
    return weight;
}

ClusterTree make_cluster_tree(const TaskGraph& graph, const ClusteringOptions& options) {
    ZBS_EXPECTS(options.alpha > 0 && options.alpha <= 100);
    ZBS_EXPECTS(options.injection > 0 && options.injection <= 1);
    ZBS_EXPECTS(options.tolerance >= 1);
    ClusterTree tree;
    if (graph.task_count() == 0) return tree;
    const std::vector<double> weight = edge_weight(graph, options.weigh_messages);
    const std::vector<TaskIndex> canonical = canonical_order(graph, weight);
    const TaskIndex count = graph.task_count();
    tree.order.resize(static_cast<std::size_t>(count));
    tree.nodes.push_back({.begin = 0, .end = count});

    Rng rng(options.seed);
    const WeightedGraph whole = make_weighted_graph(graph, weight, canonical);
    std::vector<std::int32_t> begin_of(static_cast<std::size_t>(count),
                                       0);  // of the smallest cluster known to hold the task
    std::vector<double> before;
    std::vector<Pending> pending;
    std::vector<std::int32_t> everyone(static_cast<std::size_t>(count));
    std::iota(everyone.begin(), everyone.end(), 0);
    const std::int64_t flow_work = kFlowWork + kFlowWorkOfTask * static_cast<std::int64_t>(count) +
                                   kFlowWorkOfEdge * static_cast<std::int64_t>(graph.edge_count());
    pending.push_back({ClusterTree::kRoot, 0, flow_work, whole, std::move(everyone)});
    std::vector<std::int32_t> local;
    while (!pending.empty()) {
        const Pending cluster = std::move(pending.back());
        pending.pop_back();
        const std::int32_t begin = tree.node(cluster.node).begin;
        if (cluster.member.size() == 1) {
            tree.order[static_cast<std::size_t>(begin)] = canonical[static_cast<std::size_t>(cluster.member[0])];
            continue;
        }
        Components components = connected_components(cluster.graph);
        Partition partition{std::move(components.label), components.count};
        const bool connected = partition.count == 1;
        std::int64_t work = cluster.work;
        if (connected && work > 0) {
            const FlowOptions flow{options.alpha, options.injection, options.tolerance, &work};
            partition = split_connected(cluster.graph, flow, cluster.lopsided, rng);
            work -= static_cast<std::int64_t>(cluster.graph.arcs.size());
        } else if (connected) {
            partition = split_by_matching(cluster.graph, rng);
        }
        before.assign(cluster.member.size(), 0);
        for (std::size_t v = 0; v < before.size(); ++v) {
            for (const WeightedGraph::Arc& arc : whole.arcs_of(cluster.member[v])) {
                if (begin_of[static_cast<std::size_t>(arc.to)] < begin) before[v] += arc.weight;
            }
        }
        order_clusters(cluster.graph, before, partition);

        std::vector<WeightedGraph> inner = split(cluster.graph, partition.label, partition.count, local);
        std::vector<std::vector<std::int32_t>> members(inner.size());
        for (std::size_t v = 0; v < cluster.member.size(); ++v) {
            members[static_cast<std::size_t>(partition.label[v])].push_back(cluster.member[v]);
        }
        ClusterTree::Node& node = tree.nodes[static_cast<std::size_t>(cluster.node)];
        node.first_child = static_cast<std::int32_t>(tree.nodes.size());
        node.child_count = partition.count;
        const std::int32_t first_child = node.first_child;
        std::int32_t at = begin;
        for (std::int32_t child = 0; child < partition.count; ++child) {
            const auto size_of = static_cast<std::int32_t>(members[static_cast<std::size_t>(child)].size());
            const double share = static_cast<double>(size_of) / static_cast<double>(cluster.member.size());
            const bool lopsided = connected && share > kLopsidedShare;
            tree.nodes.push_back({.parent = cluster.node, .begin = at, .end = at + size_of});
            for (const std::int32_t vertex : members[static_cast<std::size_t>(child)]) {
                begin_of[static_cast<std::size_t>(vertex)] = at;
            }
            at += size_of;
            pending.push_back({first_child + child, lopsided ? cluster.lopsided + 1 : 0,
                               static_cast<std::int64_t>(share * static_cast<double>(std::max<std::int64_t>(0, work))),
                               std::move(inner[static_cast<std::size_t>(child)]),
                               std::move(members[static_cast<std::size_t>(child)])});
        }
        std::reverse(pending.end() - partition.count, pending.end());  // depth first, left to right
    }
    return tree;
}

}  // namespace zbs
