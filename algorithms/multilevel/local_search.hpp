#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "algorithms/multilevel/placement.hpp"

namespace zbs::multilevel {

/// Where a vertex would best go, and how much cost that saves.
struct Move {
    std::int32_t to = -1;  ///< -1: nowhere
    std::int64_t gain = std::numeric_limits<std::int64_t>::min();
};

/// Finds best moves on the true objective. Holds scratch memory, O(groups); one per thread.
class MoveFinder {
  public:
    explicit MoveFinder(const TargetTree& tree) : tree_(tree), weight_to_(static_cast<std::size_t>(tree.groups), 0) {}

    /// The best leaf among those of neighbours that has room for the vertex, `slack` above capacity allowed; of equal
    /// gains the less loaded. O(degree + leaves near x levels).
    Move best_move(const Placement& placement, Vertex v, std::int64_t slack);
    /// True when all neighbours are on the vertex's own leaf. O(degree).
    static bool is_interior(const Placement& placement, Vertex v);

  private:
    std::int64_t score(std::int32_t leaf) const;
    void gather(const Placement& placement, Vertex v);
    void clear();

    const TargetTree& tree_;
    std::vector<std::int64_t> weight_to_;  // by group
    std::vector<std::int32_t> near_;       // leaves of neighbours
    std::vector<std::int32_t> near_top_;   // their top groups, where distances differ
};

struct SearchOptions {
    int rounds = 3;             ///< at most; ends early when a round gains little
    int patience = 30;          ///< moves without a new best before a search is rolled back
    int batch = 0;              ///< boundary vertices a search starts from; 0: all of them
    std::int64_t slack = 0;     ///< how far a leaf may be over capacity within a search
    double least_gain = 0.001;  ///< of the cost, for another round
};

/// Moves that gain, vertex by vertex, until none does or `rounds` are over. Never raises the cost or the overload.
/// Returns the cost saved. O(rounds x edges x levels).
std::int64_t greedy_moves(Placement& placement, Rng& rng, int rounds);

/// Localised Fiduccia-Mattheyses searches with many targets on the true objective: each starts at one boundary vertex,
/// follows the best moves, also bad ones, and rolls back to its best point [FiducciaMattheyses1982; localised after
/// SandersSchulz2011, section 4]. Never raises the cost at equal or smaller overload. Returns the cost saved.
std::int64_t local_search(Placement& placement, Rng& rng, const SearchOptions& options);

/// Moves vertices off overloaded leaves at the least cost while any leaf has room. O(overloads x edges).
void repair_balance(Placement& placement, Rng& rng);

}  // namespace zbs::multilevel
