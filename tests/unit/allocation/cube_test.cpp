#include "algorithms/allocation/cube.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

#include "algorithms/base/rng.hpp"

namespace zbs {
namespace {

Cube cube(std::string_view text) { return *parse_cube(text); }
std::set<NodeIndex> covered(const std::vector<Cube>& cubes) {
    std::set<NodeIndex> nodes;
    std::size_t size = 0;
    for (const Cube& part : cubes) {
        for (const NodeIndex node : nodes_of(part)) nodes.insert(node);
        size += static_cast<std::size_t>(part.size());
    }
    EXPECT_EQ(nodes.size(), size) << "cubes overlap";
    return nodes;
}

TEST(Cube, TextIsReadBack) {
    for (const char* text : {"0", "*", "10**", "*1*0*", "1111111111", "**********"})
        EXPECT_EQ(to_string(cube(text), static_cast<int>(std::string_view(text).size())), text);
    for (const char* bad : {"", "2", "1 0", "x", "********************************"}) EXPECT_FALSE(parse_cube(bad));
    EXPECT_EQ(cube("10**"), (Cube{.star = 3, .value = 8}));
}

TEST(Cube, NodesSplitMergeAndEnclose) {
    EXPECT_EQ(nodes_of(cube("1*0*")), (std::vector<NodeIndex>{8, 9, 12, 13}));
    EXPECT_EQ(split(cube("1*0*")).low, cube("100*"));
    EXPECT_EQ(split(cube("1*0*")).high, cube("110*"));
    EXPECT_EQ(merged(cube("110*"), cube("100*")), cube("1*0*"));
    EXPECT_EQ(merged(cube("110*"), cube("1*00")), std::nullopt) << "stars differ";
    EXPECT_EQ(merged(cube("110*"), cube("101*")), std::nullopt) << "two dimensions differ";
    EXPECT_EQ(merged(cube("110*"), cube("110*")), std::nullopt);
    EXPECT_EQ(enclosing_cube(std::vector<NodeIndex>{8, 13}), cube("1*0*"));
    EXPECT_TRUE(cube("1*0*").overlaps(cube("*10*")));
    EXPECT_FALSE(cube("1*0*").overlaps(cube("*11*")));
    EXPECT_TRUE(cube("1*0*").contains(cube("110*")));
    EXPECT_FALSE(cube("110*").contains(cube("1*0*")));
}

TEST(GrayCode, NeighboursDifferInOneBitAndItIsTheReflectedCode) {
    const std::uint32_t third[] = {0b000, 0b001, 0b011, 0b010, 0b110, 0b111, 0b101, 0b100};
    for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(gray_code(i), third[i]);
    for (std::uint32_t i = 1; i < 4096; ++i) EXPECT_EQ(std::popcount(gray_code(i) ^ gray_code(i - 1)), 1);
}

TEST(GrayBlocks, CoverExactlyTheIndicesForAllRanges) {
    for (int bits = 0; bits <= 5; ++bits) {
        const std::uint32_t codes = 1u << bits;
        for (std::uint32_t begin = 0; begin <= codes; ++begin) {
            for (std::uint32_t end = begin; end <= codes; ++end) {
                std::set<NodeIndex> expected;
                for (std::uint32_t i = begin; i < end; ++i) expected.insert(static_cast<NodeIndex>(gray_code(i)));
                const std::vector<Cube> blocks = gray_blocks(begin, end, bits);
                ASSERT_EQ(covered(blocks), expected) << begin << " " << end << " " << bits;
                ASSERT_LE(blocks.size(), static_cast<std::size_t>(2 * bits + 1));
            }
        }
    }
    // The source's example: 1010, 1011, 1001, 1000 are the last four of 16.
    EXPECT_EQ(gray_blocks(12, 16, 4), std::vector<Cube>{cube("10**")});
}

TEST(GrayBlocks, UnusedCodesAreAsManyCubesAsTheirNumberHasOnes) {
    for (std::uint32_t x = 1; x <= 32; ++x) {
        const int bits = ceil_log2(x);
        EXPECT_EQ(gray_blocks(x, 1u << bits, bits).size(), static_cast<std::size_t>(std::popcount((1u << bits) - x)));
        EXPECT_EQ(gray_blocks(0, x, bits).size(), static_cast<std::size_t>(std::popcount(x)));
    }
}

TEST(MeshPartition, TilesTheHostAndCoalescesBackWhicheverWayItIsCut) {
    for (std::int32_t x = 1; x <= 32; ++x) {
        for (std::int32_t y = 1; y <= 32; ++y) {
            const MeshShape shape{x, y};
            const int l = ceil_log2(x), m = ceil_log2(y);
            const Cube host = whole_cube(l + m);
            const std::vector<Cube> mesh = mesh_cubes(host, shape);
            const auto ones = [](std::int32_t value) { return std::popcount(static_cast<std::uint32_t>(value)); };
            ASSERT_EQ(static_cast<int>(mesh.size()), ones(x) * ones(y));
            std::vector<NodeIndex> nodes = mesh_nodes(host, shape);
            const std::set<NodeIndex> of_mesh(nodes.begin(), nodes.end());
            ASSERT_EQ(of_mesh.size(), static_cast<std::size_t>(shape.size()));
            ASSERT_EQ(covered(mesh), of_mesh);
            for (const LeftoverCut cut : {LeftoverCut::kUnusedX, LeftoverCut::kUnusedY, LeftoverCut::kLargerRegion}) {
                std::vector<Cube> all = leftover_cubes(host, shape, cut);
                const int unused_x = ones((1 << l) - x), unused_y = ones((1 << m) - y);
                if (cut == LeftoverCut::kUnusedX) {
                    ASSERT_EQ(static_cast<int>(all.size()), unused_x + unused_y * ones(x));
                } else if (cut == LeftoverCut::kUnusedY) {
                    ASSERT_EQ(static_cast<int>(all.size()), unused_y + unused_x * ones(y));
                }
                ASSERT_LE(all.size(), 21u);
                all.insert(all.end(), mesh.begin(), mesh.end());
                ASSERT_EQ(covered(all).size(), static_cast<std::size_t>(host.size())) << shape;
                Rng rng(static_cast<std::uint64_t>(x * 32 + y));
                for (int order = 0; order < 3; ++order) {
                    rng.shuffle(all);
                    ASSERT_EQ(coalesced(all), std::vector<Cube>{host}) << shape;
                }
            }
        }
    }
}

TEST(MeshPartition, LeftoversAreThoseOfTheLargerRegion) {
    // 20 x 30: 12 * 32 nodes have an unused x, 2 * 32 an unused y.
    EXPECT_EQ(leftover_cubes(whole_cube(10), {20, 30}),
              leftover_cubes(whole_cube(10), {20, 30}, LeftoverCut::kUnusedX));
    EXPECT_EQ(leftover_cubes(whole_cube(10), {30, 20}),
              leftover_cubes(whole_cube(10), {30, 20}, LeftoverCut::kUnusedY));
}

TEST(MeshNodes, NeighboursOfTheMeshAreNeighboursOfTheCube) {
    for (std::int32_t x = 1; x <= 20; ++x) {
        for (std::int32_t y = 1; y <= 20; ++y) {
            // A host of scattered stars: every other dimension.
            Cube host;
            for (int i = 0; i < host_dimension({x, y}); ++i) host.star |= 1u << (2 * i + 1);
            host.value = 0b101 & ~host.star;
            const std::vector<NodeIndex> nodes = mesh_nodes(host, {x, y});
            for (std::int32_t row = 0; row < y; ++row) {
                for (std::int32_t column = 0; column < x; ++column) {
                    const NodeIndex node = nodes[static_cast<std::size_t>(row * x + column)];
                    ASSERT_TRUE(host.contains(static_cast<std::uint32_t>(node)));
                    ASSERT_EQ(mesh_address(host, {x, y}, column, row), static_cast<std::uint32_t>(node));
                    const auto apart = [&](std::int32_t other) {
                        return std::popcount(static_cast<std::uint32_t>(node ^ nodes[static_cast<std::size_t>(other)]));
                    };
                    ASSERT_TRUE(column == 0 || apart(row * x + column - 1) == 1);
                    ASSERT_TRUE(row == 0 || apart((row - 1) * x + column) == 1);
                }
            }
        }
    }
}

TEST(Coalesced, TraceOfTheFiveByFiveExample) {
    std::vector<Cube> pieces = mesh_cubes(whole_cube(6), {5, 5});
    for (const Cube& leftover : leftover_cubes(whole_cube(6), {5, 5}))
        if (leftover != cube("0**10*")) pieces.push_back(leftover);
    std::vector<Cube> found = coalesced(pieces);
    std::vector<Cube> expected{cube("1*****"), cube("0**0**"), cube("0**11*")};
    std::ranges::sort(found);
    std::ranges::sort(expected);
    EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace zbs
