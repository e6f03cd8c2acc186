#include "algorithms/multilevel/annealing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace zbs::multilevel {
namespace {

constexpr Vertex kDenseVertices = 1024;
constexpr std::int64_t kDescendPairs = 3'000'000;  // of vertices that the last descent may compare
constexpr Vertex kStoreAtOnce = 64;                // storing a new best is cheap enough to do it every time

class Annealer {
  public:
    Annealer(Placement& placement, Rng& rng)
        : p_(placement),
          g_(placement.graph),
          t_(placement.tree),
          rng_(rng),
          n_(g_.vertex_count()),
          groups_(static_cast<std::size_t>(t_.groups)),
          table_(static_cast<std::size_t>(n_) * groups_, 0),
          members_(static_cast<std::size_t>(t_.leaves)),
          slot_(static_cast<std::size_t>(n_)) {
        for (Vertex v = 0; v < n_; ++v) {
            std::vector<Vertex>& here = members_[static_cast<std::size_t>(p_.leaf(v))];
            slot_[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(here.size());
            here.push_back(v);
            for (const auto& arc : g_.arcs_of(v)) add(v, p_.leaf(arc.head), arc.weight);
        }
        if (n_ <= kDenseVertices) {
            dense_.assign(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_), 0);
            for (Vertex v = 0; v < n_; ++v)
                for (const auto& arc : g_.arcs_of(v)) dense_[index(v, arc.head)] = arc.weight;
        }
        for (std::size_t i = 0; i < minus_log_.size(); ++i)
            minus_log_[i] = -std::log((static_cast<double>(i) + 0.5) / static_cast<double>(minus_log_.size()));
    }

    void run(const AnnealingOptions& options, const std::function<bool()>& out_of_time) {
        if (n_ < 2 || t_.leaves < 2) return;
        std::int64_t cost = p_.cost();
        // The temperature is measured in changes of cost that random proposals make near the start.
        double sum = 0;
        int seen = 0;
        for (int i = 0; i < 4000; ++i) {
            Proposal q = propose();
            if (q.v < 0) continue;
            sum += static_cast<double>(std::llabs(q.delta));
            ++seen;
        }
        if (seen == 0 || sum == 0) return;
        const double unit = sum / seen;
        std::vector<std::int32_t> best = p_.leaf_of;
        std::int64_t best_cost = cost;
        std::int64_t marked = cost;  // best cost that is stored in `best`
        constexpr std::int64_t kStep = 256;
        const std::int64_t steps = std::max<std::int64_t>(1, options.proposals / kStep);
        const double factor = std::pow(options.cold / options.hot, 1.0 / static_cast<double>(steps));
        double temperature = options.hot * unit;
        for (std::int64_t step = 0; step < steps; ++step, temperature *= factor) {
            for (std::int64_t i = 0; i < kStep; ++i) {
                const Proposal q = propose();
                if (q.v < 0) continue;
                if (q.delta > 0 &&
                    static_cast<double>(q.delta) > temperature * minus_log_[rng_.next() & (minus_log_.size() - 1)])
                    continue;
                accept(q);
                cost += q.delta;
                if (cost < best_cost) {
                    best_cost = cost;
                    if (n_ > kStoreAtOnce) continue;
                    best = p_.leaf_of;
                    marked = cost;
                }
            }
            // Storing is O(vertices): only when cooled down or at the end of a step that beat the stored best.
            if (cost == best_cost && cost < marked) {
                best = p_.leaf_of;
                marked = cost;
            }
            if ((step & 63) == 0 && out_of_time && out_of_time()) break;
        }
        cost += descend();
        if (cost < marked) {
            best = p_.leaf_of;
            marked = cost;
        }
        Placement fresh(g_, t_, std::move(best));
        p_.leaf_of = std::move(fresh.leaf_of);
        p_.load = std::move(fresh.load);
    }

  private:
    struct Proposal {
        Vertex v = -1;
        Vertex partner = -1;  ///< -1: a move
        std::int32_t to = -1;
        std::int64_t delta = 0;
    };

    std::size_t index(Vertex a, Vertex b) const {
        return static_cast<std::size_t>(a) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(b);
    }
    std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(((rng_.next() >> 32) * bound) >> 32); }
    void add(Vertex v, std::int32_t leaf, std::int32_t weight) {
        std::int32_t* row = table_.data() + static_cast<std::size_t>(v) * groups_;
        const std::int32_t* path = t_.path(leaf);
        for (std::int32_t l = 0; l < t_.levels; ++l) row[path[l]] += weight;
    }
    std::int64_t score(Vertex v, std::int32_t leaf) const {
        const std::int32_t* row = table_.data() + static_cast<std::size_t>(v) * groups_;
        const std::int32_t* path = t_.path(leaf);
        std::int64_t sum = 0;
        for (std::int32_t l = 0; l < t_.levels; ++l) sum += t_.bonus[static_cast<std::size_t>(path[l])] * row[path[l]];
        if (!t_.top_gap.empty()) {
            const std::size_t own =
                static_cast<std::size_t>(path[t_.levels - 1] - t_.top_begin) * static_cast<std::size_t>(t_.top_count);
            for (std::int32_t z = 0; z < t_.top_count; ++z)
                sum += t_.top_gap[own + static_cast<std::size_t>(z)] * row[t_.top_begin + z];
        }
        return sum;
    }
    std::int64_t weight_between(Vertex a, Vertex b) const {
        if (!dense_.empty()) return dense_[index(a, b)];
        const auto of_a = g_.arcs_of(a), of_b = g_.arcs_of(b);
        if (of_a.size() > of_b.size()) return weight_between(b, a);
        for (const auto& arc : of_a)
            if (arc.head == b) return arc.weight;
        return 0;
    }

    Proposal judge(Vertex v, std::int32_t to) {
        Proposal q;
        const std::int32_t from = p_.leaf(v);
        if (to == from) return q;
        const std::vector<Vertex>& there = members_[static_cast<std::size_t>(to)];
        const std::int64_t weight = g_.load(v);
        const std::int64_t room = p_.room(to);
        if (room >= weight && (there.empty() || (rng_.next() & 1) == 0)) {
            q = {v, -1, to, score(v, from) - score(v, to)};
            return q;
        }
        if (there.empty()) return q;
        const Vertex u = there[below(static_cast<std::uint32_t>(there.size()))];
        const std::int64_t other = g_.load(u);
        if (room + other < weight || p_.room(from) + weight < other) return q;
        q = {v, u, to, swap_delta(v, u)};
        return q;
    }
    std::int64_t swap_delta(Vertex v, Vertex u) const {
        const std::int32_t a = p_.leaf(v), b = p_.leaf(u);
        std::int64_t delta = score(v, a) - score(v, b) + score(u, b) - score(u, a);
        const std::int64_t weight = weight_between(v, u);
        if (weight != 0) delta += 2 * weight * t_.distance(a, b);
        return delta;
    }

    Proposal propose() {
        const auto v = static_cast<Vertex>(below(static_cast<std::uint32_t>(n_)));
        const auto arcs = g_.arcs_of(v);
        std::int32_t to;
        const std::uint32_t dice = below(16);
        if (dice < 12 && !arcs.empty()) {
            // Beside a neighbour: on its leaf, or on one that shares its machine.
            to = p_.leaf(arcs[below(static_cast<std::uint32_t>(arcs.size()))].head);
            if (t_.levels > 1) {
                // Leaves of a machine are consecutive numbers.
                const std::int32_t near = static_cast<std::int32_t>(below(9)) - 4;
                const std::int32_t other = to + near;
                if (other >= 0 && other < t_.leaves && t_.group_of(other, 1) == t_.group_of(to, 1)) to = other;
            }
        } else {
            to = static_cast<std::int32_t>(below(static_cast<std::uint32_t>(t_.leaves)));
        }
        return judge(v, to);
    }

    void relocate(Vertex v, std::int32_t to) {
        const std::int32_t from = p_.leaf(v);
        for (const auto& arc : g_.arcs_of(v)) {
            add(arc.head, from, -arc.weight);
            add(arc.head, to, arc.weight);
        }
        std::vector<Vertex>& here = members_[static_cast<std::size_t>(from)];
        const auto at = static_cast<std::size_t>(slot_[static_cast<std::size_t>(v)]);
        here[at] = here.back();
        slot_[static_cast<std::size_t>(here[at])] = static_cast<std::int32_t>(at);
        here.pop_back();
        std::vector<Vertex>& there = members_[static_cast<std::size_t>(to)];
        slot_[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(there.size());
        there.push_back(v);
        p_.move(v, to);
    }
    void accept(const Proposal& q) {
        const std::int32_t from = p_.leaf(q.v);
        relocate(q.v, q.to);
        if (q.partner >= 0) relocate(q.partner, from);
    }

    /// Best-improvement over all swaps and moves of each vertex until none gains; for small graphs.
    std::int64_t descend() {
        std::int64_t saved = 0;
        if (static_cast<std::int64_t>(n_) * n_ > 4'000'000) return 0;
        const int rounds = static_cast<int>(std::clamp<std::int64_t>(kDescendPairs / (std::int64_t{n_} * n_), 2, 20));
        for (int round = 0; round < rounds; ++round) {
            bool changed = false;
            for (Vertex v = 0; v < n_; ++v) {
                Proposal best;
                const std::int32_t from = p_.leaf(v);
                const std::int64_t weight = g_.load(v);
                for (Vertex u = 0; u < n_; ++u) {
                    const std::int32_t to = p_.leaf(u);
                    if (to == from) continue;
                    if (p_.room(to) + g_.load(u) < weight || p_.room(from) + weight < g_.load(u)) continue;
                    const std::int64_t delta = swap_delta(v, u);
                    if (delta < best.delta) best = {v, u, to, delta};
                }
                for (std::int32_t to = 0; to < t_.leaves; ++to) {
                    if (to == from || p_.room(to) < weight) continue;
                    const std::int64_t delta = score(v, from) - score(v, to);
                    if (delta < best.delta) best = {v, -1, to, delta};
                }
                if (best.v < 0) continue;
                accept(best);
                saved += best.delta;
                changed = true;
            }
            if (!changed) break;
        }
        return saved;
    }

    Placement& p_;
    const CompactGraph& g_;
    const TargetTree& t_;
    Rng& rng_;
    Vertex n_;
    std::size_t groups_;
    std::vector<std::int32_t> table_;           // vertex x group: weight to neighbours in the group
    std::vector<std::vector<Vertex>> members_;  // by leaf
    std::vector<std::int32_t> slot_;            // place in members_
    std::vector<std::int32_t> dense_;           // vertex x vertex, small graphs
    std::array<double, 4096> minus_log_{};
};

}  // namespace

bool fits_annealing(const CompactGraph& graph, const TargetTree& tree) {
    return static_cast<std::int64_t>(graph.vertex_count()) * tree.groups <= 4'000'000;
}

void anneal(Placement& placement, Rng& rng, const AnnealingOptions& options, const std::function<bool()>& out_of_time) {
    Annealer(placement, rng).run(options, out_of_time);
}

}  // namespace zbs::multilevel
