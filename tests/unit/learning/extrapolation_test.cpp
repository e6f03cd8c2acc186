#include "algorithms/learning/extrapolation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "algorithms/learning/model_error.hpp"
#include "tests/support/graphs.hpp"
#include "tests/support/made_graph.hpp"
#include "tests/unit/learning/kernels.hpp"

namespace zbs::learning {
namespace {

using testing::HasSubstr;

std::vector<TaskGraph> graphs_of(const test::Kernel& kernel, const std::vector<int>& sizes, double noise = 0) {
    std::vector<TaskGraph> graphs;
    for (const int ranks : sizes) graphs.push_back(test::noisy(kernel.graph(ranks), noise, 7 + graphs.size()));
    return graphs;
}

Extrapolation extrapolate(const std::vector<TaskGraph>& known, int wanted, const ExtrapolationOptions& options = {}) {
    std::vector<const TaskGraph*> pointers;
    for (const TaskGraph& graph : known) pointers.push_back(&graph);
    return extrapolate_profile(pointers, wanted, options);
}

struct Known {
    test::Kernel kernel;
    std::vector<int> sizes;
    int wanted;
    double most_apart;        ///< traffic_difference of the predicted and the true graph
    double least_confidence;  ///< of its report
    const char* says;
};
void PrintTo(const Known& known, std::ostream* out) { *out << known.kernel.name << " on " << known.wanted; }

class KnownKernelTest : public testing::TestWithParam<Known> {};

TEST_P(KnownKernelTest, IsPredicted) {
    const Known& c = GetParam();
    const Extrapolation found = extrapolate(graphs_of(c.kernel, c.sizes), c.wanted);
    ASSERT_TRUE(found.graph) << found.how;
    const TaskGraph truth = c.kernel.graph(c.wanted);
    const double apart = traffic_difference(*found.graph, truth);
    std::printf("%-14s on %3d: %.4f apart, confidence %.2f: %s\n", c.kernel.name.c_str(), c.wanted, apart,
                found.confidence, found.how.c_str());
    EXPECT_LE(apart, c.most_apart);
    EXPECT_GE(found.confidence, c.least_confidence);
    EXPECT_THAT(found.how, HasSubstr(c.says));
}

TEST_P(KnownKernelTest, IsPredictedFromNoisyRuns) {
    const Known& c = GetParam();
    const Extrapolation found = extrapolate(graphs_of(c.kernel, c.sizes, 0.1), c.wanted);
    ASSERT_TRUE(found.graph) << found.how;
    EXPECT_LE(traffic_difference(*found.graph, c.kernel.graph(c.wanted)), c.most_apart + 0.03) << found.how;
}

// Exact where only the known law is at work; else as far as the law of MPI_Dims_create's jumps allows.
INSTANTIATE_TEST_SUITE_P(, KnownKernelTest,
                         testing::Values(Known{test::chain(), {8, 16}, 64, 1e-6, 0.65, "chain"},
                                         Known{test::ring(), {8, 32}, 12, 1e-6, 0.7, "ring"},
                                         Known{test::plane(), {12, 32}, 64, 1e-6, 0.7, "2-D stencil (balanced)"},
                                         Known{test::plane(), {16, 36, 64}, 128, 1e-6, 0.7, "2-D stencil (balanced)"},
                                         Known{test::plane(), {24, 64}, 12, 1e-6, 0.7, "2-D stencil (balanced)"},
                                         Known{test::plane_of_nine(), {24, 64}, 128, 1e-3, 0.7, "2-D stencil"},
                                         Known{test::torus(), {24, 64}, 128, 1e-6, 0.7, "periodic"},
                                         Known{test::box(), {27, 64}, 216, 1e-6, 0.7, "3-D stencil"},
                                         Known{test::box_of_27(), {24, 64}, 125, 1e-3, 0.7, "3-D stencil"},
                                         Known{test::strips(), {16, 32, 40}, 64, 1e-6, 0.6, "rows of 4"},
                                         Known{test::transposition(), {8, 16}, 64, 1e-6, 0.7, "all pairs"},
                                         Known{test::broadcast(), {12, 48}, 100, 1e-6, 0.7, "binomial tree"},
                                         Known{test::gathering(), {16, 64}, 128, 0.02, 0.7, "binomial tree"},
                                         Known{test::butterfly(), {16, 32}, 128, 1e-6, 0.7, "hypercube"},
                                         Known{test::master_worker(), {8, 16}, 64, 1e-6, 0.7, "master on rank 0"},
                                         Known{test::pencils(), {16, 64}, 256, 0.02, 0.7, "rows"},
                                         Known{test::plane_with_sum(), {16, 64}, 128, 0.01, 0.7, "2-D stencil"}),
                         [](const auto& param_info) {
                             return param_info.param.kernel.name + "_on_" + std::to_string(param_info.param.wanted);
                         });

TEST(Extrapolation, OneKnownSizeIsScaledByWhatIsAssumed) {
    struct Case {
        test::Kernel kernel;
        int size, wanted;
        double most_apart;
    };
    for (const Case& c : {Case{test::plane(), 32, 128, 1e-6}, Case{test::box(), 64, 216, 1e-6},
                          Case{test::ring(), 32, 48, 1e-6}, Case{test::transposition(), 16, 32, 1e-6},
                          Case{test::broadcast(), 24, 64, 1e-6}, Case{test::butterfly(), 32, 64, 1e-6}}) {
        const Extrapolation found = extrapolate(graphs_of(c.kernel, {c.size}), c.wanted);
        ASSERT_TRUE(found.graph) << c.kernel.name << ": " << found.how;
        EXPECT_LE(traffic_difference(*found.graph, c.kernel.graph(c.wanted)), c.most_apart) << c.kernel.name;
        EXPECT_THAT(found.how, HasSubstr("assumed for the same problem")) << c.kernel.name;
        EXPECT_LT(found.confidence, 0.75);
    }
}

TEST(Extrapolation, UnderWeakScalingBordersKeepTheirVolume) {
    const std::vector<TaskGraph> known = graphs_of(test::plane(), {64});
    const Extrapolation found = extrapolate(known, 256, {.scaling = Scaling::kWeak});
    ASSERT_TRUE(found.graph) << found.how;
    EXPECT_NEAR(found.graph->edges()[0].bytes, known[0].edges()[0].bytes, 1);
    EXPECT_THAT(found.how, HasSubstr("grows with the ranks"));
}

TEST(Extrapolation, NoPatternNoPrediction) {
    const Extrapolation found = extrapolate(graphs_of(test::random_pairs(), {32, 64}), 128);
    EXPECT_FALSE(found.graph) << found.how;
    EXPECT_THAT(found.how, HasSubstr("no known pattern fits"));
    EXPECT_GT(found.misfit, 0.3);
}

TEST(Extrapolation, PatternsThatLookTheSameOnFewRanksAreNotGuessed) {
    // Two ranks that talk are a ring, a tree, a master and all pairs; four that all do are all but a chain.
    for (const int size : {2, 4}) {
        const Extrapolation found = extrapolate(graphs_of(test::transposition(), {size}), 64);
        EXPECT_FALSE(found.graph) << found.how;
        EXPECT_THAT(found.how, HasSubstr("too uncertain")) << size;
    }
}

TEST(Extrapolation, AKnownSizeIsTakenAsItIs) {
    const std::vector<TaskGraph> known = graphs_of(test::random_pairs(), {8, 16});
    const Extrapolation found = extrapolate(known, 16);
    EXPECT_EQ(found.graph, known[1]);
    EXPECT_EQ(found.confidence, 1);
}

TEST(Extrapolation, WithoutRunsThereIsNone) { EXPECT_FALSE(extrapolate({}, 8).graph); }

TEST(Extrapolation, ComputeTimesFollowTheirOwnLaw) {
    const Extrapolation found = extrapolate(graphs_of(test::plane(), {16, 64}), 128);
    ASSERT_TRUE(found.graph);
    for (const double seconds : found.graph->compute()) EXPECT_NEAR(seconds, 1.0 / 128, 1e-9);
}

TEST(Extrapolation, MoreEdgesThanAllowedAreRefused) {
    const Extrapolation found = extrapolate(graphs_of(test::transposition(), {8, 16}), 128, {.most_edges = 5'000});
    EXPECT_FALSE(found.graph);
    EXPECT_THAT(found.how, HasSubstr("more than 5000 pairs"));
}

TEST(Extrapolation, ThirdSizeThatDoesNotFitLowersTheConfidence) {
    std::vector<TaskGraph> known = graphs_of(test::plane(), {16, 36});
    known.push_back(test::ring().graph(64));
    const Extrapolation found = extrapolate(known, 128);
    EXPECT_FALSE(found.graph) << found.how;
}

}  // namespace
}  // namespace zbs::learning
