#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "algorithms/multilevel/compact_graph.hpp"
#include "algorithms/multilevel/flow_refinement.hpp"
#include "algorithms/multilevel/local_search.hpp"
#include "algorithms/multilevel/target_tree.hpp"

namespace zbs::multilevel {

/// How much work a multilevel run does.
struct Effort {
    bool pairs = true;      ///< coarsen by matchings, else by clusters
    int restarts = 2;       ///< recursive bisections of the coarsest level, the best is taken up
    int tries = 4;          ///< starts of each bisection
    int coarsest = 40;      ///< vertices per leaf where coarsening stops
    Vertex large = 40'000;  ///< graphs above it are coarsened to it before starts are multiplied
    SearchOptions search;   ///< at every level
    FlowOptions flow{.rounds = 0};
    const std::function<bool()>* out_of_time = nullptr;  ///< no more starts or generations once it says so; not owned

    bool is_over() const { return out_of_time != nullptr && *out_of_time && (*out_of_time)(); }
    bool greedy_only = false;  ///< on the way up: greedy moves alone
};

/// A hierarchy of graphs, finest first; `cluster[i]` takes vertices of graph i to those of graph i + 1. Graph 0 is the
/// caller's.
struct GraphLevels {
    const CompactGraph* finest = nullptr;
    std::vector<CompactGraph> coarse;
    std::vector<std::vector<Vertex>> cluster;
    const CompactGraph& at(std::size_t level) const { return level == 0 ? *finest : coarse[level - 1]; }
    const CompactGraph& coarsest() const { return at(coarse.size()); }
};

/// Coarsens until `vertices` are left or the graph shrinks no more. With labels, never over their borders; they are
/// carried along and come back for the coarsest level.
GraphLevels coarsen(const CompactGraph& graph, std::vector<std::int32_t>& label, std::int64_t vertices,
                    std::int64_t heaviest, bool pairs, Rng& rng);

/// Coarsens a graph that is too large for many starts; levels are empty where it is not.
GraphLevels coarsen_large(const CompactGraph& graph, const Effort& effort, Rng& rng);

/// Takes `leaf_of`, of the coarsest level, up to the finest, searching on the objective of `tree` at every level.
void search_up(const GraphLevels& levels, const TargetTree& tree, std::vector<std::int32_t>& leaf_of, Rng& rng,
               const Effort& effort);

/// Partitions for the edge cut into capacity.size() parts of at most these loads: multilevel, with recursive bisection
/// at the coarsest level and direct k-way searches on the way up. O(edges log vertices) or so.
std::vector<std::int32_t> partition(const CompactGraph& graph, const std::vector<std::int64_t>& capacity, Rng& rng,
                                    const Effort& effort);

/// One V-cycle: coarsens within the leaves of `leaf_of` (and, where given, within the parts of `other`), and searches
/// on the objective of `tree` at every level on the way back. Never worse.
void v_cycle(const CompactGraph& graph, const TargetTree& tree, std::vector<std::int32_t>& leaf_of,
             std::span<const std::int32_t> other, Rng& rng, const Effort& effort);

struct Evolution {
    int population = 1;   ///< independent starts
    int generations = 0;  ///< combinations of two, or V-cycles of one, each replacing the worst where it is better
};

/// Partitions by starts that are then combined: a child is coarsened only where both parents agree, so it inherits
/// their common borders and searches among the others [after SandersSchulz2012].
std::vector<std::int32_t> evolve(const CompactGraph& graph, const std::vector<std::int64_t>& capacity, Rng& rng,
                                 const Effort& effort, const Evolution& evolution,
                                 std::vector<std::vector<std::int32_t>> given);

}  // namespace zbs::multilevel
