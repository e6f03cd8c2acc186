#pragma once
#include <array>
#include <optional>
#include <string>

#include "algorithms/base/expects.hpp"

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

}  // namespace zbs::learning
