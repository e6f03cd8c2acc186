#include "algorithms/formats/metis_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "algorithms/base/rng.hpp"
#include "tests/support/metis_graph_text.hpp"

namespace zbs::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TaskGraph graph_of(const std::string& text) {
    Result<TaskGraph> graph = read_metis_graph(text, "f");
    EXPECT_TRUE(graph) << graph.error() << " in " << text;
    return graph ? *std::move(graph) : TaskGraph{};
}

TEST(MetisGraph, HasWeightsOfOneWhereNoneAreGiven) {
    const TaskGraph graph = graph_of("3 2\n2\n1 3\n2\n");
    EXPECT_THAT(graph.compute(), ElementsAre(1, 1, 1));
    EXPECT_THAT(graph.edges(), ElementsAre(TaskEdge{0, 1, 1, 0}, TaskEdge{1, 2, 1, 0}));
}

struct Form {
    const char* name;
    const char* text;
};
class MetisGraphForm : public testing::TestWithParam<Form> {};
INSTANTIATE_TEST_SUITE_P(, MetisGraphForm,
                         testing::Values(Form{"ThreeDigits", "3 2 011\n5 2 7\n0 1 7 3 8\n6 2 8\n"},
                                         Form{"TwoDigits", "3 2 11\n5 2 7\n0 1 7 3 8\n6 2 8\n"},
                                         Form{"VertexSizesAreDropped", "3 2 111\n9 5 2 7\n9 0 1 7 3 8\n9 6 2 8\n"},
                                         Form{"FurtherTaskWeightsAreDropped",
                                              "3 2 011 2\n5 9 2 7\n0 9 1 7 3 8\n6 9 2 8\n"},
                                         Form{"OneWeightNamed", "3 2 011 1\n5 2 7\n0 1 7 3 8\n6 2 8\n"},
                                         Form{"Comments", "% a\n3 2 011\n%b\n5 2 7\n0 1 7 3 8\n% c\n6 2 8\n% d"},
                                         Form{"HashComments", "# a\n3 2 011\n5 2 7\n#b\n0 1 7 3 8\n6 2 8\n"},
                                         Form{"Crlf", "3 2 011\r\n5 2 7\r\n0 1 7 3 8\r\n6 2 8\r\n"},
                                         Form{"SpacesAndTabs", "  3 \t2 011 \n  5 2 7 \n0 1\t7 3  8\n6 2 8\n\n \n"},
                                         Form{"NoLastNewline", "3 2 011\n5 2 7\n0 1 7 3 8\n6 2 8"},
                                         Form{"NeighboursOutOfOrder", "3 2 011\n5 2 7\n0 3 8 1 7\n6 2 8\n"},
                                         Form{"Fractions", "3 2 011\n5.0 2 7.\n0 1 70e-1 3 8\n6 2 8.000\n"}),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_P(MetisGraphForm, GivesTheSameGraph) {
    const TaskGraph graph = graph_of(GetParam().text);
    EXPECT_THAT(graph.compute(), ElementsAre(5, 0, 6));
    EXPECT_THAT(graph.edges(), ElementsAre(TaskEdge{0, 1, 7, 0}, TaskEdge{1, 2, 8, 0}));
}

TEST(MetisGraph, OneDigitIsEdgeWeightsAndTwoAreTaskWeights) {
    EXPECT_THAT(graph_of("2 1 1\n2 7\n1 7\n").edges(), ElementsAre(TaskEdge{0, 1, 7, 0}));
    EXPECT_THAT(graph_of("2 1 10\n3 2\n4 1\n").compute(), ElementsAre(3, 4));
    EXPECT_THAT(graph_of("2 1 100\n3 2\n4 1\n").compute(), ElementsAre(1, 1));
    EXPECT_THAT(graph_of("2 1 0\n2\n1\n").compute(), ElementsAre(1, 1));
}

TEST(MetisGraph, AnEmptyLineIsATaskWithoutNeighbours) {
    EXPECT_THAT(graph_of("4 1\n\n3\n2\n\n").edges(), ElementsAre(TaskEdge{1, 2, 1, 0}));
    EXPECT_EQ(graph_of("1 0\n\n").task_count(), 1);
}

TEST(MetisGraph, ZeroWeightsAreLegal) {
    EXPECT_THAT(graph_of("2 1 011\n0 2 0\n0 1 0\n").edges(), ElementsAre(TaskEdge{0, 1, 0, 0}));
}

TEST(MetisGraph, WholeWeightsAreExact) {
    EXPECT_EQ(graph_of("2 1 1\n2 9007199254740991\n1 9007199254740991\n").edges()[0].bytes, 9007199254740991.0);
}

struct BadText {
    const char* name;
    std::string text;
    const char* at;
    const char* says;
};
class MetisGraphBadText : public testing::TestWithParam<BadText> {};
INSTANTIATE_TEST_SUITE_P(
    , MetisGraphBadText,
    testing::Values(
        BadText{"Empty", "", "f:0", "holds no graph"}, BadText{"OnlyComments", "% a\n% b\n", "f:2", "holds no graph"},
        BadText{"NoEdgeCount", "3\n2\n1\n\n", "f:1", "number of edges is missing"},
        BadText{"WordForCount", "three 2\n", "f:1", "number of tasks is \"three\""},
        BadText{"NegativeCount", "-3 2\n", "f:1", "\"-3\""}, BadText{"NoTask", "0 0\n", "f:1", "at least one task"},
        BadText{"TooManyTasks", "10000001 0\n", "f:1", "more than 10000000 tasks"},
        BadText{"TooManyEdges", "10 99999999999\n", "f:1", "edges"},
        BadText{"OverflowingCount", "99999999999999999999999 1\n", "f:1", "number of tasks is"},
        BadText{"FormatDigit", "2 1 2\n2\n1\n", "f:1", "0 or 1"},
        BadText{"FormatLength", "2 1 0001\n2\n1\n", "f:1", "one to three digits"},
        BadText{"WeightsWithoutFormat", "2 1 001 2\n2 1\n1 1\n", "f:1", "write it as 010 or 011"},
        BadText{"ZeroWeightsPerTask", "2 1 011 0\n2 1\n1 1\n", "f:1", "1..1000"},
        BadText{"LongHeader", "2 1 011 1 7\n", "f:1", "behind its end"},
        BadText{"CutOff", "3 2\n2\n1 3\n", "f:3", "ends after 2 of 3 task lines"},
        BadText{"PromisesTooMuch", "10000000 1\n2\n", "f:2", "ends after 1 of 10000000"},
        BadText{"ExcessLine", "2 1\n2\n1\n% c\n1\n", "f:5", "more lines than the 2 tasks that the header (line 1)"},
        BadText{"TooFewEdges", "% x\n3 3\n2\n1 3\n2\n", "f:2", "promises 3 edges, the lines hold 2"},
        BadText{"EdgesCountedTwice", "2 2\n2\n1\n", "f:1", "counts once"},
        BadText{"NeighbourZero", "2 1\n0\n1\n", "f:2", "neighbour \"0\" of task 1 is not in 1..2"},
        BadText{"NeighbourTooLarge", "2 1\n3\n1\n", "f:2", "1..2"},
        BadText{"NeighbourNegative", "2 1\n2\n-1\n", "f:3", "\"-1\""},
        BadText{"NeighbourNoNumber", "2 1\n2\n1x\n", "f:3", "\"1x\""},
        BadText{"NeighbourOverflow", "2 1\n2\n36893488147419103233\n", "f:3", "not in 1..2"},
        BadText{"SelfLoop", "2 1\n2\n1 2\n", "f:3", "its own neighbour"},
        BadText{"Twice", "2 1\n2 2\n1\n", "f:2", "twice"},
        BadText{"TwiceApart", "3 2\n2 3 2\n1\n1\n", "f:2", "names neighbour 2 twice"},
        BadText{"OneSidedUp", "3 1\n2\n\n\n", "f:2", "task 1 (line 2) names neighbour 2, but task 2 (line 3)"},
        BadText{"OneSidedDown", "3 1\n\n1\n\n", "f:3", "task 2 (line 3) names neighbour 1, but task 1 (line 2)"},
        BadText{"OneSidedAmongOthers", "4 3\n2 4\n1 3 4\n2\n1\n", "f:3", "task 2 (line 3) names neighbour 4"},
        BadText{"OneSidedBetweenOthers", "4 3\n4\n4\n\n1 2 3\n", "f:5", "task 4 (line 5) names neighbour 3"},
        BadText{"DifferingWeights", "2 1 1\n2 5\n%\n1 6\n", "f:4",
                "between task 1 (line 2) and task 2 (line 4) weighs 5 on one line and 6 on the other"},
        BadText{"NegativeWeight", "2 1 1\n2 -5\n1 -5\n", "f:2", "\"-5\"; it must be a number from 0 to 2^53"},
        BadText{"NanWeight", "2 1 1\n2 nan\n1 nan\n", "f:2", "\"nan\""},
        BadText{"InfiniteWeight", "2 1 1\n2 inf\n1 inf\n", "f:2", "\"inf\""},
        BadText{"OverflowingWeight", "2 1 1\n2 1e400\n1 1e400\n", "f:2", "\"1e400\""},
        BadText{"LargeWeight", "2 1 1\n2 9007199254740993\n1 9007199254740994\n", "f:2", "2^53"},
        BadText{"MissingEdgeWeight", "2 1 1\n2\n1 1\n", "f:2", "weight behind neighbour 2 of task 1 is missing"},
        BadText{"MissingTaskWeight", "2 1 10\n\n1 1\n", "f:2", "weight of task 1 is missing"},
        BadText{"NegativeTaskWeight", "2 1 10\n-1 2\n1 1\n", "f:2", "weight of task 1 is \"-1\""},
        BadText{"MissingSize", "1 0 100\n\n", "f:2", "size of task 1 is missing"},
        BadText{"Nul", std::string("2 1\n2\0\n1\n", 8), "f:2", "neighbour"},
        BadText{"Binary",
                "\x7f"
                "ELF\x02\x01",
                "f:1", "number of tasks"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_P(MetisGraphBadText, IsRefusedWithTheLine) {
    const Result<TaskGraph> graph = read_metis_graph(GetParam().text, "f");
    ASSERT_FALSE(graph);
    EXPECT_EQ(graph.error().pointer, GetParam().at) << graph.error();
    EXPECT_THAT(graph.error().message, HasSubstr(GetParam().says));
}

TEST(WriteMetisGraph, NeedsNoFormatWhereAllWeightsAreOne) {
    EXPECT_EQ(write_metis_graph(*TaskGraph::make({1, 1, 1}, {{0, 2, 1, 5}})), "3 1\n3\n\n1\n");
    EXPECT_EQ(write_metis_graph(*TaskGraph::make({1, 1}, {{0, 1, 100000, 0}})), "2 1 001\n2 100000\n1 100000\n");
    EXPECT_EQ(write_metis_graph(*TaskGraph::make({1, 0.5}, {{0, 1, 1, 0}})), "2 1 010\n1 2\n0.5 1\n");
}

TEST(WriteMetisGraph, IsReadBackTheSame) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        std::vector<double> compute(1 + rng.below(30));
        for (double& c : compute) c = rng.below(2) ? static_cast<double>(rng.below(5)) : rng.uniform() * 1e6;
        std::vector<TaskEdge> edges;
        for (TaskIndex u = 0; u < static_cast<TaskIndex>(compute.size()); ++u) {
            for (TaskIndex v = u + 1; v < static_cast<TaskIndex>(compute.size()); ++v) {
                if (rng.below(4) == 0)
                    edges.push_back(
                        {u, v, rng.below(2) ? rng.uniform() : static_cast<double>(rng.below(1ULL << 53)), 0});
            }
        }
        const TaskGraph graph = *TaskGraph::make(compute, edges);
        EXPECT_EQ(graph_of(write_metis_graph(graph)), graph);
    }
}

// A loose guard against a quadratic step; the figure for a million tasks is in the benchmark.
TEST(MetisGraph, ReadsAStarAndAGridOfManyTasks) {
    std::vector<TaskEdge> star, grid;
    constexpr TaskIndex kSide = 300, kCount = kSide * kSide;
    for (TaskIndex t = 1; t < kCount; ++t) star.push_back({0, t, 1, 0});
    for (TaskIndex t = 0; t < kCount; ++t) {
        if (t % kSide + 1 < kSide) grid.push_back({t, t + 1, 1, 0});
        if (t + kSide < kCount) grid.push_back({t, t + kSide, 1, 0});
    }
    for (auto* edges : {&star, &grid}) {
        const TaskGraph graph = *TaskGraph::make(std::vector<double>(kCount, 1), *edges);
        EXPECT_EQ(graph_of(write_metis_graph(graph)), graph);
    }
}

}  // namespace
}  // namespace zbs::formats
