#include "algorithms/model/processor_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

namespace zbs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ProcessorTree uniform(std::vector<int> arity, std::vector<double> distances) {
    Result<ProcessorTree> tree = ProcessorTree::uniform(arity, distances);
    EXPECT_TRUE(tree) << tree.error();
    return tree ? *std::move(tree) : ProcessorTree{};
}

TEST(ProcessorTree, InnermostLevelIsFastest) {
    const ProcessorTree tree = uniform({4, 8, 6}, {1, 10, 100});
    EXPECT_EQ(tree.processor_count(), 192);
    EXPECT_EQ(tree.levels(), 3);
    EXPECT_EQ(tree.distance(0, 0), 0);
    EXPECT_EQ(tree.distance(0, 3), 1);
    EXPECT_EQ(tree.distance(0, 4), 10);
    EXPECT_EQ(tree.distance(31, 0), 10);
    EXPECT_EQ(tree.distance(31, 32), 100);
    EXPECT_EQ(tree.distance(191, 0), 100);
    EXPECT_EQ(tree.group_of(31, 1), tree.group_of(0, 1));
    EXPECT_NE(tree.group_of(32, 1), tree.group_of(0, 1));
    EXPECT_EQ(tree.speed(77), 1);
}

TEST(ProcessorTree, GroupsHoldConsecutiveChildrenAndProcessors) {
    const ProcessorTree tree = uniform({2, 3, 2}, {1, 2, 3});
    EXPECT_EQ(tree.groups().size(), 1u + 2 + 6 + 12);
    for (int depth = 0; depth < tree.levels(); ++depth) {
        for (std::int32_t g = tree.first_group(depth); g < tree.first_group(depth + 1); ++g) {
            const ProcessorTree::Group& group = tree.groups()[static_cast<std::size_t>(g)];
            ProcessorIndex next = group.first_processor;
            for (std::int32_t c = 0; c < group.child_count; ++c) {
                const auto& child = tree.groups()[static_cast<std::size_t>(group.first_child + c)];
                EXPECT_EQ(child.parent, g);
                EXPECT_EQ(child.first_processor, next);
                next += child.processor_count;
            }
            EXPECT_EQ(next, group.first_processor + group.processor_count);
            for (ProcessorIndex p = group.first_processor; p < next; ++p) EXPECT_EQ(tree.group_of(p, depth), g);
        }
    }
}

TEST(ProcessorTree, OneLevelIsOneGroup) {
    const ProcessorTree tree = uniform({3}, {7});
    EXPECT_EQ(tree.distance(0, 2), 7);
    EXPECT_EQ(tree.distance(2, 2), 0);
}

TEST(ProcessorTree, IsPrintedByTestsWithItsValues) {
    const std::string printed = testing::PrintToString(*ProcessorTree::uniform(std::array{2}, std::array{7.0}));
    EXPECT_NE(printed.find(", 7}"), std::string::npos) << printed;
    EXPECT_TRUE(printed.ends_with("{ 1, 1 }")) << printed;
}

TEST(ProcessorTree, MayHaveSixteenLevels) {
    const ProcessorTree tree = uniform(std::vector<int>(16, 2), std::vector<double>(16, 5));
    EXPECT_EQ(tree.processor_count(), 65536);
    EXPECT_EQ(tree.distance(0, 65535), 5);
}

struct BadTree {
    const char* name;
    std::vector<int> arity;
    std::vector<double> distances;
    const char* pointer;
    const char* says;
};
class ProcessorTreeRefuses : public testing::TestWithParam<BadTree> {};
INSTANTIATE_TEST_SUITE_P(
    , ProcessorTreeRefuses,
    testing::Values(BadTree{"NoLevel", {}, {}, "--hierarchy", "4:8:6"},
                    BadTree{"TooManyLevels", std::vector<int>(17, 1), std::vector<double>(17, 1), "--hierarchy", "16"},
                    BadTree{"FewerDistances", {4, 8}, {1}, "--distances", "1 distances for 2 levels"},
                    BadTree{"ZeroArity", {4, 0}, {1, 2}, "--hierarchy", "level 2 has 0 parts"},
                    BadTree{"TooManyProcessors", {10000, 10000}, {1, 2}, "--hierarchy", "10000000"},
                    BadTree{"Overflow", {2000000000, 2000000000, 2000000000}, {1, 2, 3}, "--hierarchy", "more than"},
                    BadTree{"NegativeDistance", {2, 2}, {1, -1}, "--distances", "distance 2"},
                    BadTree{"NanDistance", {2, 2}, {std::nan(""), 1}, "--distances", "distance 1"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_P(ProcessorTreeRefuses, AndNamesTheOption) {
    const auto tree = ProcessorTree::uniform(GetParam().arity, GetParam().distances);
    ASSERT_FALSE(tree);
    EXPECT_EQ(tree.error().pointer, GetParam().pointer);
    EXPECT_THAT(tree.error().message, HasSubstr(GetParam().says));
}

ResourceGraph uneven_zones() {
    Zone a{"a", {{"a0", 2, 1}, {"a1", 1, 2}}, {1e-6, 1e9}, {1e-5, 1e9}};
    Zone b{"b", {{"b0", 3, 0.5}}, {2e-6, 1e9}, {2e-5, 1e9}};
    return *ResourceGraph::make({a, b}, {{0, 1, {1e-3, 1e9}}});
}

TEST(ProcessorTree, OfResourcesKeepsSpeedsAndUnevenGroups) {
    const ProcessorTree tree = ProcessorTree::of(uneven_zones(), 1e-12);  // next to nothing: delays alone count
    EXPECT_EQ(tree.levels(), 3);
    EXPECT_EQ(tree.processor_count(), 6);
    EXPECT_EQ(tree.speed(1), 1);
    EXPECT_EQ(tree.speed(2), 2);
    EXPECT_EQ(tree.speed(5), 0.5);
    EXPECT_NEAR(tree.distance(0, 1), 1, 1e-9);
    EXPECT_NEAR(tree.distance(0, 2), 10, 1e-9);
    EXPECT_NEAR(tree.distance(3, 5), 2, 1e-9);
    EXPECT_NEAR(tree.distance(2, 3), 1000, 1e-6);
    EXPECT_FALSE(tree.top_distances_differ());
}

TEST(ProcessorTree, OfResourcesCountsBandwidthByMessageSize) {
    Zone zone{"a", {{"a0", 2, 1}, {"a1", 2, 1}}, {1e-6, 1e9}, {1e-6, 1e8}};
    const ProcessorTree tree = ProcessorTree::of(*ResourceGraph::make({zone}, {}), 1e6);
    EXPECT_NEAR(tree.distance(0, 2), (1e-6 + 1e-2) / (1e-6 + 1e-3), 1e-9);
}

TEST(ProcessorTree, PairsOfZonesMayHaveDistancesOfTheirOwn) {
    const Zone zone{"", {{"m", 1, 1}}, {1e-3, 1e9}, {1e-3, 1e9}};
    Zone a = zone, b = zone, c = zone;
    a.name = "a", b.name = "b", c.name = "c";
    const auto resources =
        ResourceGraph::make({a, b, c}, {{0, 1, {1e-3, 1e9}}, {0, 2, {2e-3, 1e9}}, {1, 2, {4e-3, 1e9}}});
    ASSERT_TRUE(resources) << resources.error();
    const ProcessorTree tree = ProcessorTree::of(*resources, 1e-12);
    EXPECT_TRUE(tree.top_distances_differ());
    EXPECT_NEAR(tree.distance(0, 1), 1, 1e-9);
    EXPECT_NEAR(tree.distance(2, 0), 2, 1e-9);
    EXPECT_NEAR(tree.distance(1, 2), 4, 1e-9);
    EXPECT_NEAR(tree.groups()[0].distance, 4, 1e-9);
}

TEST(ProcessorTree, SubtreeIsTheGroupAlone) {
    const ProcessorTree tree = *ProcessorTree::uniform(std::vector{4, 3, 2}, std::vector{1., 10., 100.});
    const ProcessorTree zone = *ProcessorTree::uniform(std::vector{4, 3}, std::vector{1., 10.});
    EXPECT_EQ(tree.subtree(0), tree);
    EXPECT_EQ(tree.subtree(1), zone);
    EXPECT_EQ(tree.subtree(2), zone);
    EXPECT_EQ(tree.subtree(5), *ProcessorTree::uniform(std::vector{4}, std::vector{1.}));
}

TEST(ProcessorTree, OutlineKeepsSpeedAndDistanceOfChildren) {
    const Zone a{"a", {{"a0", 2, 1}, {"a1", 1, 3}}, {0, 1e9}, {0, 1e9}};
    const Zone b{"b", {{"b0", 4, 2}}, {0, 1e9}, {0, 1e9}};
    const ProcessorTree tree = ProcessorTree::of(*ResourceGraph::make({a, b}, {{0, 1, {0, 1e7}}}), 1000);
    const ProcessorTree outline = tree.outline(0);
    ASSERT_EQ(outline.processor_count(), 2);
    EXPECT_EQ(outline.levels(), 2);
    EXPECT_EQ(outline.speed(0), 5);
    EXPECT_EQ(outline.speed(1), 8);
    EXPECT_EQ(outline.distance(0, 1), tree.distance(0, 3));
    EXPECT_EQ(outline.distance(1, 1), 0);
    const ProcessorTree of_a = tree.outline(1);
    ASSERT_EQ(of_a.processor_count(), 2);
    EXPECT_EQ(of_a.speed(1), 3);
    EXPECT_EQ(of_a.distance(0, 1), tree.distance(0, 2));
}

TEST(ParseHierarchy, TakesNumbersBetweenColons) {
    EXPECT_THAT(*parse_hierarchy("4:8:6"), ElementsAre(4, 8, 6));
    EXPECT_THAT(*parse_hierarchy("16"), ElementsAre(16));
    EXPECT_THAT(*parse_distances("0.5:1e2"), ElementsAre(0.5, 100));
}

TEST(ParseHierarchy, NamesTheLevelAtFault) {
    for (const char* text : {"", ":", "4:", "4::6", "4:x:6", "4:8.5", "4 :8", "4:99999999999", "+4", " 4", "4:8:6 "}) {
        const auto levels = parse_hierarchy(text);
        ASSERT_FALSE(levels) << text;
        EXPECT_EQ(levels.error().pointer, "--hierarchy");
        EXPECT_THAT(levels.error().message, HasSubstr("4:8:6")) << text;
    }
    EXPECT_THAT(parse_hierarchy("4:x:6").error().message, HasSubstr("level 2 of '4:x:6' is 'x'"));
    EXPECT_FALSE(parse_distances("1:ten:100"));
    EXPECT_FALSE(parse_hierarchy("1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1"));
}

}  // namespace
}  // namespace zbs
