#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/model/task_graph.hpp"

namespace zbs::learning {

/// How a program lays its ranks out in a grid, for any number of them. Ranks are numbered row by row: the last
/// dimension is the fastest, as in MPI_Cart_create.
struct GridRule {
    enum class Shape {
        kBalanced,      ///< as near to a square or cube as the factors allow, the longest first: MPI_Dims_create
        kReversed,      ///< the same, the longest last
        kFixedFastest,  ///< 2-D: the last dimension is `fixed`, whatever the number of ranks
        kFixedSlowest,  ///< 2-D: the first is
    };
    int dimensions = 1;  ///< 1, 2 or 3
    Shape shape = Shape::kBalanced;
    int fixed = 0;
    bool operator==(const GridRule&) const = default;
};
std::string to_string(const GridRule& rule);

/// Lengths of the dimensions; those that a grid does not have are 1.
struct ProcessGrid {
    std::array<int, 3> length{1, 1, 1};
    int dimensions = 1;
    bool operator==(const ProcessGrid&) const = default;
};

/// The grid of so many ranks, or nothing where `fixed` does not divide them. Precondition: ranks >= 1, 1 to 3
/// dimensions, 2 where one is fixed. O(number of divisors squared).
std::optional<ProcessGrid> grid_of(const GridRule& rule, int ranks);

/// Factors of `ranks` as close to each other as possible, the largest first. The MPI standard does not say what "close"
/// is where no cube is near: the least difference between the largest and the smallest is taken, as by MPICH.
std::array<int, 3> balanced_factors(int ranks, int dimensions);

/// Who talks to whom, as a function of the number of ranks. The pairs of a pattern fall into classes; those of one
/// class carry the same volume, and classes keep their numbers from one number of ranks to another.
struct Pattern {
    enum class Kind {
        kStencil,       ///< neighbours in the grid, corners too; class: the offset
        kBinomialTree,  ///< rank r and r without its lowest bit, root 0 (Bcast, Reduce, Scatter); class: that bit
        kHypercube,     ///< r and r xor 2^k, other numbers of ranks folded as MPICH does; class: k, or kAside
        kDoubling,      ///< r and r + 2^k modulo ranks (dissemination, Bruck); class: k
        kFirstWithAll,  ///< a master on rank 0; class 0
        kLastWithAll,   ///< a master on the last rank; class 0
        kAllPairs,      ///< class 0
        kRowPairs,      ///< all pairs in each row of a 2-D grid; class 0
        kColumnPairs,   ///< all pairs in each column; class 0
        kRowHypercube,  ///< coordinates in the row that differ in bit k; class: k
        kColumnHypercube
    };
    Kind kind = Kind::kStencil;
    GridRule grid{};        ///< of the kinds that need one
    unsigned periodic = 0;  ///< stencil: bit j is set where dimension j wraps around

    bool operator==(const Pattern&) const = default;
};
/// For people: "2-D stencil (balanced)", "hypercube".
std::string to_string(const Pattern& pattern);

/// Class of ranks that stand aside of a hypercube, because they are no power of two, with those that act for them.
inline constexpr int kAside = 64;

struct PatternPair {
    TaskIndex u = 0, v = 0;  ///< u < v
    int of_class = 0;        ///< 0 .. kMaxClass
    float times = 1;         ///< how often the pair is in its class: both ways around a ring of two
    bool operator==(const PatternPair&) const = default;
};
inline constexpr int kMaxClass = 64;

/// All pairs of the pattern, by class and pair, each once a class. Nothing where the grid does not exist or the pairs
/// would be more than `most`. O(pairs log pairs). Precondition: ranks >= 1.
std::optional<std::vector<PatternPair>> pairs_of(const Pattern& pattern, int ranks, std::size_t most);

/// The logarithm of that on which the volume of a class depends by a power law: for neighbours in the grid the length
/// of the common border, as the number of ranks that share it; with a master the number of workers; for all others the
/// number of ranks.
double logarithmic_scale(const Pattern& pattern, int of_class, int ranks);

/// Whether classes are numbered by powers of two, so that their volumes may follow those.
bool has_levels(const Pattern& pattern);

/// Bit j is set where the offset of a stencil's class has a part along dimension j.
unsigned moving_dimensions(int of_class, int dimensions);

}  // namespace zbs::learning
