#include "algorithms/allocation/cube.hpp"

#include <bit>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

/// The low bits of `bits` at the places that are set in `places`, in the same order.
std::uint32_t deposit(std::uint32_t bits, std::uint32_t places) {
    std::uint32_t out = 0;
    for (; places != 0; places &= places - 1, bits >>= 1)
        if ((bits & 1) != 0) out |= places & (~places + 1);
    return out;
}

constexpr std::uint32_t low_bits(int count) { return (std::uint32_t{1} << count) - 1; }

/// x and y as the high and the low stars of the host, the low ones `low` many.
Cube inside(const Cube& host, const Cube& x, const Cube& y, int low) {
    return {.star = deposit(x.star << low | y.star, host.star),
            .value = host.value | deposit(x.value << low | y.value, host.star)};
}

struct MeshBits {
    int x, y;
};
MeshBits bits_of(const Cube& host, const MeshShape& shape) {
    const MeshBits bits{ceil_log2(shape.x), ceil_log2(shape.y)};
    ZBS_EXPECTS(host.dimension() == bits.x + bits.y);
    return bits;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const MeshShape& shape) { return out << shape.x << 'x' << shape.y; }

int ceil_log2(std::int64_t value) {
    ZBS_EXPECTS(value >= 1);
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value - 1)));
}

int Cube::dimension() const { return std::popcount(star); }

std::string to_string(const Cube& cube, int dimensions) {
    std::string text;
    for (int i = dimensions - 1; i >= 0; --i)
        text += (cube.star >> i & 1) != 0 ? '*' : (cube.value >> i & 1) != 0 ? '1' : '0';
    return text;
}

std::optional<Cube> parse_cube(std::string_view text) {
    if (text.empty() || text.size() > 31) return std::nullopt;
    Cube cube;
    for (const char symbol : text) {
        if (symbol != '0' && symbol != '1' && symbol != '*') return std::nullopt;
        cube.star = cube.star << 1 | (symbol == '*' ? 1u : 0u);
        cube.value = cube.value << 1 | (symbol == '1' ? 1u : 0u);
    }
    return cube;
}

Cube whole_cube(int dimensions) {
    ZBS_EXPECTS(dimensions >= 0 && dimensions <= 30);
    return {.star = low_bits(dimensions), .value = 0};
}

std::vector<NodeIndex> nodes_of(const Cube& cube) {
    std::vector<NodeIndex> nodes;
    nodes.reserve(static_cast<std::size_t>(cube.size()));
    for (std::uint32_t part = 0;; part = (part - cube.star) & cube.star) {  // subsets of the stars, ascending
        nodes.push_back(static_cast<NodeIndex>(cube.value | part));
        if (part == cube.star) return nodes;
    }
}

CubeHalves split(const Cube& cube) {
    ZBS_EXPECTS(cube.star != 0);
    const std::uint32_t highest = std::bit_floor(cube.star);
    const Cube low{.star = cube.star & ~highest, .value = cube.value};
    return {low, {.star = low.star, .value = low.value | highest}};
}

std::optional<Cube> merged(const Cube& a, const Cube& b) {
    const std::uint32_t differ = a.value ^ b.value;
    if (a.star != b.star || !std::has_single_bit(differ)) return std::nullopt;
    return Cube{.star = a.star | differ, .value = a.value & ~differ};
}

Cube enclosing_cube(std::span<const NodeIndex> nodes) {
    ZBS_EXPECTS(!nodes.empty());
    const std::uint32_t first = static_cast<std::uint32_t>(nodes.front());
    std::uint32_t star = 0;
    for (const NodeIndex node : nodes) star |= first ^ static_cast<std::uint32_t>(node);
    return {.star = star, .value = first & ~star};
}

std::vector<Cube> gray_blocks(std::uint32_t begin, std::uint32_t end, int bits) {
    ZBS_EXPECTS(bits >= 0 && bits <= 30 && begin <= end && end <= low_bits(bits) + 1);
    std::vector<Cube> blocks;
    while (begin < end) {
        std::uint32_t size = begin == 0 ? std::bit_floor(end) : begin & (~begin + 1);
        while (size > end - begin) size >>= 1;
        blocks.push_back({.star = size - 1, .value = gray_code(begin) & ~(size - 1)});
        begin += size;
    }
    return blocks;
}

int host_dimension(const MeshShape& shape) { return ceil_log2(shape.x) + ceil_log2(shape.y); }

std::uint32_t mesh_address(const Cube& host, const MeshShape& shape, std::int32_t x, std::int32_t y) {
    const MeshBits bits = bits_of(host, shape);
    ZBS_EXPECTS(x >= 0 && x < shape.x && y >= 0 && y < shape.y);
    const std::uint32_t code =
        gray_code(static_cast<std::uint32_t>(x)) << bits.y | gray_code(static_cast<std::uint32_t>(y));
    return host.value | deposit(code, host.star);
}

std::vector<NodeIndex> mesh_nodes(const Cube& host, const MeshShape& shape) {
    std::vector<NodeIndex> nodes;
    nodes.reserve(static_cast<std::size_t>(shape.size()));
    const MeshBits bits = bits_of(host, shape);
    std::vector<std::uint32_t> column;
    for (std::uint32_t x = 0; x < static_cast<std::uint32_t>(shape.x); ++x)
        column.push_back(host.value | deposit(gray_code(x) << bits.y, host.star));
    for (std::uint32_t y = 0; y < static_cast<std::uint32_t>(shape.y); ++y) {
        const std::uint32_t row = deposit(gray_code(y), host.star);
        for (const std::uint32_t x : column) nodes.push_back(static_cast<NodeIndex>(x | row));
    }
    return nodes;
}

std::vector<Cube> mesh_cubes(const Cube& host, const MeshShape& shape) {
    const MeshBits bits = bits_of(host, shape);
    std::vector<Cube> cubes;
    for (const Cube& x : gray_blocks(0, static_cast<std::uint32_t>(shape.x), bits.x))
        for (const Cube& y : gray_blocks(0, static_cast<std::uint32_t>(shape.y), bits.y))
            cubes.push_back(inside(host, x, y, bits.y));
    return cubes;
}

std::vector<Cube> leftover_cubes(const Cube& host, const MeshShape& shape, LeftoverCut cut) {
    const MeshBits bits = bits_of(host, shape);
    const std::uint32_t x_end = static_cast<std::uint32_t>(shape.x), y_end = static_cast<std::uint32_t>(shape.y);
    const std::uint32_t x_codes = low_bits(bits.x) + 1, y_codes = low_bits(bits.y) + 1;
    const std::int64_t unused_x = std::int64_t{x_codes - x_end} * y_codes;
    const std::int64_t unused_y = std::int64_t{y_codes - y_end} * x_codes;
    const bool all_y = cut == LeftoverCut::kLargerRegion ? unused_x >= unused_y : cut == LeftoverCut::kUnusedX;
    const Cube every_x = whole_cube(bits.x), every_y = whole_cube(bits.y);
    std::vector<Cube> cubes;
    const auto add = [&](const Cube& x, const Cube& y) { cubes.push_back(inside(host, x, y, bits.y)); };
    if (all_y) {
        for (const Cube& x : gray_blocks(x_end, x_codes, bits.x)) add(x, every_y);
        for (const Cube& x : gray_blocks(0, x_end, bits.x))
            for (const Cube& y : gray_blocks(y_end, y_codes, bits.y)) add(x, y);
    } else {
        for (const Cube& y : gray_blocks(y_end, y_codes, bits.y)) add(every_x, y);
        for (const Cube& x : gray_blocks(x_end, x_codes, bits.x))
            for (const Cube& y : gray_blocks(0, y_end, bits.y)) add(x, y);
    }
    return cubes;
}

std::vector<Cube> coalesced(std::vector<Cube> cubes) {
    for (int dimension = 0; dimension < 31; ++dimension) {
        for (std::size_t i = 0; i < cubes.size(); ++i) {
            if (cubes[i].dimension() != dimension) continue;
            for (std::size_t j = i + 1; j < cubes.size(); ++j) {
                const std::optional<Cube> both = merged(cubes[i], cubes[j]);
                if (!both) continue;
                cubes[i] = *both;
                cubes.erase(cubes.begin() + static_cast<std::ptrdiff_t>(j));
                break;
            }
        }
    }
    return cubes;
}

}  // namespace zbs
