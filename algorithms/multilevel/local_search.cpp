#include "algorithms/multilevel/local_search.hpp"

#include <algorithm>

namespace zbs::multilevel {

std::int64_t MoveFinder::score(std::int32_t leaf) const {
    const std::int32_t* path = tree_.path(leaf);
    std::int64_t sum = 0;
    for (std::int32_t l = 0; l < tree_.levels; ++l)
        sum += tree_.bonus[static_cast<std::size_t>(path[l])] * weight_to_[static_cast<std::size_t>(path[l])];
    if (!tree_.top_gap.empty()) {
        const std::int32_t own = path[tree_.levels - 1] - tree_.top_begin;
        for (const std::int32_t top : near_top_)
            sum += tree_.top_gap[static_cast<std::size_t>(own) * static_cast<std::size_t>(tree_.top_count) +
                                 static_cast<std::size_t>(top - tree_.top_begin)] *
                   weight_to_[static_cast<std::size_t>(top)];
    }
    return sum;
}

void MoveFinder::gather(const Placement& placement, Vertex v) {
    for (const auto& arc : placement.graph.arcs_of(v)) {
        const std::int32_t leaf = placement.leaf(arc.head);
        std::int64_t& weight = weight_to_[static_cast<std::size_t>(leaf)];
        if (weight == 0) near_.push_back(leaf);
        weight += arc.weight;
    }
}

void MoveFinder::clear() {
    for (const std::int32_t leaf : near_) {
        const std::int32_t* path = tree_.path(leaf);
        for (std::int32_t l = 0; l < tree_.levels; ++l) weight_to_[static_cast<std::size_t>(path[l])] = 0;
    }
    near_.clear();
    near_top_.clear();
}

bool MoveFinder::is_interior(const Placement& placement, Vertex v) {
    const std::int32_t own = placement.leaf(v);
    for (const auto& arc : placement.graph.arcs_of(v))
        if (placement.leaf(arc.head) != own) return false;
    return true;
}

Move MoveFinder::best_move(const Placement& placement, Vertex v, std::int64_t slack) {
    Move best;
    gather(placement, v);
    const std::int32_t own = placement.leaf(v);
    if (near_.empty() || (near_.size() == 1 && near_[0] == own)) {
        clear();
        return best;
    }
    if (tree_.levels > 1) {
        const std::size_t leaves = near_.size();
        for (std::size_t i = 0; i < leaves; ++i) {
            const std::int32_t* path = tree_.path(near_[i]);
            const std::int64_t weight = weight_to_[static_cast<std::size_t>(near_[i])];
            for (std::int32_t l = 1; l < tree_.levels; ++l) {
                std::int64_t& sum = weight_to_[static_cast<std::size_t>(path[l])];
                if (sum == 0 && l == tree_.levels - 1 && !tree_.top_gap.empty()) near_top_.push_back(path[l]);
                sum += weight;
            }
        }
    }
    const std::int64_t weight = placement.graph.load(v);
    const std::int64_t own_score = score(own);
    std::int64_t best_room = 0;
    for (const std::int32_t leaf : near_) {
        if (leaf == own) continue;
        const std::int64_t room = placement.room(leaf) - weight;
        if (room + slack < 0) continue;
        const std::int64_t gain = score(leaf) - own_score;
        if (gain > best.gain || (gain == best.gain && room > best_room)) {
            best = {leaf, gain};
            best_room = room;
        }
    }
    clear();
    return best;
}

std::int64_t greedy_moves(Placement& placement, Rng& rng, int rounds) {
    const Vertex n = placement.graph.vertex_count();
    MoveFinder finder(placement.tree);
    std::vector<Vertex> active;
    for (Vertex v = 0; v < n; ++v)
        if (!MoveFinder::is_interior(placement, v)) active.push_back(v);
    std::vector<char> queued(static_cast<std::size_t>(n), 0);
    std::int64_t saved = 0;
    std::vector<Vertex> next;
    for (int round = 0; round < rounds && !active.empty(); ++round) {
        if (n < 100'000) rng.shuffle(active);  // in a large graph neighbours in memory are worth more than chance
        next.clear();
        for (const Vertex v : active) {
            queued[static_cast<std::size_t>(v)] = 0;
            const Move move = finder.best_move(placement, v, 0);
            if (move.to < 0 || move.gain < 0) continue;
            const std::int64_t weight = placement.graph.load(v);
            if (move.gain == 0 && placement.room(move.to) - weight <= placement.room(placement.leaf(v))) continue;
            placement.move(v, move.to);
            saved += move.gain;
            if (move.gain == 0) continue;
            for (const auto& arc : placement.graph.arcs_of(v)) {
                if (queued[static_cast<std::size_t>(arc.head)]) continue;
                queued[static_cast<std::size_t>(arc.head)] = 1;
                next.push_back(arc.head);
            }
        }
        active.swap(next);
    }
    return saved;
}

namespace {

/// Largest first; entries are not updated but outdated by their stamp.
struct Entry {
    std::int64_t gain;
    Vertex vertex;
    std::int32_t to;
    std::uint32_t stamp;
    bool operator<(const Entry& other) const { return gain < other.gain; }
};

class Searcher {
  public:
    Searcher(Placement& placement, Rng& rng, const SearchOptions& options)
        : placement_(placement),
          rng_(rng),
          options_(options),
          finder_(placement.tree),
          stamp_(placement.leaf_of.size(), 0),
          locked_(placement.leaf_of.size(), 0),
          missed_(placement.leaf_of.size(), 0) {
        // Where neighbours are many and leaves few, weights to leaves are kept instead of gathered again and again.
        const CompactGraph& graph = placement.graph;
        const std::size_t cells = stamp_.size() * static_cast<std::size_t>(placement.tree.leaves);
        if (placement.tree.levels != 1 || cells > graph.arcs.size()) return;
        table_.assign(cells, 0);
        for (Vertex v = 0; v < graph.vertex_count(); ++v)
            for (const auto& arc : graph.arcs_of(v)) weight_to(v, placement.leaf(arc.head)) += arc.weight;
    }

    std::int64_t run() {
        std::int64_t cost = -1, saved = 0;
        overload_ = placement_.overload();
        std::vector<Vertex> seeds;
        for (int round = 0; round < options_.rounds; ++round) {
            seeds.clear();
            for (Vertex v = 0; v < placement_.graph.vertex_count(); ++v)
                if (!MoveFinder::is_interior(placement_, v)) seeds.push_back(v);
            for (std::size_t i = seeds.size(); i > 1; --i)
                std::swap(seeds[i - 1], seeds[((rng_.next() >> 32) * i) >> 32]);
            round_ = static_cast<std::uint32_t>(round + 1);
            std::int64_t gained = 0;
            const std::size_t batch =
                options_.batch == 0 ? std::max<std::size_t>(1, seeds.size()) : static_cast<std::size_t>(options_.batch);
            for (std::size_t begin = 0; begin < seeds.size();) {
                std::size_t end = begin;
                heap_.clear();
                for (std::size_t taken = 0; end < seeds.size() && taken < batch; ++end) {
                    if (locked_[static_cast<std::size_t>(seeds[end])] == round_) continue;
                    evaluate(seeds[end]);
                    ++taken;
                }
                begin = end;
                std::make_heap(heap_.begin(), heap_.end());
                gained += search();
            }
            saved += gained;
            if (gained <= 0) break;
            if (cost < 0) cost = placement_.cost() + gained;
            if (static_cast<double>(gained) < options_.least_gain * static_cast<double>(cost)) break;
        }
        return saved;
    }

  private:
    static constexpr std::size_t kHub = 64;

    std::int64_t& weight_to(Vertex v, std::int32_t leaf) {
        return table_[static_cast<std::size_t>(v) * static_cast<std::size_t>(placement_.tree.leaves) +
                      static_cast<std::size_t>(leaf)];
    }

    Move best_move(Vertex v) {
        if (table_.empty()) return finder_.best_move(placement_, v, options_.slack);
        Move best;
        std::int64_t best_room = 0;
        const std::int32_t own = placement_.leaf(v);
        const std::int64_t weight = placement_.graph.load(v);
        for (std::int32_t leaf = 0; leaf < placement_.tree.leaves; ++leaf) {
            const std::int64_t towards = weight_to(v, leaf);
            if (leaf == own || towards == 0) continue;
            const std::int64_t room = placement_.room(leaf) - weight;
            if (room + options_.slack < 0) continue;
            const std::int64_t gain = towards - weight_to(v, own);
            if (gain > best.gain || (gain == best.gain && room > best_room)) {
                best = {leaf, gain};
                best_room = room;
            }
        }
        return best;
    }

    /// A neighbour of v has moved. Gathering costs a hub's degree: it is marked, and judged again when its turn comes
    /// or after a sixteenth of its neighbours moved, so that every move costs O(degree of the moved vertex).
    void update(Vertex v) {
        const std::size_t degree = placement_.graph.arcs_of(v).size();
        if (table_.empty() && degree > kHub) {
            std::uint32_t& missed = missed_[static_cast<std::size_t>(v)];
            if (++missed < degree / 16) return;
        }
        if (evaluate(v)) std::push_heap(heap_.begin(), heap_.end());
    }

    bool evaluate(Vertex v) {
        missed_[static_cast<std::size_t>(v)] = 0;
        const Move move = best_move(v);
        const std::uint32_t stamp = ++stamp_[static_cast<std::size_t>(v)];
        if (move.to < 0) return false;
        heap_.push_back({move.gain, v, move.to, stamp});
        return true;
    }

    void apply(Vertex v, std::int32_t to) {
        const std::int32_t from = placement_.leaf(v);
        overload_ -= over(from) + over(to);
        placement_.move(v, to);
        overload_ += over(from) + over(to);
        if (table_.empty()) return;
        for (const auto& arc : placement_.graph.arcs_of(v)) {
            weight_to(arc.head, from) -= arc.weight;
            weight_to(arc.head, to) += arc.weight;
        }
    }
    std::int64_t over(std::int32_t leaf) const { return std::max<std::int64_t>(0, -placement_.room(leaf)); }

    /// From the moves in the heap on.
    std::int64_t search() {
        moves_.clear();
        const std::int64_t allowed = overload_;
        std::int64_t gain = 0, best_gain = 0;
        std::size_t best = 0;
        std::int64_t best_overload = overload_;
        int idle = 0;
        while (!heap_.empty() && idle < options_.patience) {
            const Entry entry = heap_.front();
            std::pop_heap(heap_.begin(), heap_.end());
            heap_.pop_back();
            const Vertex v = entry.vertex;
            if (entry.stamp != stamp_[static_cast<std::size_t>(v)]) continue;
            if (missed_[static_cast<std::size_t>(v)] > 0 ||
                placement_.room(entry.to) + options_.slack < placement_.graph.load(v)) {
                if (evaluate(v)) std::push_heap(heap_.begin(), heap_.end());
                continue;
            }
            moves_.push_back({v, placement_.leaf(v)});
            locked_[static_cast<std::size_t>(v)] = round_;
            ++stamp_[static_cast<std::size_t>(v)];
            apply(v, entry.to);
            gain += entry.gain;
            ++idle;
            if (overload_ <= allowed && (gain > best_gain || (gain == best_gain && overload_ < best_overload))) {
                best_gain = gain;
                best = moves_.size();
                best_overload = overload_;
                idle = 0;
            }
            for (const auto& arc : placement_.graph.arcs_of(v)) {
                if (locked_[static_cast<std::size_t>(arc.head)] != round_) update(arc.head);
            }
        }
        for (std::size_t i = moves_.size(); i-- > best;) {
            apply(moves_[i].vertex, moves_[i].from);
            // Rolled back: free for a later search of the round.
            locked_[static_cast<std::size_t>(moves_[i].vertex)] = 0;
        }
        return best_gain;
    }

    struct Step {
        Vertex vertex;
        std::int32_t from;
    };
    Placement& placement_;
    Rng& rng_;
    const SearchOptions& options_;
    MoveFinder finder_;
    std::vector<std::uint32_t> stamp_;
    std::vector<std::uint32_t> locked_;
    std::vector<std::uint32_t> missed_;  // moves of neighbours since the last judgement, hubs only
    std::uint32_t round_ = 0;
    std::int64_t overload_ = 0;
    std::vector<std::int64_t> table_;  // vertex x leaf: weight to neighbours there; empty where it is gathered
    std::vector<Entry> heap_;
    std::vector<Step> moves_;
};

}  // namespace

std::int64_t local_search(Placement& placement, Rng& rng, const SearchOptions& options) {
    return Searcher(placement, rng, options).run();
}

void repair_balance(Placement& placement, Rng& rng) {
    const TargetTree& tree = placement.tree;
    const CompactGraph& graph = placement.graph;
    if (placement.overload() == 0) return;
    MoveFinder finder(tree);
    std::vector<std::vector<Vertex>> members(static_cast<std::size_t>(tree.leaves));
    for (Vertex v = 0; v < graph.vertex_count(); ++v) {
        if (placement.room(placement.leaf(v)) < 0) members[static_cast<std::size_t>(placement.leaf(v))].push_back(v);
    }
    struct Candidate {
        double loss;  // per unit of load
        Vertex vertex;
    };
    const auto nearest_room = [&](std::int32_t from, std::int64_t weight) {
        std::int32_t found = -1;
        std::int64_t best = 0, best_room = 0;
        for (std::int32_t leaf = 0; leaf < tree.leaves; ++leaf) {
            if (leaf == from || placement.room(leaf) < weight) continue;
            const std::int64_t distance = tree.distance(from, leaf);
            if (found < 0 || distance < best || (distance == best && placement.room(leaf) > best_room)) {
                found = leaf;
                best = distance;
                best_room = placement.room(leaf);
            }
        }
        return found;
    };
    for (std::int32_t leaf = 0; leaf < tree.leaves; ++leaf) {
        std::vector<Vertex>& here = members[static_cast<std::size_t>(leaf)];
        rng.shuffle(here);
        for (int round = 0; round < 4 && placement.room(leaf) < 0; ++round) {
            std::vector<Candidate> candidates;
            for (const Vertex v : here) {
                if (placement.leaf(v) != leaf || graph.load(v) == 0) continue;
                const Move move = finder.best_move(placement, v, 0);
                const double gain = move.to >= 0 ? static_cast<double>(move.gain) : -1e18;
                candidates.push_back({-gain / static_cast<double>(graph.load(v)), v});
            }
            std::ranges::stable_sort(candidates, {}, &Candidate::loss);
            bool moved = false;
            for (const Candidate& candidate : candidates) {
                if (placement.room(leaf) >= 0) break;
                const Move move = finder.best_move(placement, candidate.vertex, 0);
                const std::int32_t to = move.to >= 0 ? move.to : nearest_room(leaf, graph.load(candidate.vertex));
                if (to < 0) continue;
                placement.move(candidate.vertex, to);
                moved = true;
            }
            if (!moved) break;
        }
    }
}

}  // namespace zbs::multilevel
