#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/formats/metis_graph.hpp"

namespace zbs::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Good {
    const char* name;
    const char* text;
};
class GraphFileOfAPath : public testing::TestWithParam<Good> {};
INSTANTIATE_TEST_SUITE_P(
    , GraphFileOfAPath,
    testing::Values(Good{"Metis", "3 2\n2\n1 3\n2\n"}, Good{"MetisBehindAHash", "# graph\n3 2\n2\n1 3\n2\n"},
                    Good{"Symmetric", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"},
                    Good{"General",
                         "%%matrixmarket Matrix Coordinate real general\r\n% c\r\n\r\n3 3 4\r\n2 1 0.5\r\n1 2 "
                         "0.5\r\n2 2 0\r\n3 2 1\r\n"},
                    Good{"Snap", "# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n"},
                    Good{"SnapWithWeights", "# a\n# FromNodeId ToNodeId\n2 1 0.25\n1 1 7\n1 2 0.75\n0 1 1\n"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_P(GraphFileOfAPath, IsReadWithoutAWarning) {
    const Result<GraphFile> file = read_graph_file(GetParam().text, "f");
    ASSERT_TRUE(file) << file.error();
    EXPECT_THAT(file->graph.compute(), ElementsAre(1, 1, 1));
    EXPECT_THAT(file->graph.edges(), ElementsAre(TaskEdge{0, 1, 1, 0}, TaskEdge{1, 2, 1, 0}));
    EXPECT_THAT(file->warnings, IsEmpty());
}

TEST(GraphFile, MetisFromZeroIsReadWithAWarning) {
    const Result<GraphFile> file = read_graph_file("3 2 001\n1 5\n0 5 2 6\n1 6\n", "f");
    ASSERT_TRUE(file) << file.error();
    EXPECT_THAT(file->graph.edges(), ElementsAre(TaskEdge{0, 1, 5, 0}, TaskEdge{1, 2, 6, 0}));
    EXPECT_THAT(file->warnings, ElementsAre(HasSubstr("counts tasks from 0")));
}

TEST(GraphFile, AFurtherWeightOfTasksIsNotDroppedInSilence) {
    const Result<GraphFile> file = read_graph_file("2 1 010 2\n1 10 2\n1 10 1\n", "f");
    ASSERT_TRUE(file) << file.error();
    EXPECT_THAT(file->graph.compute(), ElementsAre(1, 1));
    EXPECT_THAT(file->warnings, ElementsAre("has 2 weights per task; only the first of them is balanced"));
}

TEST(GraphFile, VertexSizesAreNotDroppedInSilence) {
    const Result<GraphFile> file = read_graph_file("2 1 100\n3 2\n4 1\n", "f");
    ASSERT_TRUE(file) << file.error();
    EXPECT_THAT(file->warnings, ElementsAre("has vertex sizes, which are not used"));
}

TEST(GraphFile, NodesOfAnEdgeListAreTheTasks) {
    const Result<GraphFile> file = read_graph_file("# FromNodeId ToNodeId\n7 30\n5000000 30\n9 9\n", "f");
    ASSERT_TRUE(file) << file.error();
    EXPECT_THAT(file->graph.compute(), ElementsAre(1, 1, 1, 1));
    EXPECT_THAT(file->graph.edges(), ElementsAre(TaskEdge{0, 2, 1, 0}, TaskEdge{2, 3, 1, 0}));
    EXPECT_THAT(file->warnings, ElementsAre("has 4 nodes with ids from 7 to 5000000; they are tasks 0 to 3 in the "
                                            "order of their ids"));
}

TEST(GraphFile, AnEdgeListIsComparedWithItsHead) {
    const Result<GraphFile> file = read_graph_file("# Nodes: 5 Edges: 4\n0 1\n1 2\n2 1\n", "f");
    ASSERT_TRUE(file) << file.error();
    EXPECT_EQ(file->graph.task_count(), 3);
    EXPECT_THAT(file->warnings, ElementsAre("promises 5 nodes; 2 of them are on no edge and are left out",
                                            "promises 4 edges and holds 3; it may be cut off"));
}

struct Bad {
    const char* name;
    const char* text;
    const char* at;
    const char* message;
};
class BadGraphFile : public testing::TestWithParam<Bad> {};
INSTANTIATE_TEST_SUITE_P(
    , BadGraphFile,
    testing::Values(
        Bad{"WrongFromOneAndFromZero", "3 2\n1\n0 2\n0\n", "f:2", "task 1 is its own neighbour"},
        Bad{"Json", " {\"format\":\"zbs-model/1\"}", "f:1", "--model"},
        Bad{"Dense", "%%MatrixMarket matrix array real general\n", "f:1", "by coordinates"},
        Bad{"Complex", "%%MatrixMarket matrix coordinate complex general\n", "f:1", "'complex'"},
        Bad{"Skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n", "f:1", "'skew-symmetric'"},
        Bad{"NoSize", "%%MatrixMarket matrix coordinate real general\n% c\n", "f:2", "is missing"},
        Bad{"NotSquare", "%%MatrixMarket matrix coordinate real general\n2 3 1\n", "f:2", "2 rows and 3 columns"},
        Bad{"CutOff", "%%MatrixMarket matrix coordinate real general\n3 3 2\n2 1 1\n", "f:3", "holds 1 of 2 entries"},
        Bad{"Outside", "%%MatrixMarket matrix coordinate real general\n3 3 1\n4 1 1\n", "f:3", "they are 1..3"},
        Bad{"FromZero", "%%MatrixMarket matrix coordinate real general\n3 3 1\n0 1 1\n", "f:3", "they are 1..3"},
        Bad{"NoValue", "%%MatrixMarket matrix coordinate real general\n3 3 1\n2 1\n", "f:3", "the value is missing"},
        Bad{"Negative", "%%MatrixMarket matrix coordinate real general\n3 3 1\n2 1 -4\n", "f:3", "'pattern'"},
        Bad{"Huge", "%%MatrixMarket matrix coordinate pattern general\n9999999 9999999 0\n", "f:2", "9999999 tasks"},
        Bad{"TooLarge", "%%MatrixMarket matrix coordinate pattern general\n99999999 99999999 0\n", "f:2", "more than"},
        Bad{"SnapWord", "# Nodes: 3 Edges: 2\n0 x\n", "f:2", "\"x\" is no node"},
        Bad{"SnapIdTooLarge", "# Nodes: 3 Edges: 2\n0 5000000000\n", "f:2", "number the nodes from 0"},
        Bad{"SnapFourFields", "# Nodes: 3 Edges: 2\n0 1 2 3\n", "f:2", "behind its end"},
        Bad{"SnapWeight", "# FromNodeId ToNodeId\n0 1 -4\n", "f:2", "2^53, or leave the weights out"},
        Bad{"EdgesWithoutAHead", "1 2\n2 3\n3 1\n", "f:2", "begin the file with the line '# FromNodeId ToNodeId'"},
        Bad{"EdgesBehindAHash", "# mine\n0 2 7\n2 3 8\n", "f:2", "begin the file with the line"},
        Bad{"SnapEmpty", "# Nodes: 3 Edges: 2\n", "f:1", "holds no edge"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_P(BadGraphFile, IsRefusedWithTheLine) {
    const Result<GraphFile> file = read_graph_file(GetParam().text, "f");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().pointer, GetParam().at) << file.error();
    EXPECT_THAT(file.error().message, HasSubstr(GetParam().message));
}

}  // namespace
}  // namespace zbs::formats
