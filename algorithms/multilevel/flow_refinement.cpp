#include "algorithms/multilevel/flow_refinement.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace zbs::multilevel {
namespace {

/// Maximum flow from many sources to many sinks by shortest augmenting paths, level by level [Dinic1970]. Terminals
/// are capacities of vertices, not vertices themselves.
class FlowNetwork {
  public:
    void reset(std::size_t vertices) {
        source_.assign(vertices, 0);
        sink_.assign(vertices, 0);
        edges_.clear();
        flow_ = 0;
    }
    void add_edge(std::int32_t u, std::int32_t v, std::int64_t capacity) { edges_.push_back({u, v, capacity}); }
    void add_source(std::int32_t v, std::int64_t capacity) { source_[static_cast<std::size_t>(v)] += capacity; }
    void add_sink(std::int32_t v, std::int64_t capacity) { sink_[static_cast<std::size_t>(v)] += capacity; }

    /// Ends early, with a flow of at least `enough`, when there is no smaller cut.
    std::int64_t run(std::int64_t enough) {
        build();
        for (std::size_t v = 0; v < source_.size(); ++v) {
            const std::int64_t through = std::min(source_[v], sink_[v]);
            source_[v] -= through;
            sink_[v] -= through;
            flow_ += through;
        }
        while (flow_ < enough && find_levels()) {
            std::copy(begin_.begin(), begin_.end() - 1, next_.begin());
            for (std::size_t v = 0; v < source_.size(); ++v)
                while (source_[v] > 0 && augment(static_cast<std::int32_t>(v))) {
                }
        }
        return flow_;
    }

    /// Vertices that sources still reach: the smallest source side of a minimum cut.
    std::vector<char> source_side() const { return reach(true); }
    /// Vertices that still reach a sink.
    std::vector<char> sink_side() const { return reach(false); }

  private:
    struct Edge {
        std::int32_t u, v;
        std::int64_t capacity;
    };
    struct Arc {
        std::int32_t head;
        std::int32_t reverse;  // its place among arcs_
        std::int64_t residual;
    };

    void build() {
        const std::size_t n = source_.size();
        begin_.assign(n + 1, 0);
        for (const Edge& e : edges_) {
            ++begin_[static_cast<std::size_t>(e.u) + 1];
            ++begin_[static_cast<std::size_t>(e.v) + 1];
        }
        for (std::size_t v = 0; v < n; ++v) begin_[v + 1] += begin_[v];
        next_.assign(begin_.begin(), begin_.end() - 1);
        arcs_.resize(2 * edges_.size());
        for (const Edge& e : edges_) {
            const std::int32_t a = next_[static_cast<std::size_t>(e.u)]++;
            const std::int32_t b = next_[static_cast<std::size_t>(e.v)]++;
            arcs_[static_cast<std::size_t>(a)] = {e.v, b, e.capacity};
            arcs_[static_cast<std::size_t>(b)] = {e.u, a, e.capacity};
        }
        level_.resize(n);
    }

    bool find_levels() {
        std::fill(level_.begin(), level_.end(), -1);
        queue_.clear();
        for (std::size_t v = 0; v < source_.size(); ++v) {
            if (source_[v] > 0) {
                level_[v] = 0;
                queue_.push_back(static_cast<std::int32_t>(v));
            }
        }
        bool reached = false;
        std::int32_t last = std::numeric_limits<std::int32_t>::max();
        for (std::size_t i = 0; i < queue_.size(); ++i) {
            const auto v = static_cast<std::size_t>(queue_[i]);
            if (level_[v] >= last) break;
            if (sink_[v] > 0) {
                reached = true;
                last = level_[v];
                continue;
            }
            for (std::int32_t a = begin_[v]; a < begin_[v + 1]; ++a) {
                const Arc& arc = arcs_[static_cast<std::size_t>(a)];
                if (arc.residual > 0 && level_[static_cast<std::size_t>(arc.head)] < 0) {
                    level_[static_cast<std::size_t>(arc.head)] = level_[v] + 1;
                    queue_.push_back(arc.head);
                }
            }
        }
        return reached;
    }

    bool augment(std::int32_t from) {
        path_.clear();
        std::int32_t at = from;
        while (sink_[static_cast<std::size_t>(at)] == 0) {
            const auto v = static_cast<std::size_t>(at);
            bool stepped = false;
            for (std::int32_t& a = next_[v]; a < begin_[v + 1]; ++a) {
                const Arc& arc = arcs_[static_cast<std::size_t>(a)];
                if (arc.residual > 0 && level_[static_cast<std::size_t>(arc.head)] == level_[v] + 1) {
                    path_.push_back(a);
                    at = arc.head;
                    stepped = true;
                    break;
                }
            }
            if (stepped) continue;
            if (path_.empty()) return false;
            // A dead end: back one step and past the arc that led here.
            const Arc& into = arcs_[static_cast<std::size_t>(path_.back())];
            at = arcs_[static_cast<std::size_t>(into.reverse)].head;
            ++next_[static_cast<std::size_t>(at)];
            path_.pop_back();
        }
        std::int64_t amount = std::min(source_[static_cast<std::size_t>(from)], sink_[static_cast<std::size_t>(at)]);
        for (const std::int32_t a : path_) amount = std::min(amount, arcs_[static_cast<std::size_t>(a)].residual);
        for (const std::int32_t a : path_) {
            Arc& arc = arcs_[static_cast<std::size_t>(a)];
            arc.residual -= amount;
            arcs_[static_cast<std::size_t>(arc.reverse)].residual += amount;
        }
        source_[static_cast<std::size_t>(from)] -= amount;
        sink_[static_cast<std::size_t>(at)] -= amount;
        flow_ += amount;
        return true;
    }

    std::vector<char> reach(bool from_sources) const {
        const std::vector<std::int64_t>& start = from_sources ? source_ : sink_;
        std::vector<char> seen(start.size(), 0);
        std::vector<std::int32_t> stack;
        for (std::size_t v = 0; v < start.size(); ++v) {
            if (start[v] > 0) {
                seen[v] = 1;
                stack.push_back(static_cast<std::int32_t>(v));
            }
        }
        while (!stack.empty()) {
            const auto v = static_cast<std::size_t>(stack.back());
            stack.pop_back();
            for (std::int32_t a = begin_[v]; a < begin_[v + 1]; ++a) {
                const Arc& arc = arcs_[static_cast<std::size_t>(a)];
                const std::int64_t residual =
                    from_sources ? arc.residual : arcs_[static_cast<std::size_t>(arc.reverse)].residual;
                if (residual > 0 && !seen[static_cast<std::size_t>(arc.head)]) {
                    seen[static_cast<std::size_t>(arc.head)] = 1;
                    stack.push_back(arc.head);
                }
            }
        }
        return seen;
    }

    std::vector<std::int64_t> source_, sink_;
    std::vector<Edge> edges_;
    std::vector<std::int32_t> begin_, next_, level_, queue_, path_;
    std::vector<Arc> arcs_;
    std::int64_t flow_ = 0;
};

class FlowRefiner {
  public:
    FlowRefiner(Placement& placement, const FlowOptions& options)
        : p_(placement),
          options_(options),
          parts_(placement.tree.leaves),
          local_(placement.leaf_of.size(), -1),
          borders_(static_cast<std::size_t>(parts_) * static_cast<std::size_t>(parts_)) {}

    std::int64_t run() {
        std::int64_t saved = 0;
        std::vector<char> active(static_cast<std::size_t>(parts_), 1);
        for (int round = 0; round < options_.rounds; ++round) {
            collect_borders();
            std::vector<char> changed(static_cast<std::size_t>(parts_), 0);
            std::int64_t gained = 0;
            for (std::int32_t a = 0; a < parts_; ++a) {
                for (std::int32_t b = a + 1; b < parts_; ++b) {
                    if (!active[static_cast<std::size_t>(a)] && !active[static_cast<std::size_t>(b)]) continue;
                    if (border(a, b).empty()) continue;
                    const std::int64_t gain = refine_pair(a, b);
                    if (gain > 0) changed[static_cast<std::size_t>(a)] = changed[static_cast<std::size_t>(b)] = 1;
                    gained += gain;
                }
            }
            saved += gained;
            if (gained == 0) break;
            active = std::move(changed);
        }
        return saved;
    }

  private:
    std::vector<Vertex>& border(std::int32_t a, std::int32_t b) {
        return borders_[static_cast<std::size_t>(a) * static_cast<std::size_t>(parts_) + static_cast<std::size_t>(b)];
    }

    /// border(a, b): vertices of a beside b.
    void collect_borders() {
        for (std::vector<Vertex>& list : borders_) list.clear();
        for (Vertex v = 0; v < p_.graph.vertex_count(); ++v) {
            const std::int32_t own = p_.leaf(v);
            for (const auto& arc : p_.graph.arcs_of(v)) {
                const std::int32_t other = p_.leaf(arc.head);
                if (other == own) continue;
                std::vector<Vertex>& list = border(own, other);
                if (list.empty() || list.back() != v) list.push_back(v);
            }
        }
    }

    /// Adds vertices of `side` around the border with `other` to the region, breadth first, up to `weight`.
    void grow(std::int32_t side, std::int32_t other, double weight) {
        const std::size_t first = region_.size();
        double taken = 0;
        const auto take = [&](Vertex v) {
            const auto load = static_cast<double>(p_.graph.load(v));
            if (taken + load > weight || static_cast<Vertex>(region_.size()) >= options_.largest) return;
            taken += load;
            local_[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(region_.size());
            region_.push_back(v);
        };
        for (const Vertex v : border(side, other))
            if (p_.leaf(v) == side && local_[static_cast<std::size_t>(v)] < 0) take(v);
        for (std::size_t i = first; i < region_.size(); ++i) {
            for (const auto& arc : p_.graph.arcs_of(region_[i]))
                if (p_.leaf(arc.head) == side && local_[static_cast<std::size_t>(arc.head)] < 0) take(arc.head);
        }
    }

    std::int64_t refine_pair(std::int32_t a, std::int32_t b) {
        std::int64_t saved = 0;
        double reach = options_.reach;
        for (int attempt = 0; attempt < 3; ++attempt, reach /= 3) {
            if (reach < 1) reach = 1;
            region_.clear();
            const auto load_a = static_cast<double>(p_.load[static_cast<std::size_t>(a)]);
            const auto load_b = static_cast<double>(p_.load[static_cast<std::size_t>(b)]);
            // Half the slack of both sides, so that a part that is full still gets a region.
            const double slack = std::max(1.0, static_cast<double>(p_.room(a) + p_.room(b)) / 2);
            grow(a, b, std::min(load_a / 2, reach * slack));
            const std::size_t middle = region_.size();
            grow(b, a, std::min(load_b / 2, reach * slack));
            std::int64_t outcome = kUnbalanced;
            if (middle > 0 && middle < region_.size()) outcome = cut_region(a, b);
            for (const Vertex v : region_) local_[static_cast<std::size_t>(v)] = -1;
            if (outcome > 0) saved += outcome;
            if (outcome != kUnbalanced || reach == 1) break;
        }
        return saved;
    }

    static constexpr std::int64_t kUnbalanced = -1;

    /// The cost saved; 0 when the border is minimal already.
    std::int64_t cut_region(std::int32_t a, std::int32_t b) {
        network_.reset(region_.size());
        std::int64_t before = 0;
        for (std::size_t i = 0; i < region_.size(); ++i) {
            const Vertex v = region_[i];
            const std::int32_t own = p_.leaf(v);
            for (const auto& arc : p_.graph.arcs_of(v)) {
                const std::int32_t other = p_.leaf(arc.head);
                if (other != a && other != b) continue;
                const std::int32_t j = local_[static_cast<std::size_t>(arc.head)];
                if (j < 0) {
                    if (other == a) network_.add_source(static_cast<std::int32_t>(i), arc.weight);
                    if (other == b) network_.add_sink(static_cast<std::int32_t>(i), arc.weight);
                    if (other != own) before += arc.weight;
                } else if (static_cast<std::size_t>(j) > i) {
                    network_.add_edge(static_cast<std::int32_t>(i), j, arc.weight);
                    if (other != own) before += arc.weight;
                }
            }
        }
        const std::int64_t cut = network_.run(before);
        if (cut >= before) return 0;
        // Two of the minimum cuts: the one nearest to a, and the one nearest to b; the better balanced that fits.
        std::int64_t moved_to_a[2] = {0, 0};
        const std::vector<char> near_a = network_.source_side();
        const std::vector<char> near_b = network_.sink_side();
        for (std::size_t i = 0; i < region_.size(); ++i) {
            const std::int64_t load = p_.graph.load(region_[i]);
            const bool in_a = p_.leaf(region_[i]) == a;
            if ((near_a[i] != 0) != in_a) moved_to_a[0] += in_a ? -load : load;
            if ((near_b[i] == 0) != in_a) moved_to_a[1] += in_a ? -load : load;
        }
        int choice = -1;
        std::int64_t most_room = -1;
        for (int c = 0; c < 2; ++c) {
            const std::int64_t room = std::min(p_.room(a) - moved_to_a[c], p_.room(b) + moved_to_a[c]);
            if (room > most_room) {
                most_room = room;
                choice = c;
            }
        }
        if (choice < 0) return kUnbalanced;
        for (std::size_t i = 0; i < region_.size(); ++i) {
            const bool to_a = choice == 0 ? near_a[i] != 0 : near_b[i] == 0;
            if (to_a != (p_.leaf(region_[i]) == a)) p_.move(region_[i], to_a ? a : b);
        }
        return before - cut;
    }

    Placement& p_;
    const FlowOptions& options_;
    std::int32_t parts_;
    std::vector<std::int32_t> local_;  // place in region_, or -1
    std::vector<Vertex> region_;
    std::vector<std::vector<Vertex>> borders_;
    FlowNetwork network_;
};

}  // namespace

std::int64_t flow_refinement(Placement& placement, const FlowOptions& options) {
    constexpr std::int32_t kMaxParts = 64;
    if (options.rounds == 0 || placement.tree.levels != 1 || placement.tree.leaves > kMaxParts) return 0;
    return FlowRefiner(placement, options).run();
}

}  // namespace zbs::multilevel
