#pragma once
#include <cstdint>

#include "algorithms/multilevel/multilevel.hpp"
#include "algorithms/multilevel/partitioner.hpp"

namespace zbs::multilevel {

/// How a preset spends its time.
struct Recipe {
    Effort section;    ///< cutting all into zones, whose edges cost most
    Effort lower;      ///< cutting a group below
    Evolution top;     ///< of the first cut
    Evolution middle;  ///< of the cuts between
    Evolution last;    ///< of the last cut, into processors
    int islands = 1;   ///< independent populations of a cut that is alone on its level; annealings of a small graph
    Effort cycle;      ///< V-cycles on the true objective
    int cycles = 1;
    std::int64_t proposals = 0;  ///< of annealing, small graphs
};

Recipe recipe_of(Level level);
/// kFast where the graph is large: a small one is mapped thoroughly, and its result is searched on the way back.
Recipe recipe_of_large();

/// An independent stream for every `salt`.
std::uint64_t mix(std::uint64_t seed, std::uint64_t salt);

}  // namespace zbs::multilevel
