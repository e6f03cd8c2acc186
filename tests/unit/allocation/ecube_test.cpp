#include "studies/models/ecube.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

namespace zbs {
namespace {

TEST(EcubeRoute, CorrectsTheLowestDimensionFirst) {
    EXPECT_EQ(ecube_route(0b0100, 0b1010), (std::vector<NodeIndex>{0b0100, 0b0110, 0b0010, 0b1010}));
    EXPECT_EQ(ecube_route(5, 5), std::vector<NodeIndex>{5});
}

TEST(EcubeRoute, UsesAChannelJustWhereTheLemmaSays) {
    for (NodeIndex from = 0; from < 32; ++from) {
        for (NodeIndex to = 0; to < 32; ++to) {
            const std::vector<NodeIndex> route = ecube_route(from, to);
            std::set<Channel> used;
            for (std::size_t i = 1; i < route.size(); ++i) used.insert({route[i - 1], route[i]});
            for (NodeIndex at = 0; at < 32; ++at)
                for (NodeIndex bit = 1; bit < 32; bit <<= 1)
                    ASSERT_EQ(ecube_uses(from, to, {at, at ^ bit}), used.contains({at, at ^ bit}))
                        << from << " " << to << " " << at << " " << bit;
        }
    }
}

TEST(EcubeChannels, TrafficInsideASubcubeStaysThere) {
    const Cube cube = *parse_cube("1*0**1");
    const std::vector<NodeIndex> nodes = nodes_of(cube);
    const std::vector<Channel> channels = ecube_channels(nodes);
    EXPECT_EQ(channels.size(), 8u * 3u);
    for (const Channel& channel : channels) EXPECT_TRUE(cube.contains(static_cast<std::uint32_t>(channel.to)));
}

/// [Turner1995, figure 3.1]: columns are the high three bits in Gray order, the row is the lowest bit.
TEST(FindContention, FlagsTwoMeshesPackedSideBySide) {
    std::vector<std::vector<NodeIndex>> clusters(2);
    for (std::uint32_t column = 0; column < 8; ++column)
        for (NodeIndex row = 0; row < 2; ++row)
            clusters[column < 3 ? 0 : 1].push_back(static_cast<NodeIndex>(gray_code(column)) << 1 | row);
    const std::vector<Channel> first = ecube_channels(clusters[0]), second = ecube_channels(clusters[1]);
    const Channel shared{0b0110, 0b0010};
    EXPECT_TRUE(std::ranges::binary_search(first, shared));
    EXPECT_TRUE(std::ranges::binary_search(second, shared));
    EXPECT_TRUE(ecube_uses(0b0100, 0b1010, shared));
    const std::optional<Contention> found = find_contention(clusters);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first, 0u);
    EXPECT_EQ(found->second, 1u);
    clusters.pop_back();
    EXPECT_EQ(find_contention(clusters), std::nullopt);
}

std::int64_t meshes_checked = 0;

/// Theorem 1 by brute force: no message between two nodes of the mesh uses a channel inside a leftover cube.
void expect_theorem(const Cube& host, const MeshShape& shape, LeftoverCut cut) {
    const std::vector<Cube> leftovers = leftover_cubes(host, shape, cut);
    std::vector<std::int32_t> inside(1u << 14, -1);
    for (std::size_t i = 0; i < leftovers.size(); ++i)
        for (const NodeIndex node : nodes_of(leftovers[i]))
            inside[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(i);
    const std::vector<NodeIndex> mesh = mesh_nodes(host, shape);
    for (const NodeIndex from : mesh) {
        for (const NodeIndex to : mesh) {
            NodeIndex at = from;
            for (const NodeIndex next : ecube_route(from, to)) {
                const std::int32_t cube = inside[static_cast<std::size_t>(at)];
                ASSERT_FALSE(at != next && cube >= 0 && cube == inside[static_cast<std::size_t>(next)])
                    << shape << ": " << from << " -> " << to << " uses " << at << " -> " << next;
                at = next;
            }
        }
    }
    ++meshes_checked;
}

TEST(ContentionTheorem, HoldsForAllMeshesUpTo16By16InHostsUpTo7Dimensions) {
    for (std::int32_t x = 1; x <= 16; ++x) {
        for (std::int32_t y = 1; y <= 16; ++y) {
            const int k = host_dimension({x, y});
            if (k > 7) continue;
            Cube scattered{.star = 0, .value = 0b0000001};
            for (int i = 0; i < k; ++i) scattered.star |= 1u << (i < 3 ? i + 1 : 2 * i);
            for (const LeftoverCut cut : {LeftoverCut::kUnusedX, LeftoverCut::kUnusedY}) {
                expect_theorem(whole_cube(k), {x, y}, cut);
                expect_theorem(scattered, {x, y}, cut);
                if (HasFatalFailure()) return;
            }
        }
    }
    EXPECT_EQ(meshes_checked, 4 * 192);
}

/// Why no free cube may span two leftovers of a running mesh.
TEST(ContentionTheorem, DoesNotCoverChannelsBetweenTwoLeftovers) {
    const std::vector<Cube> leftovers = leftover_cubes(whole_cube(4), {2, 5});
    ASSERT_EQ(leftovers.size(), 2u);
    const std::vector<Channel> used = ecube_channels(mesh_nodes(whole_cube(4), {2, 5}));
    EXPECT_TRUE(std::ranges::binary_search(used, Channel{0b1111, 0b1101}));
    EXPECT_NE(leftovers[0].contains(0b1111u), leftovers[1].contains(0b1111u));
    EXPECT_NE(leftovers[0].contains(0b1101u), leftovers[1].contains(0b1101u));
    int meshes = 0;
    for (std::int32_t x = 1; x <= 8; ++x) {
        for (std::int32_t y = 1; y <= 8; ++y) {
            const Cube host = whole_cube(host_dimension({x, y}));
            const std::vector<Cube> left = leftover_cubes(host, {x, y});
            const auto place = [&](NodeIndex node) {
                for (std::size_t i = 0; i < left.size(); ++i)
                    if (left[i].contains(static_cast<std::uint32_t>(node))) return static_cast<int>(i);
                return -1;
            };
            bool between = false;
            for (const Channel& channel : ecube_channels(mesh_nodes(host, {x, y}))) {
                const int from = place(channel.from), to = place(channel.to);
                between |= from >= 0 && to >= 0 && from != to;
            }
            meshes += between ? 1 : 0;
        }
    }
    EXPECT_EQ(meshes, 15);
}

}  // namespace
}  // namespace zbs
