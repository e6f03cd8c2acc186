#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/allocation/cube.hpp"

namespace zbs {

/// Cuts any set of nodes of a hypercube into subcubes, a largest one first, again and again: among equals the one with
/// the smallest stars, then the smallest value. So a set that holds a k-cube yields a cube of at least k dimensions,
/// whatever pieces it was put together from.
///
/// Which k-cubes are inside follows from the (k-1)-cubes, for 64 positions at a time: O(4^n / 64) time in the worst
/// case, less where few large cubes are free, and as many words of memory, which are kept.
class CubeDecomposer {
  public:
    static constexpr int kMaxDimensions = 14;
    /// Precondition: 0 <= dimensions <= kMaxDimensions.
    explicit CubeDecomposer(int dimensions);

    /// Precondition: the cubes are disjoint.
    std::vector<Cube> decompose(std::span<const Cube> cubes);

  private:
    std::uint64_t* positions(std::uint32_t star) { return positions_.data() + star * words_; }
    void mark(const Cube& cube, bool remaining);
    bool all_remain(const Cube& cube) const;

    int dimensions_;
    std::size_t words_;
    std::vector<std::uint32_t> stars_by_size_;  ///< all star sets, the largest first
    std::vector<std::uint64_t> positions_;      ///< for each star set: the values of free cubes, as bits
    std::vector<std::uint8_t> any_;             ///< for each star set: whether there is one
    std::vector<std::uint64_t> remaining_;      ///< nodes
};

/// The free list FL of a hypercube [KimDasLin1991; Turner1995, section 2.5]: disjoint free subcubes by dimension.
class FreeCubes {
  public:
    /// How cubes that come back become large ones again.
    enum class Coalescing : std::uint8_t {
        kComplete,  ///< the free nodes are cut anew: no large cube stays unseen
        kPairwise,  ///< pairs are merged while there are any: loses large cubes for good, kept to show it
    };
    FreeCubes(int dimensions, Coalescing coalescing);

    /// A free cube of `dimension`, cut from the smallest that is large enough along its highest stars; the last one
    /// that came into a list goes first. Nothing where there is none. O(dimensions).
    std::optional<Cube> take(int dimension);
    /// Puts cubes back. Precondition: disjoint from each other and from all free ones.
    void put(std::span<const Cube> cubes);

    /// By dimension.
    const std::vector<std::vector<Cube>>& lists() const { return lists_; }
    int dimensions() const { return static_cast<int>(lists_.size()) - 1; }

  private:
    Coalescing coalescing_;
    std::vector<std::vector<Cube>> lists_;
    CubeDecomposer decomposer_;
};

}  // namespace zbs
