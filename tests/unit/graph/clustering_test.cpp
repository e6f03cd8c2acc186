#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "algorithms/base/rng.hpp"
#include "algorithms/graph/shortest_path_clustering.hpp"
#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

using TaskSet = std::set<TaskIndex>;

std::set<TaskSet> all_clusters(const ClusterTree& tree) {
    std::set<TaskSet> found;
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
        const auto tasks = tree.tasks(static_cast<std::int32_t>(n));
        found.insert(TaskSet(tasks.begin(), tasks.end()));
    }
    return found;
}

void expect_well_formed(const ClusterTree& tree, TaskIndex tasks) {
    ASSERT_EQ(tree.order.size(), static_cast<std::size_t>(tasks));
    EXPECT_EQ(TaskSet(tree.order.begin(), tree.order.end()).size(), static_cast<std::size_t>(tasks));
    int leaves = 0;
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
        const ClusterTree::Node& node = tree.nodes[n];
        if (node.is_leaf()) {
            ++leaves;
            EXPECT_EQ(node.size(), 1);
            continue;
        }
        EXPECT_GE(node.child_count, 2);
        std::int32_t at = node.begin;
        for (std::int32_t c = node.first_child; c < node.first_child + node.child_count; ++c) {
            EXPECT_EQ(tree.node(c).parent, static_cast<std::int32_t>(n));
            EXPECT_EQ(tree.node(c).begin, at);
            at = tree.node(c).end;
        }
        EXPECT_EQ(at, node.end);
    }
    EXPECT_EQ(leaves, tasks);
}

struct ShapeCase {
    const char* name;
    TaskGraph graph;
};
class ClusterTreeShape : public testing::TestWithParam<ShapeCase> {};

TEST_P(ClusterTreeShape, HoldsEveryTaskOnce) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE(seed);
        expect_well_formed(make_cluster_tree(GetParam().graph, {.seed = seed}), GetParam().graph.task_count());
    }
}

INSTANTIATE_TEST_SUITE_P(
    , ClusterTreeShape,
    testing::Values(ShapeCase{"SingleTask", test::isolated(1)}, ShapeCase{"TwoTasks", test::clique(2)},
                    ShapeCase{"Isolated", test::isolated(50)}, ShapeCase{"Star", test::star(40)},
                    ShapeCase{"LargeStar", test::star(1500)}, ShapeCase{"Clique", test::clique(20)},
                    ShapeCase{"LargeClique", test::clique(120)}, ShapeCase{"Grid", test::grid(12, 12)},
                    ShapeCase{"Path", test::grid(1, 300)}, ShapeCase{"Sparse", test::random_graph(80, 0.02, 3)},
                    ShapeCase{"ZeroWeights", *TaskGraph::make({0, 0, 0}, {{0, 1, 0, 0}, {1, 2, 0, 0}})},
                    ShapeCase{"HugeRange",
                              *TaskGraph::make({1, 1, 1, 1}, {{0, 1, 1e300, 1}, {1, 2, 1e-300, 1}, {2, 3, 1, 1}})}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(ClusterTree, OfAStarIsNotAsDeepAsWide) {
    // Every single leaf is a best cut; taken one at a time, 1,500 leaves would make 1,500 levels.
    const ClusterTree tree = make_cluster_tree(test::star(1500));
    std::vector<int> depth(tree.nodes.size(), 0);
    for (std::size_t n = 1; n < depth.size(); ++n) depth[n] = depth[static_cast<std::size_t>(tree.nodes[n].parent)] + 1;
    EXPECT_LT(*std::ranges::max_element(depth), 50);
}

TEST(ClusterTree, OfNoTasksIsEmpty) { EXPECT_EQ(make_cluster_tree(TaskGraph{}), ClusterTree{}); }

TEST(ClusterTree, ListsTheClustersOfANode) {
    const ClusterTree tree = make_cluster_tree(*TaskGraph::make({1, 1, 1}, {{0, 1, 9, 1}}));
    EXPECT_EQ(tree.clusters(ClusterTree::kRoot), (std::vector<std::vector<TaskIndex>>{{2}, {0, 1}}));
}

TEST(ShortestPathClustering, UnconnectedPartsSeparateFirst) {
    const TaskGraph graph = *TaskGraph::make({1, 1, 1, 1, 1}, {{0, 3, 1, 1}, {1, 4, 1e9, 1}, {0, 1, 0, 0}});
    const ClusterTree tree = make_cluster_tree(graph);
    EXPECT_EQ(tree.node(ClusterTree::kRoot).child_count, 3);
    EXPECT_TRUE(all_clusters(tree).contains(TaskSet{0, 3}));
    EXPECT_TRUE(all_clusters(tree).contains(TaskSet{1, 4}));
}

TEST(ShortestPathClustering, FindsPlantedClustersExactly) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        const auto found = all_clusters(make_cluster_tree(
            test::planted_clusters({.tasks = 32, .clusters = 4, .contrast = 20}, seed), {.seed = seed}));
        for (TaskIndex c = 0; c < 4; ++c) {
            TaskSet planted;
            for (TaskIndex t = c; t < 32; t += 4) planted.insert(t);
            EXPECT_TRUE(found.contains(planted)) << "cluster " << c;
        }
    }
}

TEST(ShortestPathClustering, FindsPlantedClustersOfEqualWeightsAboveTheFlowSize) {
    // 256 tasks in 8 clusters, only the density of ties tells them apart; coarsened before flow is injected.
    std::vector<TaskEdge> edges;
    Rng rng(5);
    for (TaskIndex u = 0; u < 256; ++u) {
        for (TaskIndex v = u + 1; v < 256; ++v) {
            if (rng.uniform() < (u / 32 == v / 32 ? 0.6 : 0.02)) edges.push_back({u, v, 1, 1});
        }
    }
    const auto found = all_clusters(make_cluster_tree(*TaskGraph::make(std::vector<double>(256, 1), edges)));
    for (TaskIndex c = 0; c < 8; ++c) {
        TaskSet planted;
        for (TaskIndex t = 32 * c; t < 32 * c + 32; ++t) planted.insert(t);
        EXPECT_TRUE(found.contains(planted)) << "cluster " << c;
    }
}

TEST(ShortestPathClustering, SameSeedSameTree) {
    const TaskGraph graph = test::random_graph(60, 0.2, 11);
    EXPECT_EQ(make_cluster_tree(graph, {.seed = 4}), make_cluster_tree(graph, {.seed = 4}));
}

TEST(ShortestPathClustering, RelabellingTasksChangesNothingButLabels) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        SCOPED_TRACE(seed);
        const int tasks = 5 + static_cast<int>(seed) * 3;
        const TaskGraph graph = test::random_graph(tasks, 0.3, seed);
        const std::vector<TaskIndex> label = test::random_permutation(tasks, seed + 1000);
        ClusterTree expected = make_cluster_tree(graph, {.seed = seed});
        for (TaskIndex& task : expected.order) task = label[static_cast<std::size_t>(task)];
        EXPECT_EQ(make_cluster_tree(test::relabel(graph, label), {.seed = seed}), expected);
    }
}

TEST(EdgeWeight, TenTimesTheMessagesCountDouble) {
    const TaskGraph graph = *TaskGraph::make({1, 1, 1}, {{0, 1, 1000, 10}, {0, 2, 1000, 1}});
    EXPECT_EQ(edge_weight(graph), (std::vector<double>{2000, 1000}));
    EXPECT_EQ(edge_weight(graph, /*weigh_messages=*/false), (std::vector<double>{1000, 1000}));
}

TEST(EdgeWeight, EmptyMessagesStillTie) {
    EXPECT_EQ(edge_weight(*TaskGraph::make({1, 1}, {{0, 1, 0, 5}})), (std::vector<double>{5}));
    EXPECT_EQ(edge_weight(*TaskGraph::make({1, 1}, {{0, 1, 7, 0}})), (std::vector<double>{7}));
}

TEST(EdgeWeight, EqualBytesInMoreMessagesClusterFirst) {
    // 0-1 and 0-2 exchange equal bytes, 0-1 in ten times the messages [Prabhakar2003, section 5.4.2].
    const TaskGraph graph = *TaskGraph::make({1, 1, 1}, {{0, 1, 1000, 10}, {0, 2, 1000, 1}});
    EXPECT_TRUE(all_clusters(make_cluster_tree(graph)).contains(TaskSet{0, 1}));
}

}  // namespace
}  // namespace zbs
