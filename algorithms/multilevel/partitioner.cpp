#include "algorithms/multilevel/partitioner.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "algorithms/multilevel/coarsening.hpp"
#include "algorithms/multilevel/flow_refinement.hpp"

namespace zbs::multilevel {

GraphLevels coarsen(const CompactGraph& graph, std::vector<std::int32_t>& label, std::int64_t vertices,
                    std::int64_t heaviest, bool pairs, Rng& rng) {
    GraphLevels levels;
    levels.finest = &graph;
    bool matching = pairs;
    while (levels.coarsest().vertex_count() > vertices) {
        const CompactGraph& fine = levels.coarsest();
        Vertex clusters = 0;
        std::vector<Vertex> cluster =
            find_clusters(fine, label, rng, {.heaviest = heaviest, .pairs = matching}, clusters);
        const double shrink = static_cast<double>(clusters) / static_cast<double>(fine.vertex_count());
        if (shrink > 0.75 && matching) {
            matching = false;  // hubs: pairs no longer shrink the graph
            continue;
        }
        if (shrink > 0.97) break;
        CompactGraph coarse = contract(fine, cluster, clusters);
        if (!label.empty()) {
            std::vector<std::int32_t> carried(static_cast<std::size_t>(clusters));
            for (std::size_t v = 0; v < cluster.size(); ++v) carried[static_cast<std::size_t>(cluster[v])] = label[v];
            label = std::move(carried);
        }
        levels.coarse.push_back(std::move(coarse));
        levels.cluster.push_back(std::move(cluster));
    }
    return levels;
}

namespace {

/// Grows side 0 by best gain until it holds `want`: from one random vertex, or from wherever it costs least (in graphs
/// with hubs the many vertices of small degree are the cheap side).
std::vector<std::int32_t> grow_half(const CompactGraph& graph, double want, bool anywhere, Rng& rng) {
    const Vertex n = graph.vertex_count();
    std::vector<std::int32_t> side(static_cast<std::size_t>(n), 1);
    std::vector<std::int64_t> gain(static_cast<std::size_t>(n));
    for (Vertex v = 0; v < n; ++v) {
        std::int64_t degree = 0;
        for (const auto& arc : graph.arcs_of(v)) degree += arc.weight;
        gain[static_cast<std::size_t>(v)] = -degree;
    }
    std::priority_queue<std::pair<std::int64_t, Vertex>> heap;
    if (anywhere) {
        std::vector<std::pair<std::int64_t, Vertex>> entries(static_cast<std::size_t>(n));
        for (Vertex v = 0; v < n; ++v) entries[static_cast<std::size_t>(v)] = {gain[static_cast<std::size_t>(v)], v};
        heap = decltype(heap)(std::less<std::pair<std::int64_t, Vertex>>(), std::move(entries));
    }
    double load = 0;
    Vertex cursor = 0;
    const auto offset = static_cast<Vertex>(rng.below(static_cast<std::uint64_t>(n)));
    while (load < want) {
        Vertex v = -1;
        while (!heap.empty()) {
            const auto [g, u] = heap.top();
            heap.pop();
            if (side[static_cast<std::size_t>(u)] == 1 && g == gain[static_cast<std::size_t>(u)]) {
                v = u;
                break;
            }
        }
        if (v < 0) {
            while (cursor < n && side[static_cast<std::size_t>((cursor + offset) % n)] == 0) ++cursor;
            if (cursor == n) break;
            v = (cursor + offset) % n;
        }
        const double weight = static_cast<double>(graph.load(v));
        if (load > 0 && load + weight / 2 > want) {
            // Half of it or more would stick out; look at the rest of the frontier.
            side[static_cast<std::size_t>(v)] = 2;
            if (heap.empty()) break;
            continue;
        }
        side[static_cast<std::size_t>(v)] = 0;
        load += weight;
        for (const auto& arc : graph.arcs_of(v)) {
            const auto h = static_cast<std::size_t>(arc.head);
            if (side[h] != 1) continue;
            gain[h] += 2 * static_cast<std::int64_t>(arc.weight);
            heap.push({gain[h], arc.head});
        }
    }
    for (std::int32_t& s : side) s = s == 0 ? 0 : 1;
    return side;
}

std::vector<std::int32_t> bisect(const CompactGraph& graph, double want, std::int64_t capacity0, std::int64_t capacity1,
                                 int tries, int rounds, Rng& rng) {
    const TargetTree star = make_star({capacity0, capacity1});
    std::vector<std::int32_t> best;
    std::int64_t best_cut = 0, best_over = 0;
    for (int attempt = 0; attempt < tries; ++attempt) {
        Placement placement(graph, star, grow_half(graph, want, attempt % 2 == 1, rng));
        repair_balance(placement, rng);
        local_search(placement, rng, {.rounds = rounds, .patience = 60, .slack = graph.heaviest});
        const std::int64_t cut = placement.cost(), over = placement.overload();
        if (best.empty() || over < best_over || (over == best_over && cut < best_cut)) {
            best = placement.leaf_of;
            best_cut = cut;
            best_over = over;
        }
    }
    return best;
}

/// Recursive bisection into parts begin..end of `capacity`.
void bisect_recursively(const CompactGraph& graph, std::span<const std::int64_t> capacity, std::int32_t first,
                        std::span<const Vertex> names, std::vector<std::int32_t>& part, int tries, int rounds,
                        Rng& rng) {
    const std::size_t parts = capacity.size();
    if (parts == 1 || graph.vertex_count() == 0) {
        for (const Vertex v : names) part[static_cast<std::size_t>(v)] = first;
        return;
    }
    const std::size_t half = parts / 2;
    const std::int64_t room0 =
        std::accumulate(capacity.begin(), capacity.begin() + static_cast<std::ptrdiff_t>(half), std::int64_t{0});
    const std::int64_t room = std::accumulate(capacity.begin(), capacity.end(), std::int64_t{0});
    const double fraction = static_cast<double>(room0) / static_cast<double>(room);
    const double want = fraction * static_cast<double>(graph.total);
    // Slack is shared among the bisections still to come.
    const double slack = static_cast<double>(room) / std::max(1.0, static_cast<double>(graph.total));
    const double share = std::pow(std::max(1.0, slack), 1 / std::ceil(std::log2(static_cast<double>(parts))));
    const auto limit = [&](double wanted, std::int64_t most) {
        return std::min(
            most, std::max(static_cast<std::int64_t>(wanted * share), static_cast<std::int64_t>(std::ceil(wanted))));
    };
    const std::vector<std::int32_t> side =
        bisect(graph, want, limit(want, room0), limit(static_cast<double>(graph.total) - want, room - room0), tries,
               rounds, rng);
    std::vector<Vertex> local;
    const std::vector<CompactGraph> halves = split(graph, side, 2, local);
    std::vector<Vertex> names_of[2];
    for (std::size_t v = 0; v < side.size(); ++v) names_of[side[v]].push_back(names[v]);
    bisect_recursively(halves[0], capacity.subspan(0, half), first, names_of[0], part, tries, rounds, rng);
    bisect_recursively(halves[1], capacity.subspan(half), first + static_cast<std::int32_t>(half), names_of[1], part,
                       tries, rounds, rng);
}

void refine(Placement& placement, Rng& rng, const Effort& effort) {
    if (placement.overload() > 0) repair_balance(placement, rng);
    const bool over = effort.is_over();
    greedy_moves(placement, rng, over ? 1 : effort.greedy_only ? 6 : 3);
    if (effort.greedy_only || over) return;
    SearchOptions search = effort.search;
    FlowOptions flow = effort.flow;
    search.slack = std::max(search.slack, placement.graph.heaviest);
    if (placement.graph.vertex_count() > effort.large) {
        search.rounds = std::min(search.rounds, 1);
        flow.rounds = std::min(flow.rounds, 1);
    }
    local_search(placement, rng, search);
    flow_refinement(placement, flow);
}

}  // namespace

void search_up(const GraphLevels& levels, const TargetTree& tree, std::vector<std::int32_t>& leaf_of, Rng& rng,
               const Effort& effort) {
    for (std::size_t level = levels.coarse.size() + 1; level-- > 0;) {
        Placement placement(levels.at(level), tree, std::move(leaf_of));
        refine(placement, rng, effort);
        if (level == 0) {
            leaf_of = std::move(placement.leaf_of);
        } else {
            const std::vector<Vertex>& cluster = levels.cluster[level - 1];
            leaf_of.resize(cluster.size());
            for (std::size_t v = 0; v < cluster.size(); ++v)
                leaf_of[v] = placement.leaf_of[static_cast<std::size_t>(cluster[v])];
        }
    }
}

std::vector<std::int32_t> partition(const CompactGraph& graph, const std::vector<std::int64_t>& capacity, Rng& rng,
                                    const Effort& effort) {
    const auto parts = static_cast<std::int64_t>(capacity.size());
    const Vertex n = graph.vertex_count();
    if (parts == 1 || n == 0) return std::vector<std::int32_t>(static_cast<std::size_t>(n), 0);
    const std::int64_t coarsest = std::max<std::int64_t>(60, effort.coarsest * parts);
    std::vector<std::int32_t> none;
    const std::int64_t smallest = *std::ranges::min_element(capacity);
    const std::int64_t heaviest =
        std::min(std::max<std::int64_t>(1, smallest / 3), std::max<std::int64_t>(1, graph.total * 3 / (2 * coarsest)));
    const GraphLevels levels = coarsen(graph, none, coarsest, heaviest, effort.pairs, rng);

    const CompactGraph& small = levels.coarsest();
    std::vector<Vertex> names(static_cast<std::size_t>(small.vertex_count()));
    std::iota(names.begin(), names.end(), 0);
    const TargetTree star = make_star(capacity);
    std::vector<std::int32_t> best;
    std::int64_t best_cut = 0, best_over = 0;
    for (int attempt = 0; attempt < effort.restarts && (best.empty() || !effort.is_over()); ++attempt) {
        std::vector<std::int32_t> part(names.size(), 0);
        bisect_recursively(small, capacity, 0, names, part, effort.tries, effort.greedy_only ? 1 : 4, rng);
        Placement placement(small, star, std::move(part));
        refine(placement, rng, effort);
        const std::int64_t cut = placement.cost(), over = placement.overload();
        if (best.empty() || over < best_over || (over == best_over && cut < best_cut)) {
            best = std::move(placement.leaf_of);
            best_cut = cut;
            best_over = over;
        }
    }
    search_up(levels, star, best, rng, effort);
    return best;
}

void v_cycle(const CompactGraph& graph, const TargetTree& tree, std::vector<std::int32_t>& leaf_of,
             std::span<const std::int32_t> other, Rng& rng, const Effort& effort) {
    std::vector<std::int32_t> label = leaf_of;
    std::int32_t labels = tree.leaves;
    if (!other.empty()) {
        // Pairs of (leaf, other) as labels, numbered by first appearance.
        std::vector<std::pair<std::int64_t, std::size_t>> keys(leaf_of.size());
        for (std::size_t v = 0; v < leaf_of.size(); ++v)
            keys[v] = {static_cast<std::int64_t>(leaf_of[v]) << 32 | static_cast<std::uint32_t>(other[v]), v};
        std::ranges::sort(keys);
        labels = 0;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (i > 0 && keys[i].first != keys[i - 1].first) ++labels;
            label[keys[i].second] = labels;
        }
        ++labels;
    }
    const std::int64_t coarsest = std::max<std::int64_t>(60, static_cast<std::int64_t>(effort.coarsest) * tree.leaves);
    const std::int64_t heaviest = std::max<std::int64_t>(
        1, std::min(graph.total * 3 / (2 * coarsest), *std::ranges::max_element(tree.capacity) / 3));
    std::vector<std::int32_t> carried = label;
    const GraphLevels levels = coarsen(graph, carried, coarsest, heaviest, effort.pairs, rng);
    // Leaves of the coarsest level: any member has the leaf of all.
    std::vector<std::int32_t> leaves = leaf_of;
    for (const std::vector<Vertex>& cluster : levels.cluster) {
        Vertex count = 0;
        for (const Vertex c : cluster) count = std::max(count, c + 1);
        std::vector<std::int32_t> up(static_cast<std::size_t>(count));
        for (std::size_t v = 0; v < cluster.size(); ++v) up[static_cast<std::size_t>(cluster[v])] = leaves[v];
        leaves = std::move(up);
    }
    search_up(levels, tree, leaves, rng, effort);
    leaf_of = std::move(leaves);
}

namespace {

/// Coarsening hides the cheap side of a cut where a few vertices have most edges: such graphs are worth a start
/// without.
bool has_hubs(const CompactGraph& graph) {
    std::size_t most = 0;
    for (Vertex v = 0; v < graph.vertex_count(); ++v) most = std::max(most, graph.arcs_of(v).size());
    return most * static_cast<std::size_t>(graph.vertex_count()) > 8 * graph.arcs.size();
}

}  // namespace

GraphLevels coarsen_large(const CompactGraph& graph, const Effort& effort, Rng& rng) {
    std::vector<std::int32_t> none;
    const std::int64_t heaviest = std::max<std::int64_t>(1, 2 * graph.total / effort.large);
    return coarsen(graph, none, effort.large, heaviest, effort.pairs, rng);
}

std::vector<std::int32_t> evolve(const CompactGraph& graph, const std::vector<std::int64_t>& capacity, Rng& rng,
                                 const Effort& effort, const Evolution& evolution,
                                 std::vector<std::vector<std::int32_t>> given) {
    if (given.empty() && graph.vertex_count() > effort.large) {
        // Starts and generations happen on a smaller graph; its result is searched on the way back.
        const GraphLevels levels = coarsen_large(graph, effort, rng);
        if (!levels.coarse.empty()) {
            std::vector<std::int32_t> part = evolve(levels.coarsest(), capacity, rng, effort, evolution, {});
            const TargetTree star = make_star(capacity);
            search_up(levels, star, part, rng, effort);
            return part;
        }
    }
    struct Individual {
        std::int64_t overload;
        std::int64_t cut;
        std::vector<std::int32_t> part;
        bool operator<(const Individual& other) const {
            return overload != other.overload ? overload < other.overload : cut < other.cut;
        }
    };
    const TargetTree star = make_star(capacity);
    const auto judge = [&](std::vector<std::int32_t> part) {
        Placement placement(graph, star, std::move(part));
        const std::int64_t overload = placement.overload(), cut = placement.cost();
        return Individual{overload, cut, std::move(placement.leaf_of)};
    };
    std::vector<Individual> all;
    for (std::vector<std::int32_t>& part : given) all.push_back(judge(std::move(part)));
    if (given.empty() && has_hubs(graph)) {
        std::vector<Vertex> names(static_cast<std::size_t>(graph.vertex_count()));
        std::iota(names.begin(), names.end(), 0);
        std::vector<std::int32_t> part(names.size(), 0);
        bisect_recursively(graph, capacity, 0, names, part, effort.tries, effort.greedy_only ? 1 : 4, rng);
        Placement placement(graph, star, std::move(part));
        refine(placement, rng, effort);
        all.push_back(judge(std::move(placement.leaf_of)));
    }
    for (int i = 0; i < evolution.population && (all.empty() || !effort.is_over()); ++i)
        all.push_back(judge(partition(graph, capacity, rng, effort)));
    for (int i = 0; i < evolution.generations && !effort.is_over(); ++i) {
        std::sort(all.begin(), all.end());
        const std::size_t first = std::min(rng.below(all.size()), rng.below(all.size()));
        std::size_t second = rng.below(all.size());
        std::vector<std::int32_t> child = all[first].part;
        v_cycle(graph, star, child, second == first ? std::span<const std::int32_t>() : all[second].part, rng, effort);
        Individual born = judge(std::move(child));
        if (second != first && all[second] < born && all[first] < born) continue;
        if (std::ranges::any_of(all, [&](const Individual& one) { return one.part == born.part; })) continue;
        // The child replaces the worse of its parents: the other kin stay as they are.
        const std::size_t out = second == first ? first : std::max(first, second);
        if (born < all[out]) all[out] = std::move(born);
    }
    return std::min_element(all.begin(), all.end())->part;
}

}  // namespace zbs::multilevel
