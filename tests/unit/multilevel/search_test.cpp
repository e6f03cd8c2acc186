#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/multilevel/annealing.hpp"
#include "algorithms/multilevel/flow_refinement.hpp"
#include "algorithms/multilevel/local_search.hpp"
#include "algorithms/multilevel/partitioner.hpp"
#include "tests/unit/multilevel/graphs.hpp"

namespace zbs::multilevel {
namespace {

using testing::graph_of;
using testing::grid;
using testing::random_graph;
using testing::tree_of;

std::vector<std::int32_t> random_leaves(const CompactGraph& graph, const TargetTree& tree, Rng& rng) {
    std::vector<std::int32_t> leaves(graph.weight.size());
    for (std::int32_t& leaf : leaves)
        leaf = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(tree.leaves)));
    return leaves;
}

TEST(MoveFinder, GainIsTheChangeOfTheCost) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Rng rng(seed);
        const CompactGraph graph = random_graph(40, 120, rng);
        const TargetTree tree = tree_of({2, 3, 2}, 1000);
        Placement placement(graph, tree, random_leaves(graph, tree, rng));
        MoveFinder finder(tree);
        for (Vertex v = 0; v < 40; ++v) {
            const std::int64_t before = placement.cost();
            const Move move = finder.best_move(placement, v, 0);
            if (move.to < 0) continue;
            const std::int32_t from = placement.leaf(v);
            // No other leaf of a neighbour is better.
            for (const auto& arc : graph.arcs_of(v)) {
                placement.move(v, placement.leaf(arc.head));
                EXPECT_LE(before - placement.cost(), std::max<std::int64_t>(move.gain, 0)) << "seed " << seed;
                placement.move(v, from);
            }
            placement.move(v, move.to);
            EXPECT_EQ(before - placement.cost(), move.gain) << "seed " << seed;
        }
    }
}

TEST(LocalSearch, SavesWhatItSaysAndNeverOverloads) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Rng rng(seed);
        const CompactGraph graph = random_graph(120, 400, rng);
        const TargetTree tree = tree_of({2, 2, 2}, graph.total / 8 + 6);
        Placement placement(graph, tree, random_leaves(graph, tree, rng));
        repair_balance(placement, rng);
        ASSERT_EQ(placement.overload(), 0) << "seed " << seed;
        const std::int64_t start = placement.cost();
        const std::int64_t greedy = greedy_moves(placement, rng, 5);
        EXPECT_EQ(start - placement.cost(), greedy);
        const std::int64_t middle = placement.cost();
        const std::int64_t saved = local_search(placement, rng, {.slack = graph.heaviest});
        EXPECT_EQ(middle - placement.cost(), saved) << "seed " << seed;
        EXPECT_GE(saved, 0);
        EXPECT_EQ(placement.overload(), 0);
        EXPECT_LT(placement.cost(), start);
    }
}

/// The cheapest of all balanced cuts in two, by trying them.
std::int64_t best_bisection(const CompactGraph& graph, std::int64_t capacity) {
    const TargetTree star = make_star({capacity, capacity});
    std::int64_t best = -1;
    for (std::uint32_t bits = 0; bits < (1U << graph.vertex_count()); ++bits) {
        std::vector<std::int32_t> side(graph.weight.size());
        for (std::size_t v = 0; v < side.size(); ++v) side[v] = static_cast<std::int32_t>(bits >> v & 1);
        const Placement placement(graph, star, side);
        if (placement.overload() == 0 && (best < 0 || placement.cost() < best)) best = placement.cost();
    }
    return best;
}

TEST(FlowRefinement, SavesWhatItSaysWithinTheCapacities) {
    int improved = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Rng rng(seed);
        const CompactGraph graph = random_graph(60, 150, rng);
        const TargetTree star = make_star(std::vector<std::int64_t>(3, graph.total / 3 + 15));
        Placement placement(graph, star, random_leaves(graph, star, rng));
        repair_balance(placement, rng);
        const std::int64_t before = placement.cost();
        const std::int64_t saved = flow_refinement(placement, {.rounds = 3, .reach = 4});
        EXPECT_EQ(before - placement.cost(), saved) << "seed " << seed;
        EXPECT_GE(saved, 0);
        EXPECT_EQ(placement.overload(), 0) << "seed " << seed;
        improved += saved > 0 ? 1 : 0;
    }
    EXPECT_GT(improved, 20);
}

TEST(FlowRefinement, StraightensABorder) {
    // 12 x 6, cut by a staircase that costs 11; straight it costs 6.
    const CompactGraph graph = grid(12, 6);
    const TargetTree star = make_star({40, 40});
    std::vector<std::int32_t> side(72);
    for (int y = 0; y < 6; ++y)
        for (int x = 0; x < 12; ++x) side[static_cast<std::size_t>(y * 12 + x)] = x < 3 + y ? 0 : 1;
    Placement placement(graph, star, side);
    ASSERT_EQ(placement.cost(), 11);
    EXPECT_EQ(flow_refinement(placement, {.rounds = 2, .reach = 8}), 5);
    EXPECT_EQ(placement.cost(), 6);
}

TEST(Partition, IsNearTheBestBisectionOfSmallGraphs) {
    std::int64_t ours = 0, best = 0;
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        Rng rng(seed);
        const CompactGraph graph = random_graph(12, 26, rng);
        const std::int64_t capacity = graph.total / 2 + 2;
        const std::int64_t optimum = best_bisection(graph, capacity);
        ASSERT_GE(optimum, 0);
        const TargetTree star = make_star({capacity, capacity});
        const Placement found(graph, star, partition(graph, {capacity, capacity}, rng, Effort{}));
        EXPECT_EQ(found.overload(), 0) << "seed " << seed;
        EXPECT_GE(found.cost(), optimum);
        ours += found.cost();
        best += optimum;
    }
    EXPECT_LE(ours, best * 105 / 100);  // measured: 2.1 % above
}

TEST(VCycle, IsNeverWorse) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Rng rng(seed);
        const CompactGraph graph = grid(20, 20);
        const TargetTree tree = tree_of({2, 2, 2}, 53);
        Placement start(graph, tree, random_leaves(graph, tree, rng));
        repair_balance(start, rng);
        std::vector<std::int32_t> leaves = start.leaf_of;
        v_cycle(graph, tree, leaves, {}, rng, Effort{.coarsest = 4});
        const Placement end(graph, tree, leaves);
        EXPECT_LT(end.cost(), start.cost());
        EXPECT_EQ(end.overload(), 0);
    }
}

TEST(Evolution, TheChildOfTwoIsNoWorseThanTheBetter) {
    Rng rng(5);
    const CompactGraph graph = grid(30, 30);
    const std::vector<std::int64_t> capacity(4, 232);
    const TargetTree star = make_star(capacity);
    std::vector<std::vector<std::int32_t>> parents;
    std::int64_t better = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < 2; ++i) {
        parents.push_back(partition(graph, capacity, rng, Effort{.restarts = 1, .tries = 1}));
        better = std::min(better, Placement(graph, star, parents.back()).cost());
    }
    const std::vector<std::int32_t> child =
        evolve(graph, capacity, rng, Effort{}, {.population = 0, .generations = 6}, parents);
    EXPECT_LE(Placement(graph, star, child).cost(), better);
}

TEST(Annealing, FindsTheTilingOfARing) {
    std::vector<testing::WeightedEdge> ring;
    for (Vertex v = 0; v < 16; ++v) ring.push_back({v, (v + 1) % 16, 1});
    const CompactGraph graph = graph_of(16, ring);
    const TargetTree tree = tree_of({4, 4}, 1);  // distances 1 and 10
    Rng rng(9);
    std::vector<std::int32_t> leaves(16);
    for (std::size_t v = 0; v < 16; ++v) leaves[v] = static_cast<std::int32_t>(v * 5 % 16);
    Placement placement(graph, tree, leaves);
    anneal(placement, rng, {.proposals = 200'000}, {});
    EXPECT_EQ(placement.overload(), 0);
    EXPECT_EQ(placement.cost(), 12 * 1 + 4 * 10);
}

TEST(Annealing, IsNeverWorseAndKeepsCapacities) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Rng rng(seed);
        const CompactGraph graph = random_graph(60, 200, rng);
        const TargetTree tree = tree_of({2, 3, 2}, graph.total / 12 + 5);
        Placement placement(graph, tree, random_leaves(graph, tree, rng));
        repair_balance(placement, rng);
        ASSERT_EQ(placement.overload(), 0);
        const std::int64_t before = placement.cost();
        anneal(placement, rng, {.proposals = 20'000}, {});
        EXPECT_LE(placement.cost(), before);
        EXPECT_EQ(placement.overload(), 0) << "seed " << seed;
        // Loads are those of the leaves.
        EXPECT_EQ(placement.load, Placement(graph, tree, placement.leaf_of).load);
    }
}

}  // namespace
}  // namespace zbs::multilevel
