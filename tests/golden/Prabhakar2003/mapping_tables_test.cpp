#include <gtest/gtest.h>

#include <set>
#include <string>

#include "algorithms/graph/shortest_path_clustering.hpp"
#include "algorithms/mapping/global_mapper.hpp"
#include "algorithms/mapping/hier_mapper.hpp"
#include "tests/support/graphs.hpp"
#include "tests/support/source_folder.hpp"

namespace zbs {
namespace {

using TaskSet = std::set<TaskIndex>;

std::vector<std::vector<double>> table(const std::string& name) {
    return test::read_table(zbs::test::source_folder() + "/tests/golden/Prabhakar2003/" + name);
}

TaskGraph graph_of(const std::vector<std::vector<double>>& sent) {
    std::vector<TaskEdge> edges;
    for (std::size_t u = 0; u < sent.size(); ++u) {
        for (std::size_t v = u + 1; v < sent.size(); ++v) {
            const double bytes = sent[u][v] + sent[v][u];
            if (bytes > 0) edges.push_back({static_cast<TaskIndex>(u), static_cast<TaskIndex>(v), bytes, 0});
        }
    }
    return *TaskGraph::make(std::vector<double>(sent.size(), 1), edges);
}

std::set<TaskSet> children_of(const ClusterTree& tree, std::int32_t node) {
    std::set<TaskSet> sets;
    for (const auto& cluster : tree.clusters(node)) sets.insert(TaskSet(cluster.begin(), cluster.end()));
    return sets;
}
bool has_cluster(const ClusterTree& tree, const TaskSet& wanted) {
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
        const auto tasks = tree.tasks(static_cast<std::int32_t>(n));
        if (TaskSet(tasks.begin(), tasks.end()) == wanted) return true;
    }
    return false;
}

TEST(Table53, ThreeLevelsAreFoundExactly) {
    const auto sent = table("table_5_3.csv");
    ASSERT_EQ(sent.size(), 8U);
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        SCOPED_TRACE(seed);
        const ClusterTree tree = make_cluster_tree(graph_of(sent), {.seed = seed});
        EXPECT_EQ(children_of(tree, ClusterTree::kRoot), (std::set<TaskSet>{{0, 1, 2, 3}, {4, 5, 6, 7}}));
        std::set<TaskSet> pairs = children_of(tree, tree.node(ClusterTree::kRoot).first_child);
        pairs.merge(children_of(tree, tree.node(ClusterTree::kRoot).first_child + 1));
        EXPECT_EQ(pairs, (std::set<TaskSet>{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
    }
}

TEST(Table51, TeamsAreFound) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        SCOPED_TRACE(seed);
        const ClusterTree transport = make_cluster_tree(graph_of(table("table_5_1_transport.csv")), {.seed = seed});
        EXPECT_TRUE(has_cluster(transport, {1, 3}));
        EXPECT_TRUE(has_cluster(transport, {2, 4}));
        const ClusterTree synthetic = make_cluster_tree(graph_of(table("table_5_1_synthetic.csv")), {.seed = seed});
        EXPECT_TRUE(has_cluster(synthetic, {1, 2}));
        EXPECT_TRUE(has_cluster(synthetic, {3, 4}));
    }
}

/// The kernel of Figure 5.1: 10 external cycles of 1000 bytes from the master to each team's leader, and 1000 internal
/// cycles in each, in which both of a team send 1000 bytes to each other.
TaskGraph kernel(double compute) {
    return *TaskGraph::make(std::vector<double>(5, compute),
                            {{0, 1, 1e4, 10}, {0, 3, 1e4, 10}, {1, 2, 2e7, 20'000}, {3, 4, 2e7, 20'000}});
}
constexpr double kWithinDelay = 5e-5;
/// Long against any link: the regime in which only the number of tasks counts for GLOBAL.
constexpr double kLongCompute = 1e-2;

std::vector<double> tasks_by_processor(const Mapping& mapping, ProcessorIndex processors) {
    std::vector<double> task_on(static_cast<std::size_t>(processors), -1);
    for (std::size_t t = 0; t < mapping.processor_of.size(); ++t)
        task_on[static_cast<std::size_t>(mapping.processor_of[t])] = static_cast<double>(t);
    return task_on;
}
std::vector<double> column(const std::string& name, std::size_t index) {
    std::vector<double> values;
    for (const auto& row : table(name)) values.push_back(row.at(index));
    return values;
}

class Table52 : public testing::TestWithParam<double> {
  protected:
    ResourceGraph zones(const std::vector<int>& processors) const {
        return test::flat_zones(processors, {kWithinDelay * GetParam(), 1e9}, {kWithinDelay, 1e9});
    }
};
INSTANTIATE_TEST_SUITE_P(InterToIntraZoneDelay, Table52, testing::Values(4.0, 10.0, 100.0));

TEST_P(Table52, OursAreAsPublished) {
    EXPECT_EQ(column("table_5_2.csv", 1), column("table_5_2.csv", 3));
    EXPECT_EQ(column("table_5_2.csv", 4), column("table_5_2.csv", 5));
}

TEST_P(Table52, GlobalSplitsATeamOverTheZones) {
    const TaskGraph graph = kernel(kLongCompute);
    const ResourceGraph resources = zones({4, 2});
    const ClusterTree tree = make_cluster_tree(graph);
    const TaskGraph ordered = subgraph(graph, tree.order);
    OccupancyState walk(ordered, resources, communication_steps(ordered));
    map_in_order(walk, {});
    Mapping before{std::vector<ProcessorIndex>(5)};
    for (std::size_t i = 0; i < 5; ++i)
        before.processor_of[static_cast<std::size_t>(tree.order[i])] = walk.processor_of(static_cast<TaskIndex>(i));
    EXPECT_EQ(tasks_by_processor(before, 6), column("table_5_2.csv", 2));
    EXPECT_EQ(tasks_by_processor(GlobalMapper{}.map(graph, resources, {}).value(), 6), column("table_5_2.csv", 3));
}

TEST_P(Table52, HierKeepsTeamsWhole) {
    EXPECT_EQ(tasks_by_processor(HierMapper{}.map(kernel(kLongCompute), zones({4, 2}), {}).value(), 6),
              column("table_5_2.csv", 5));
}

TEST_P(Table52, HierKeepsTeamsWholeInEveryRegimeAndZoneShape) {
    for (const double compute : {1e-6, 1e-4, 1e-2}) {
        for (const auto& shape : {std::vector<int>{3, 3}, std::vector<int>{4, 2}, std::vector<int>{2, 4}}) {
            const TaskGraph graph = kernel(compute);
            const ResourceGraph resources = zones(shape);
            const double bytes =
                evaluate(graph, resources, HierMapper{}.map(graph, resources, {}).value()).inter_zone_bytes;
            EXPECT_LE(bytes, 1e4) << "compute " << compute << " zones " << shape[0] << '+' << shape[1];
        }
    }
}

TEST_P(Table52, GlobalKeepsTeamsWholeWhereLinksAreTheBottleneck) {
    // What the published example does not show: when the link between zones is what limits, the three-way metric sees
    // the border.
    const ResourceGraph resources = zones({4, 2});
    const TaskGraph graph = kernel(1e-6);
    EXPECT_LE(evaluate(graph, resources, GlobalMapper{}.map(graph, resources, {}).value()).inter_zone_bytes, 2e4);
}

TEST_P(Table52, WithZonesOfThreeThePublishedGlobalMappingSplitsNoTeam) {
    Mapping published{std::vector<ProcessorIndex>(5)};
    for (const auto& row : table("table_5_2.csv")) {
        if (row[1] >= 0) published.processor_of[static_cast<std::size_t>(row[1])] = static_cast<ProcessorIndex>(row[0]);
    }
    EXPECT_EQ(evaluate(kernel(1), zones({3, 3}), published).inter_zone_bytes, 1e4);
    EXPECT_EQ(evaluate(kernel(1), zones({4, 2}), published).inter_zone_bytes, 2e7);
}

}  // namespace
}  // namespace zbs
