#include "algorithms/mapping/trees/max_tree.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {

TEST(MaxTree, FollowsEveryChange) {
    MaxTree tree(5);
    EXPECT_EQ(tree.max(), 0);
    tree.set(3, 7);
    tree.set(4, 9);
    EXPECT_EQ(tree.max(), 9);
    EXPECT_EQ(tree.argmax(), 4U);
    tree.set(4, 1);
    EXPECT_EQ(tree.max(), 7);
    EXPECT_EQ(tree.argmax(), 3U);
    tree.set(0, 7);
    EXPECT_EQ(tree.argmax(), 0U) << "the first of equals";
    EXPECT_EQ(tree.count_at_least(7), 2U);
    EXPECT_EQ(tree.count_at_least(0.5), 3U);
}

TEST(MaxTree, OfOneValue) {
    MaxTree tree(1);
    tree.set(0, 4);
    EXPECT_EQ(tree.max(), 4);
    EXPECT_EQ(tree.argmax(), 0U);
}

}  // namespace
}  // namespace zbs
