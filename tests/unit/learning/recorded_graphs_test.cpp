#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "algorithms/formats/metis_graph.hpp"
#include "algorithms/learning/extrapolation.hpp"
#include "algorithms/learning/model_error.hpp"
#include "tests/support/source_folder.hpp"

// Communication graphs of real programs (../shared/data/mapping beside the repository), each on one number of ranks.
// What two sources have of one program differs in input and scale, so there pairs are compared and not volumes.

namespace zbs::learning {
namespace {

std::optional<TaskGraph> recorded(const std::string& name) {
    std::ifstream file(zbs::test::source_folder() + "/../shared/data/mapping/" + name + ".graph");
    if (!file) return {};
    std::stringstream text;
    text << file.rdbuf();
    Result<TaskGraph> graph = formats::read_metis_graph(text.str(), name);
    EXPECT_TRUE(graph) << graph.error();
    return *std::move(graph);
}

double bytes_on_pairs_of(const TaskGraph& graph, const TaskGraph& predicted) {
    double seen = 0;
    for (const TaskEdge& edge : graph.edges())
        for (const TaskGraph::Neighbour& neighbour : predicted.neighbours(edge.u))
            if (neighbour.task == edge.v) seen += edge.bytes;
    return seen / total_bytes(graph);
}

#define SKIP_WITHOUT(graph, name) \
    if (!(graph))                 \
    GTEST_SKIP() << "skipped: " << (name) << ".graph is not in ../shared/data/mapping beside the repository"

struct Recorded {
    const char *name, *pattern;
    double most_misfit;  ///< share of the bytes that the patterns do not explain
};
void PrintTo(const Recorded& program, std::ostream* out) { *out << program.name; }

class RecordedPatternTest : public testing::TestWithParam<Recorded> {};

TEST_P(RecordedPatternTest, IsRecognised) {
    const auto known = recorded(GetParam().name);
    SKIP_WITHOUT(known, GetParam().name);
    const TaskGraph* const graphs[] = {&*known};
    const Extrapolation found = extrapolate_profile(graphs, 2 * known->task_count());
    std::printf("%s: misfit %.4f, confidence %.2f, %s\n", GetParam().name, found.misfit, found.confidence,
                found.how.c_str());
    ASSERT_TRUE(found.graph) << found.how;
    EXPECT_LE(found.misfit, GetParam().most_misfit);
    EXPECT_THAT(found.how, testing::HasSubstr(GetParam().pattern));
}

INSTANTIATE_TEST_SUITE_P(, RecordedPatternTest,
                         testing::Values(Recorded{"lulesh_216", "3-D stencil (balanced)", 0.002},
                                         Recorded{"maplib_lulesh_64", "3-D stencil (balanced)", 0.002},
                                         Recorded{"npb_bt_a_256", "2-D stencil (balanced, periodic)", 0.002},
                                         Recorded{"npb_mg_a_128", "3-D stencil (balanced, periodic)", 0.002},
                                         Recorded{"maplib_amg_64", "3-D stencil (balanced)", 0.01},
                                         Recorded{"npb_cg_a_128", "hypercube in rows", 0.1},
                                         Recorded{"amg_256", "3-D stencil (balanced, longest last)", 0.14},
                                         Recorded{"hpcg_192", "3-D stencil (balanced)", 0.14}),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

class RecordedDisorderTest : public testing::TestWithParam<const char*> {};

TEST_P(RecordedDisorderTest, IsNotExtrapolated) {
    const auto known = recorded(GetParam());
    SKIP_WITHOUT(known, GetParam());
    const TaskGraph* const graphs[] = {&*known};
    const Extrapolation found = extrapolate_profile(graphs, 2 * known->task_count());
    EXPECT_FALSE(found.graph) << found.how;
}

INSTANTIATE_TEST_SUITE_P(, RecordedDisorderTest, testing::Values("miniamr_128", "minife_240", "maplib_btmz_64"),
                         [](const auto& param_info) { return std::string(param_info.param); });

/// The same pattern with this many bytes in all.
TaskGraph scaled(const TaskGraph& graph, double bytes) {
    std::vector<TaskEdge> edges(graph.edges().begin(), graph.edges().end());
    const double factor = bytes / total_bytes(graph);
    for (TaskEdge& edge : edges) edge.bytes *= factor;
    return TaskGraph::make({graph.compute().begin(), graph.compute().end()}, std::move(edges)).value();
}

TEST(RecordedGraphs, LuleshOnOneNumberOfRanksTellsWhoTalksOnTheOther) {
    const auto small = recorded("maplib_lulesh_64"), large = recorded("lulesh_216");
    SKIP_WITHOUT(small && large, "lulesh_216");
    for (const auto& [known, truth] : {std::pair{&*small, &*large}, std::pair{&*large, &*small}}) {
        const TaskGraph* const graphs[] = {known};
        const Extrapolation found = extrapolate_profile(graphs, truth->task_count(), {.scaling = Scaling::kWeak});
        ASSERT_TRUE(found.graph) << found.how;
        EXPECT_GE(bytes_on_pairs_of(*truth, *found.graph), 0.998);
        EXPECT_GE(bytes_on_pairs_of(*found.graph, *truth), 0.998);
        EXPECT_LE(traffic_difference(*truth, scaled(*found.graph, total_bytes(*truth))), 0.2)
            << "faces are larger beside edges in one of them";
    }
}

}  // namespace
}  // namespace zbs::learning
