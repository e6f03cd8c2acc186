#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zbs {

/// A processor of a machine, 0 .. capacity - 1. In a hypercube, its address.
using NodeIndex = std::int32_t;

/// Sides of a two-dimensional mesh of processors.
struct MeshShape {
    std::int32_t x = 1;  ///< >= 1
    std::int32_t y = 1;  ///< >= 1
    std::int64_t size() const { return std::int64_t{x} * y; }
    bool operator==(const MeshShape&) const = default;
};
std::ostream& operator<<(std::ostream& out, const MeshShape& shape);  ///< "4x6"

/// The least e with 2^e >= value; value >= 1.
int ceil_log2(std::int64_t value);
/// Codeword `index` of the binary reflected Gray code [Turner1995, chapter 3].
constexpr std::uint32_t gray_code(std::uint32_t index) { return index ^ (index >> 1); }

/// A subcube of a hypercube: nodes that agree with `value` in all dimensions but those of `star`.
/// Invariant: value & star == 0.
struct Cube {
    std::uint32_t star = 0;
    std::uint32_t value = 0;

    int dimension() const;
    std::int64_t size() const { return std::int64_t{1} << dimension(); }
    bool contains(std::uint32_t node) const { return (node & ~star) == value; }
    bool contains(const Cube& other) const { return (other.star & ~star) == 0 && contains(other.value); }
    bool overlaps(const Cube& other) const { return ((value ^ other.value) & ~(star | other.star)) == 0; }
    auto operator<=>(const Cube&) const = default;
};
/// One symbol of 0, 1, * a dimension, the highest first. Precondition: the cube lies inside 2^dimensions nodes.
std::string to_string(const Cube& cube, int dimensions);
/// Reads what to_string writes, 1 to 31 symbols; nothing where another symbol is found.
std::optional<Cube> parse_cube(std::string_view text);
/// The whole machine of 2^dimensions nodes, 0 <= dimensions <= 30.
Cube whole_cube(int dimensions);
/// The nodes in the order of their addresses.
std::vector<NodeIndex> nodes_of(const Cube& cube);

/// The two halves along the highest star, the one with a 0 there first. Precondition: dimension > 0.
struct CubeHalves {
    Cube low, high;
};
CubeHalves split(const Cube& cube);
/// The cube made of two, where they have the same stars and differ in one other dimension; else nothing.
std::optional<Cube> merged(const Cube& a, const Cube& b);
/// The smallest cube around the nodes. Precondition: there are some.
Cube enclosing_cube(std::span<const NodeIndex> nodes);

/// The codewords of indices [begin, end) of the Gray code of `bits` bits as disjoint cubes, in the order of the
/// indices: aligned blocks of 2^i indices are cubes [Turner1995, lemma 2]. At most 2 * bits cubes, O(bits).
std::vector<Cube> gray_blocks(std::uint32_t begin, std::uint32_t end, int bits);

/// The dimension of the cube that an X x Y mesh is embedded in with dilation 1: ceil(log2 X) + ceil(log2 Y).
int host_dimension(const MeshShape& shape);
/// Address of mesh node (x, y) in `host`: Gray code of x in the high stars, of y in the low ones. Precondition: the
/// host has the mesh's host dimension.
std::uint32_t mesh_address(const Cube& host, const MeshShape& shape, std::int32_t x, std::int32_t y);
/// All of them, (x, y) at place y * X + x.
std::vector<NodeIndex> mesh_nodes(const Cube& host, const MeshShape& shape);

/// The mesh itself as subcubes of its host: popcount(X) * popcount(Y) of them [Turner1995, figure 3.7]. O(k^2).
std::vector<Cube> mesh_cubes(const Cube& host, const MeshShape& shape);
/// Which of the two unused regions has what belongs to both: unused codes of X with unused codes of Y.
enum class LeftoverCut : std::uint8_t {
    kLargerRegion,  ///< the larger one; where equal, that of X
    kUnusedX,
    kUnusedY,
};
/// What an X x Y mesh leaves of its host cube, as subcubes that share no channel with it under E-cube routing
/// [Turner1995, figure 3.2 and theorem 1]. O(k^2) for a host of dimension k.
std::vector<Cube> leftover_cubes(const Cube& host, const MeshShape& shape,
                                 LeftoverCut cut = LeftoverCut::kLargerRegion);

/// Merges pairs of equal dimension, the small ones first, until no pair is left [Turner1995, figure 3.8]. Puts a mesh
/// and all its leftovers together again, but not the pieces of any history: for that see FreeCubes. O(cubes^2) for each
/// dimension.
std::vector<Cube> coalesced(std::vector<Cube> cubes);

}  // namespace zbs
