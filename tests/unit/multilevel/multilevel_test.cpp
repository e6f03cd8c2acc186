#include "algorithms/multilevel/multilevel.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "algorithms/multilevel/placement.hpp"
#include "tests/unit/multilevel/graphs.hpp"

namespace zbs::multilevel {
namespace {

using testing::graph_of;
using testing::grid;
using testing::random_graph;
using testing::tree_of;

/// One thread a piece, all at once.
class AtOnce final : public TaskRunner {
  public:
    int width() const override { return 8; }
    void run(int count, const std::function<void(int)>& work) override {
        std::vector<std::jthread> threads;
        for (int i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
    }
};

TEST(Multilevel, ThreadsDoNotChangeTheResult) {
    Rng rng(1);
    const CompactGraph mesh = grid(40, 40), loose = random_graph(200, 700, rng);
    AtOnce threads;
    for (const Level level : {Level::kFast, Level::kDefault}) {
        for (const CompactGraph* graph : {&mesh, &loose}) {
            const TargetTree tree = tree_of({2, 3, 2}, graph->total / 12 + 4);
            const std::vector<std::int32_t> serial = map(*graph, tree, {.level = level, .seed = 7});
            EXPECT_EQ(map(*graph, tree, {.level = level, .seed = 7, .runner = &threads}), serial);
        }
    }
}

TEST(Multilevel, BalancesMeshesOnEveryPreset) {
    const CompactGraph mesh = grid(48, 48);
    const TargetTree tree = tree_of({4, 2, 3}, 96 + 3);
    std::int64_t last = 0;
    for (const Level level : {Level::kStrong, Level::kDefault, Level::kFast}) {
        const Placement found(mesh, tree, map(mesh, tree, {.level = level}));
        EXPECT_EQ(found.overload(), 0);
        EXPECT_GE(found.cost(), last * 98 / 100) << "more work, worse result";
        last = found.cost();
    }
}

TEST(Multilevel, FillsUnevenZonesExactly) {
    // Zones of 6 and 4 single processors, one task each; a clique of 6 and one of 4 belong together.
    const auto zone = [](const char* name, int machines) {
        Zone made{.name = name};
        for (int m = 0; m < machines; ++m) made.machines.push_back({.name = "m" + std::to_string(m)});
        return made;
    };
    const ResourceGraph zones = *ResourceGraph::make({zone("a", 6), zone("b", 4)}, {});
    const TargetTree tree = make_target_tree(ProcessorTree::of(zones, 1000), std::vector<std::int64_t>(10, 1));
    std::vector<testing::WeightedEdge> edges;
    const auto clique = [&](std::vector<Vertex> members) {
        for (std::size_t i = 0; i < members.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) edges.push_back({members[j], members[i], 10});
    };
    clique({0, 3, 4, 9});
    clique({1, 2, 5, 6, 7, 8});
    edges.push_back({0, 1, 1});
    const CompactGraph graph = graph_of(10, edges);
    for (const Level level : {Level::kFast, Level::kDefault, Level::kStrong}) {
        const std::vector<std::int32_t> leaf = map(graph, tree, {.level = level});
        EXPECT_EQ(std::set<std::int32_t>(leaf.begin(), leaf.end()).size(), 10U);
        for (const Vertex v : {0, 3, 4, 9}) EXPECT_GE(leaf[static_cast<std::size_t>(v)], 6);
    }
}

TEST(Multilevel, FewTasksStayInOneZone) {
    const CompactGraph mesh = grid(4, 4);
    const TargetTree tree = tree_of({4, 8, 6}, 1);
    const std::vector<std::int32_t> leaf = map(mesh, tree, {});
    std::set<std::int32_t> zones;
    for (const std::int32_t one : leaf) zones.insert(one / 32);
    EXPECT_EQ(zones.size(), 1U);
    EXPECT_EQ(std::set<std::int32_t>(leaf.begin(), leaf.end()).size(), 16U);
}

TEST(Multilevel, AnswersForOddGraphs) {
    for (const auto& [name, graph] : testing::odd_graphs()) {
        for (const Level level : {Level::kFast, Level::kDefault}) {
            const TargetTree tree = tree_of({2, 2, 3}, graph.total / 12 + 5);
            const Placement found(graph, tree, map(graph, tree, {.level = level}));
            EXPECT_EQ(found.overload(), 0) << name;
            EXPECT_EQ(found.leaf_of.size(), graph.weight.size()) << name;
        }
    }
}

TEST(Multilevel, StopsEarlyWithAWholeMapping) {
    const CompactGraph mesh = grid(40, 40);
    const TargetTree tree = tree_of({4, 4}, 103);
    const Placement found(mesh, tree, map(mesh, tree, {.level = Level::kStrong, .out_of_time = [] { return true; }}));
    EXPECT_EQ(found.overload(), 0);
}

}  // namespace
}  // namespace zbs::multilevel
