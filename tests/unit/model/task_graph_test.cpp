#include "algorithms/model/task_graph.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace zbs {
namespace {

TaskGraph path_of_four() { return *TaskGraph::make({1, 2, 3, 4}, {{2, 3, 30, 3}, {0, 1, 10, 1}, {1, 2, 20, 2}}); }

TEST(TaskGraph, NeighboursAreSortedAndSymmetric) {
    const TaskGraph graph = path_of_four();
    ASSERT_EQ(graph.neighbours(1).size(), 2U);
    EXPECT_EQ(graph.neighbours(1)[0].task, 0);
    EXPECT_EQ(graph.neighbours(1)[1].task, 2);
    EXPECT_EQ(graph.neighbours(2)[0].bytes, 20);
    EXPECT_EQ(graph.edges()[0], (TaskEdge{0, 1, 10, 1}));
}

TEST(TaskGraph, IsPrintedByTestsWithItsValues) {
    const std::string printed = testing::PrintToString(path_of_four());
    EXPECT_TRUE(printed.starts_with("{ 1, 2, 3, 4 } {")) << printed;
    EXPECT_EQ(printed.find("byte object"), std::string::npos) << printed;
}

TEST(TaskGraph, SubgraphRenumbersAndKeepsInnerEdges) {
    const TaskIndex chosen[] = {3, 2, 0};
    const TaskGraph part = subgraph(path_of_four(), chosen);
    EXPECT_EQ(part.task_count(), 3);
    EXPECT_EQ(part.compute(0), 4);
    ASSERT_EQ(part.edge_count(), 1U);
    EXPECT_EQ(part.edges()[0], (TaskEdge{0, 1, 30, 3}));
}

struct BadCase {
    const char* name;
    std::vector<double> compute;
    std::vector<TaskEdge> edges;
    const char* pointer;
};
class TaskGraphRefuses : public testing::TestWithParam<BadCase> {};

TEST_P(TaskGraphRefuses, WithThePlaceAtFault) {
    const auto made = TaskGraph::make(GetParam().compute, GetParam().edges);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(made.error().pointer, GetParam().pointer);
}

INSTANTIATE_TEST_SUITE_P(, TaskGraphRefuses,
                         testing::Values(BadCase{"NoRanks", {}, {}, "/compute"},
                                         BadCase{"NegativeCompute", {1, -1}, {}, "/compute/1"},
                                         BadCase{"NanCompute", {std::nan("")}, {}, "/compute/0"},
                                         BadCase{"MissingRank", {1, 1}, {{0, 2, 1, 1}}, "/edges/0"},
                                         BadCase{"NegativeRank", {1, 1}, {{-1, 1, 1, 1}}, "/edges/0"},
                                         BadCase{"SelfEdge", {1, 1}, {{1, 1, 1, 1}}, "/edges/0"},
                                         BadCase{"WrongOrder", {1, 1}, {{1, 0, 1, 1}}, "/edges/0"},
                                         BadCase{"NegativeBytes", {1, 1}, {{0, 1, -1, 1}}, "/edges/0/2"},
                                         BadCase{"NegativeMessages", {1, 1}, {{0, 1, 1, -1}}, "/edges/0/3"},
                                         BadCase{"PairTwice", {1, 1}, {{0, 1, 1, 1}, {0, 1, 2, 1}}, "/edges"}),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace zbs
