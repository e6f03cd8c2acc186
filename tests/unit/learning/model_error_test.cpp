#include "algorithms/learning/model_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "algorithms/base/rng.hpp"

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
    EXPECT_FALSE(error.bounds(10));
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

TEST(ModelError, BoundsHoldNineteenOfTwentyRuns) {
    Rng rng(5);
    ModelError error;
    int inside = 0, asked = 0;
    for (int i = 0; i < 5'000; ++i) {
        double normal = -6;  // of twelve uniform ones
        for (int k = 0; k < 12; ++k) normal += rng.uniform();
        const double measured = 100 * std::exp(0.1 + 0.2 * normal);
        if (const auto bounds = error.bounds(100); bounds && i > 50) {
            ++asked;
            inside += bounds->first <= measured && measured <= bounds->second ? 1 : 0;
        }
        ASSERT_TRUE(error.observe(100, measured));
    }
    EXPECT_NEAR(static_cast<double>(inside) / asked, 0.93, 0.03);  // about ten runs count, so a little under 0.954
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

TEST(ModelError, GoesOnFromItsState) {
    ModelError whole = after({{10, 11}, {10, 13}}), second = ModelError::restore(whole.state()).value();
    ASSERT_TRUE(whole.observe(5, 6));
    ASSERT_TRUE(second.observe(5, 6));
    EXPECT_EQ(second.state(), whole.state());
}

TEST(ModelError, ImpossibleStatesAreRefused) {
    const ModelError::State good = after({{10, 11}}).state();
    for (const auto damage : std::vector<void (*)(ModelError::State&)>{
             [](auto& s) { s.count = -1; }, [](auto& s) { s.count = 0; }, [](auto& s) { s.weight = 11; },
             [](auto& s) { s.mean = 99; }, [](auto& s) { s.mean = std::nan(""); }, [](auto& s) { s.variance = -1; },
             [](auto& s) { s.last = -99; }}) {
        ModelError::State state = good;
        damage(state);
        EXPECT_FALSE(ModelError::restore(state));
    }
}

}  // namespace
}  // namespace zbs::learning
