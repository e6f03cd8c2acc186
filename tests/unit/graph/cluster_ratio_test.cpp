#include "algorithms/graph/cluster_ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/graph/coarsening.hpp"
#include "algorithms/graph/flow_injection.hpp"

namespace zbs {
namespace {

struct Edge {
    std::int32_t u;
    std::int32_t v;
    double weight;
};
WeightedGraph make_graph(int vertices, const std::vector<Edge>& edges) {
    WeightedGraph graph;
    graph.size.assign(static_cast<std::size_t>(vertices), 1);
    for (std::int32_t v = 0; v < vertices; ++v) {
        for (std::int32_t other = 0; other < vertices; ++other) {
            for (const Edge& edge : edges) {
                if ((edge.u == v && edge.v == other) || (edge.v == v && edge.u == other))
                    graph.arcs.push_back({other, edge.weight});
            }
        }
        graph.offsets.push_back(graph.arcs.size());
    }
    return graph;
}
/// Two triangles of weight 4 joined by one edge of weight 1.
WeightedGraph two_triangles() {
    return make_graph(6, {{0, 1, 4}, {1, 2, 4}, {0, 2, 4}, {3, 4, 4}, {4, 5, 4}, {3, 5, 4}, {2, 3, 1}});
}

TEST(ClusterRatio, IsCutOverSeparatedPairs) {
    EXPECT_DOUBLE_EQ(cluster_ratio(two_triangles(), {{0, 0, 0, 1, 1, 1}, 2}), 1.0 / 9);
    EXPECT_DOUBLE_EQ(cluster_ratio(two_triangles(), {{0, 1, 2, 3, 4, 5}, 6}), 25.0 / 15);
    EXPECT_TRUE(std::isinf(cluster_ratio(two_triangles(), {{0, 0, 0, 0, 0, 0}, 1})));
}

TEST(ClusterRatio, IsTheSameForEveryPartitionOfAGraphWithoutStructure) {
    const WeightedGraph clique = make_graph(4, {{0, 1, 3}, {0, 2, 3}, {0, 3, 3}, {1, 2, 3}, {1, 3, 3}, {2, 3, 3}});
    EXPECT_DOUBLE_EQ(cluster_ratio(clique, {{0, 1, 1, 1}, 2}), 3);
    EXPECT_DOUBLE_EQ(cluster_ratio(clique, {{0, 0, 1, 1}, 2}), 3);
    EXPECT_DOUBLE_EQ(cluster_ratio(clique, {{0, 1, 2, 3}, 4}), 3);
}

TEST(ClusterRatio, CountsTheTasksBehindAVertex) {
    WeightedGraph pair = make_graph(2, {{0, 1, 6}});
    pair.size = {2, 3};
    EXPECT_DOUBLE_EQ(cluster_ratio(pair, {{0, 1}, 2}), 1);
}

TEST(Refine, GivesAStrayVertexBack) {
    Partition stray{{0, 0, 1, 1, 1, 1}, 2};
    refine(two_triangles(), stray);
    EXPECT_EQ(stray, (Partition{{0, 0, 0, 1, 1, 1}, 2}));
}

TEST(Refine, NeverEndsInOneCluster) {
    Partition halves{{0, 1}, 2};
    refine(make_graph(2, {{0, 1, 5}}), halves);
    EXPECT_EQ(halves.count, 2);
}

TEST(SplitByFlow, SaturatesTheBridgeForAnyAlphaAndPortion) {
    for (const double alpha : {0.1, 1.0, 10.0, 100.0}) {
        for (const double injection : {0.01, 0.1, 0.3}) {
            SCOPED_TRACE(testing::Message() << "alpha " << alpha << " injection " << injection);
            Rng rng(7);
            Partition found = split_by_flow(two_triangles(), {.alpha = alpha, .injection = injection}, rng);
            compact(found);
            EXPECT_EQ(found, (Partition{{0, 0, 0, 1, 1, 1}, 2}));
        }
    }
}

TEST(SplitByFlow, DrawsNoMoreWhereNoWorkIsLeft) {
    std::vector<Edge> pairs;
    for (std::int32_t a = 0; a < 40; ++a)
        for (std::int32_t b = a + 1; b < 40; ++b) pairs.push_back({a, b, 1});
    const WeightedGraph clique = make_graph(40, pairs);
    const std::int64_t first_cut = 40 * static_cast<std::int64_t>(clique.arcs.size());  // of a spanning tree
    for (const std::int64_t given : {0, 100'000}) {
        Rng rng(7);
        std::int64_t work = given;
        EXPECT_GE(split_by_flow(clique, {.work = &work}, rng).count, 2);
        EXPECT_LE(given - work - first_cut, given + 2 * static_cast<std::int64_t>(clique.arcs.size()));
    }
}

TEST(Coarsen, HalvesAStarAndKeepsEveryTask) {
    std::vector<Edge> spokes;
    for (std::int32_t leaf = 1; leaf < 400; ++leaf) spokes.push_back({0, leaf, 1});
    const WeightedGraph star = make_graph(400, spokes);
    Rng rng(1);
    const std::vector<CoarseLevel> levels = coarsen(star, {}, rng);
    ASSERT_FALSE(levels.empty());
    EXPECT_LE(levels.back().graph.vertex_count(), 256);
    for (const CoarseLevel& level : levels) EXPECT_EQ(level.graph.total_size(), 400);
}

}  // namespace
}  // namespace zbs
