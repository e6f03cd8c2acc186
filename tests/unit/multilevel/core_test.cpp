#include <gtest/gtest.h>

#include <numeric>

#include "algorithms/multilevel/coarsening.hpp"
#include "algorithms/multilevel/compact_graph.hpp"
#include "algorithms/multilevel/placement.hpp"
#include "algorithms/multilevel/target_tree.hpp"
#include "tests/unit/multilevel/graphs.hpp"

namespace zbs::multilevel {
namespace {

using testing::graph_of;
using testing::random_graph;

TEST(CompactGraph, ContractionAddsWeightsAndDropsInnerEdges) {
    const CompactGraph square = graph_of(4, {{0, 1, 5}, {1, 2, 3}, {2, 3, 7}, {0, 3, 2}}, {1, 2, 3, 4});
    const CompactGraph two = contract(square, std::vector<Vertex>{0, 0, 1, 1}, 2);
    ASSERT_EQ(two.vertex_count(), 2);
    EXPECT_EQ(two.weight, (std::vector<std::int64_t>{3, 7}));
    ASSERT_EQ(two.arcs_of(0).size(), 1U);
    EXPECT_EQ(two.arcs_of(0)[0].weight, 5);
    EXPECT_EQ(two.total, 10);
    EXPECT_EQ(two.heaviest, 7);
}

TEST(CompactGraph, SplitKeepsInnerEdgesOnly) {
    const CompactGraph path = graph_of(4, {{0, 1, 5}, {1, 2, 3}, {2, 3, 7}});
    std::vector<Vertex> local;
    const std::vector<CompactGraph> halves = split(path, std::vector<std::int32_t>{0, 0, 1, 1}, 2, local);
    EXPECT_EQ(local, (std::vector<Vertex>{0, 1, 0, 1}));
    ASSERT_EQ(halves[1].arcs.size(), 2U);
    EXPECT_EQ(halves[1].arcs[0].weight, 7);
}

TEST(TargetTree, DistancesAreThoseOfTheProcessorTree) {
    const ProcessorTree processors = *ProcessorTree::uniform(std::vector{2, 3, 2}, std::vector<double>{1, 10, 100});
    const TargetTree tree = make_target_tree(processors, std::vector<std::int64_t>(12, 1));
    for (std::int32_t a = 0; a < 12; ++a)
        for (std::int32_t b = 0; b < 12; ++b)
            EXPECT_EQ(static_cast<double>(tree.distance(a, b)), processors.distance(a, b)) << a << " " << b;
}

TEST(TargetTree, PairsOfZonesMayDiffer) {
    const auto zone = [](const char* name, int machines) {
        Zone made{.name = name};
        for (int m = 0; m < machines; ++m) made.machines.push_back({.name = "m" + std::to_string(m), .processors = 2});
        return made;
    };
    const ResourceGraph zones = *ResourceGraph::make({zone("a", 2), zone("b", 1), zone("c", 3)},
                                                     {{0, 1, {0.001, 1e8}}, {0, 2, {0.03, 1e7}}, {1, 2, {0.2, 1e6}}});
    const ProcessorTree processors = ProcessorTree::of(zones, 1000);
    const TargetTree tree = make_target_tree(processors, std::vector<std::int64_t>(12, 1));
    // Scaled to integers, so relative to the largest.
    const double scale = static_cast<double>(tree.distance(4, 11)) / processors.distance(4, 11);
    for (std::int32_t a = 0; a < 12; ++a)
        for (std::int32_t b = 0; b < 12; ++b)
            EXPECT_NEAR(static_cast<double>(tree.distance(a, b)), scale * processors.distance(a, b), 2.0);
}

TEST(Coarsening, KeepsLabelsApartAndClustersLight) {
    Rng rng(3);
    const CompactGraph graph = random_graph(300, 900, rng);
    std::vector<std::int32_t> label(300);
    for (std::size_t v = 0; v < label.size(); ++v) label[v] = static_cast<std::int32_t>(v % 3);
    for (const bool pairs : {false, true}) {
        Vertex clusters = 0;
        const std::vector<Vertex> cluster = find_clusters(graph, label, rng, {.heaviest = 9, .pairs = pairs}, clusters);
        EXPECT_LT(clusters, 300);
        std::vector<std::int64_t> load(static_cast<std::size_t>(clusters), 0);
        std::vector<std::int32_t> seen(static_cast<std::size_t>(clusters), -1);
        std::vector<int> members(static_cast<std::size_t>(clusters), 0);
        for (std::size_t v = 0; v < cluster.size(); ++v) {
            const auto c = static_cast<std::size_t>(cluster[v]);
            load[c] += graph.weight[v];
            ++members[c];
            EXPECT_TRUE(seen[c] < 0 || seen[c] == label[v]);
            seen[c] = label[v];
        }
        for (std::size_t c = 0; c < load.size(); ++c) {
            EXPECT_LE(load[c], 9);
            EXPECT_GE(members[c], 1);
            if (pairs) {
                EXPECT_LE(members[c], 2);
            }
        }
    }
}

}  // namespace
}  // namespace zbs::multilevel
