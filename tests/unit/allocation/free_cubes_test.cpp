#include "algorithms/allocation/free_cubes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "algorithms/base/rng.hpp"

namespace zbs {
namespace {

std::vector<Cube> single_nodes(const std::set<NodeIndex>& nodes) {
    std::vector<Cube> cubes;
    for (const NodeIndex node : nodes) cubes.push_back({.star = 0, .value = static_cast<std::uint32_t>(node)});
    return cubes;
}

/// The definition, with no thought for time: the largest free cube, then again.
std::vector<Cube> by_definition(std::set<NodeIndex> nodes, int dimensions) {
    std::vector<Cube> out;
    while (!nodes.empty()) {
        std::optional<Cube> best;
        for (std::uint32_t star = 0; star < 1u << dimensions; ++star) {
            for (std::uint32_t value = 0; value < 1u << dimensions; ++value) {
                const Cube cube{star, value};
                if ((star & value) != 0 || (best && cube.dimension() <= best->dimension())) continue;
                if (std::ranges::all_of(nodes_of(cube), [&](NodeIndex node) { return nodes.contains(node); }))
                    best = cube;
            }
        }
        out.push_back(*best);
        for (const NodeIndex node : nodes_of(*best)) nodes.erase(node);
    }
    return out;
}

TEST(CubeDecomposer, TakesTheLargestFreeCubeAgainAndAgain) {
    for (const int dimensions : {1, 3, 5, 7}) {
        CubeDecomposer decomposer(dimensions);
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            SCOPED_TRACE(testing::Message() << dimensions << " dimensions, seed " << seed);
            Rng rng(seed);
            std::set<NodeIndex> nodes;
            const double share = rng.uniform();
            for (NodeIndex node = 0; node < 1 << dimensions; ++node)
                if (rng.uniform() < share) nodes.insert(node);
            if (nodes.empty()) continue;
            ASSERT_EQ(decomposer.decompose(single_nodes(nodes)), by_definition(nodes, dimensions));
        }
    }
}

TEST(CubeDecomposer, LargeCubesWithAHole) {
    // Without one node, a 10-cube is a 9-cube, an 8-cube ... and a node.
    CubeDecomposer decomposer(10);
    std::set<NodeIndex> nodes;
    for (NodeIndex node = 0; node < 1024; ++node)
        if (node != 700) nodes.insert(node);
    const std::vector<Cube> cubes = decomposer.decompose(single_nodes(nodes));
    ASSERT_EQ(cubes.size(), 10u);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(cubes[static_cast<std::size_t>(i)].dimension(), 9 - i);
    nodes.insert(700);
    EXPECT_EQ(decomposer.decompose(single_nodes(nodes)), std::vector<Cube>{whole_cube(10)});
}

TEST(FreeCubes, SplitsAlongTheHighestStarAndTakesTheTightest) {
    FreeCubes list(4, FreeCubes::Coalescing::kComplete);
    EXPECT_EQ(to_string(*list.take(2), 4), "00**");
    EXPECT_EQ(to_string(*list.take(3), 4), "1***");
    EXPECT_EQ(to_string(*list.take(1), 4), "010*");
    EXPECT_FALSE(list.take(2));
    EXPECT_EQ(to_string(*list.take(0), 4), "0110");
}

/// Five pieces that fill a cube of three dimensions, no two of which make a pair.
TEST(FreeCubes, PairwiseMergingMissesWhatTheCompleteOneFinds) {
    std::vector<Cube> pieces;
    for (const char* text : {"00*", "*10", "1*1", "011", "100"}) pieces.push_back(*parse_cube(text));
    EXPECT_EQ(coalesced(pieces).size(), 5u);
    EXPECT_EQ(CubeDecomposer(3).decompose(pieces), std::vector<Cube>{whole_cube(3)});
}

}  // namespace
}  // namespace zbs
