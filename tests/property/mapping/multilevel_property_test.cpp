#include "algorithms/multilevel/multilevel.hpp"

#include <gtest/gtest.h>

#include "algorithms/multilevel/placement.hpp"
#include "tests/unit/multilevel/graphs.hpp"

namespace zbs::multilevel {
namespace {

/// The other levels do so under sanitizers, in unit_multilevel.
TEST(Multilevel, AnswersForOddGraphsAtTheStrongLevel) {
    for (const auto& [name, graph] : testing::odd_graphs()) {
        const TargetTree tree = testing::tree_of({2, 2, 3}, graph.total / 12 + 5);
        const Placement found(graph, tree, map(graph, tree, {.level = Level::kStrong}));
        EXPECT_EQ(found.overload(), 0) << name;
        EXPECT_EQ(found.leaf_of.size(), graph.weight.size()) << name;
    }
}

}  // namespace
}  // namespace zbs::multilevel
