#include "algorithms/learning/model_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace zbs::learning {
namespace {

ModelError after(const std::vector<std::pair<double, double>>& predicted_and_measured) {
    ModelError error;
    for (const auto& [predicted, measured] : predicted_and_measured) EXPECT_TRUE(error.observe(predicted, measured));
    return error;
}

TEST(ModelError, WithoutRunsItClaimsNothing) {
    const ModelError error;
    EXPECT_EQ(error.mean_relative_error(), 0);
    EXPECT_EQ(error.spread(), 1);
}

TEST(ModelError, LongerThanPredictedIsPositive) {
    EXPECT_NEAR(after({{10, 12}}).mean_relative_error(), 0.2, 1e-12);
    EXPECT_NEAR(after({{10, 8}}).last_relative_error(), -0.2, 1e-12);
    EXPECT_NEAR(after({{10, 20}, {10, 5}}).last_relative_error(), -0.5, 1e-12);
}

TEST(ModelError, IsTheFadedMeanAndDeviationByHand) {
    const double fade = ModelError::kFade, a = std::log(1.1), b = std::log(0.7), c = std::log(1.5);
    const double weights[] = {fade * fade, fade, 1}, errors[] = {a, b, c};
    double sum = 0, mean = 0, variance = 0;
    for (int i = 0; i < 3; ++i) sum += weights[i], mean += weights[i] * errors[i];
    mean /= sum;
    for (int i = 0; i < 3; ++i) variance += weights[i] * (errors[i] - mean) * (errors[i] - mean) / sum;
    const ModelError error = after({{10, 11}, {20, 14}, {2, 3}});
    EXPECT_NEAR(error.state().mean, mean, 1e-12);
    EXPECT_NEAR(error.state().variance, variance, 1e-12);
    EXPECT_NEAR(error.spread(), std::exp(std::sqrt(variance)), 1e-12);
}

TEST(ModelError, ImpossibleTimesAreRefusedAndChangeNothing) {
    const double infinity = std::numeric_limits<double>::infinity();
    ModelError error = after({{10, 11}});
    const ModelError::State before = error.state();
    for (const auto& [predicted, measured] :
         {std::pair{0.0, 1.0}, {1.0, 0.0}, {-1.0, 1.0}, {infinity, 1.0}, {1.0, std::nan("")}})
        EXPECT_FALSE(error.observe(predicted, measured)) << predicted << ", " << measured;
    EXPECT_EQ(error.state(), before);
}

TEST(ModelError, AbsurdRunsAreBounded) {
    const ModelError error = after({{1e-300, 1e300}});
    EXPECT_NEAR(error.state().mean, std::log(ModelError::kMaxRatio), 1e-9);
}

}  // namespace
}  // namespace zbs::learning
