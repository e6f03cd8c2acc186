#include "algorithms/base/random_variates.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace zbs {
namespace {

constexpr int kDraws = 200'000;

struct Sample {
    double mean = 0, second = 0, third = 0;
};
template <class Draw>
Sample sample(std::uint64_t seed, Draw&& draw) {
    Rng rng(seed);
    Sample sums;
    for (int i = 0; i < kDraws; ++i) {
        const double x = draw(rng);
        sums.mean += x / kDraws;
        sums.second += x * x / kDraws;
        sums.third += x * x * x / kDraws;
    }
    return sums;
}

// Bounds are five standard errors of the estimate.
TEST(RandomVariates, ExponentialHasMeanAndVarianceOne) {
    const Sample found = sample(1, [](Rng& rng) { return draw_exponential(rng); });
    EXPECT_NEAR(found.mean, 1, 5 * std::sqrt(1.0 / kDraws));
    EXPECT_NEAR(found.second, 2, 5 * std::sqrt(20.0 / kDraws));
}

TEST(RandomVariates, NormalHasNoMeanNoSkewAndVarianceOne) {
    const Sample found = sample(2, [](Rng& rng) { return draw_normal(rng); });
    EXPECT_NEAR(found.mean, 0, 5 * std::sqrt(1.0 / kDraws));
    EXPECT_NEAR(found.second, 1, 5 * std::sqrt(2.0 / kDraws));
    EXPECT_NEAR(found.third, 0, 5 * std::sqrt(15.0 / kDraws));
}

TEST(RandomVariates, GammaHasItsMeanAndVariance) {
    for (const double shape : {0.1, 0.7, 1.0, 4.2, 639.1}) {
        SCOPED_TRACE(shape);
        const Sample found = sample(3, [&](Rng& rng) { return draw_gamma(rng, shape); });
        EXPECT_NEAR(found.mean, shape, 5 * std::sqrt(shape / kDraws));
        // The variance of a squared deviation is that of the fourth central moment, 3 shape^2 + 6 shape.
        EXPECT_NEAR(found.second - found.mean * found.mean, shape,
                    5 * std::sqrt((2 * shape * shape + 6 * shape) / kDraws));
    }
}

TEST(RandomVariates, GammaDistributionIsThatOfTheDraws) {
    for (const double shape : {0.5, 6.1271, 40.0}) {
        for (const double at : {0.3, 0.9, 1.0, 1.5}) {
            SCOPED_TRACE(testing::Message() << "shape " << shape << " at " << at << " means");
            const double expected = gamma_distribution(at * shape, shape);
            const double found = sample(4, [&](Rng& rng) { return draw_gamma(rng, shape) <= at * shape ? 1 : 0; }).mean;
            EXPECT_NEAR(found, expected, 5 * std::sqrt(0.25 / kDraws));
        }
    }
}

TEST(RandomVariates, GammaDistributionHasItsClosedForms) {
    for (const double x : {0.1, 1.0, 3.0, 10.0, 30.0}) {
        EXPECT_NEAR(gamma_distribution(x, 1), 1 - std::exp(-x), 1e-13);
        EXPECT_NEAR(gamma_distribution(x, 2), 1 - std::exp(-x) * (1 + x), 1e-13);
        EXPECT_NEAR(gamma_distribution(x, 0.5), std::erf(std::sqrt(x)), 1e-13);
    }
    EXPECT_EQ(gamma_distribution(0, 3), 0);
    EXPECT_EQ(gamma_distribution(-1, 3), 0);
    EXPECT_NEAR(gamma_distribution(1e6, 3), 1, 1e-15);
}

TEST(HyperErlang, DrawsHaveItsMoments) {
    for (const HyperErlang variable : {HyperErlang{0.3, 0.01, 2, 1}, HyperErlang{0.9, 1, 0.1, 3}}) {
        SCOPED_TRACE(testing::Message() << testing::PrintToString(variable));
        const Sample found = sample(5, [&](Rng& rng) { return variable.draw(rng); });
        const double m1 = variable.moment(1), m2 = variable.moment(2);
        EXPECT_NEAR(found.mean, m1, 5 * std::sqrt((m2 - m1 * m1) / kDraws));
        EXPECT_NEAR(found.second, m2, 0.05 * m2);
        EXPECT_NEAR(found.third, variable.moment(3), 0.15 * variable.moment(3));
    }
}

TEST(HyperErlang, AFitHasTheMomentsItWasMadeFor) {
    Rng rng(6);
    for (int i = 0; i < 2000; ++i) {
        SCOPED_TRACE(i);
        const HyperErlang made{rng.uniform(), std::exp(8 * rng.uniform() - 12), std::exp(8 * rng.uniform() - 12),
                               1 + static_cast<int>(rng.below(12))};
        const Result<HyperErlang> found = HyperErlang::fit({made.moment(1), made.moment(2), made.moment(3)});
        ASSERT_TRUE(found) << found.error();
        EXPECT_LE(found->order, made.order);
        for (int k = 1; k <= 3; ++k)
            EXPECT_NEAR(found->moment(k) / made.moment(k), 1, 1e-6)
                << testing::PrintToString(made) << testing::PrintToString(*found);
    }
}

TEST(HyperErlang, GammaMomentsCanBeFittedForEveryVariation) {
    for (const double cv : {0.05, 0.3, 0.5, 0.7, 1.0, 1.001, 2.0, 10.0}) {
        SCOPED_TRACE(cv);
        const Result<HyperErlang> found = HyperErlang::fit_gamma(3600, cv);
        ASSERT_TRUE(found) << found.error();
        EXPECT_NEAR(found->mean(), 3600, 1e-6);
        EXPECT_NEAR(std::sqrt(found->moment(2) / 3600 / 3600 - 1), cv, 1e-6);
        EXPECT_EQ(found->order, static_cast<int>(std::ceil(1 / cv / cv - 1e-9)));
    }
}

TEST(HyperErlang, MomentsThatNoVariableHasAreRefused) {
    for (const auto& [moments, what] :
         {std::pair{std::array{1.0, 0.9, 1.0}, "a second moment below the squared mean"},
          std::pair{std::array{1.0, 3.0, 8.9}, "a third moment below Cauchy's bound"},
          std::pair{std::array{1.0, 1.0, 1.0}, "a constant"}, std::pair{std::array{0.0, 1.0, 1.0}, "no mean"},
          std::pair{std::array{1.0, -1.0, 1.0}, "a negative moment"}}) {
        const Result<HyperErlang> found = HyperErlang::fit(moments);
        ASSERT_FALSE(found) << what << testing::PrintToString(*found);
        EXPECT_EQ(found.error().code, ErrorCode::kInvalidArgument);
    }
    EXPECT_FALSE(HyperErlang::make(1.5, 1, 1, 1));
    EXPECT_FALSE(HyperErlang::make(0.5, 0, 1, 1));
    EXPECT_FALSE(HyperErlang::make(0.5, 1, 1, 0));
    EXPECT_FALSE(HyperErlang::make(0.5, 1, 1, HyperErlang::kMaxOrder + 1));
}

}  // namespace
}  // namespace zbs
