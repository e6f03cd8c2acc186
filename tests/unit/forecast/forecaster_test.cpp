#include "algorithms/forecast/forecaster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "algorithms/base/random_variates.hpp"
#include "algorithms/forecast/window.hpp"
#include "tests/unit/forecast/series.hpp"

namespace zbs::forecast {
namespace {

/// What is predicted after each value.
test::Series predictions(Forecaster& forecaster, const test::Series& values) {
    test::Series all;
    for (const double value : values) {
        forecaster.observe(value);
        all.push_back(forecaster.next());
    }
    return all;
}

struct ByHand {
    const char* name;
    std::unique_ptr<Forecaster> (*make)();
    test::Series values, predicted;
};
void PrintTo(const ByHand& by_hand, std::ostream* out) { *out << by_hand.name; }

class ForecasterByHandTest : public testing::TestWithParam<ByHand> {};

TEST_P(ForecasterByHandTest, PredictsThese) {
    const auto forecaster = GetParam().make();
    const test::Series found = predictions(*forecaster, GetParam().values);
    ASSERT_EQ(found.size(), GetParam().predicted.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], GetParam().predicted[i], 1e-12) << "after " << i;
}

INSTANTIATE_TEST_SUITE_P(
    , ForecasterByHandTest,
    testing::Values(
        ByHand{"LastValue", make_last_value, {3, 1, 4}, {3, 1, 4}},
        ByHand{"RunningMean", make_running_mean, {3, 1, 5, 7}, {3, 2, 3, 4}},
        ByHand{"SlidingMean", [] { return make_sliding_mean(3); }, {3, 1, 5, 9, 1}, {3, 2, 3, 5, 5}},
        ByHand{"SlidingMedian", [] { return make_sliding_median(3); }, {3, 1, 9, 2, 8}, {3, 2, 3, 2, 8}},
        ByHand{"MedianOfAnEvenNumberIsTheMiddle", [] { return make_sliding_median(4); }, {4, 1, 9, 2}, {4, 2.5, 4, 3}},
        // 5 values, 0.3 x 5 = 1.5: the least and the greatest go.
        ByHand{"TrimmedMean", [] { return make_trimmed_mean(5, 0.3); }, {1, 2, 3, 6, 100}, {1, 1.5, 2, 2.5, 11.0 / 3}},
        // The mean of two values, then s + 0.5 (x - s).
        ByHand{"Smoothing", [] { return make_exponential_smoothing(0.5); }, {4, 2, 7, 1}, {4, 3, 5, 3}},
        // The mean of the first five, then s + 0.2 (x - s).
        ByHand{"SlowSmoothingBeginsAsAMean",
               [] { return make_exponential_smoothing(0.2); },
               {4, 2, 6, 8, 5, 10},
               {4, 3, 4, 5, 5, 6}},
        // Gain 0.5; after 10 it predicts 5. 14 came: 0.55 would have said 5.5, so 0.55 is taken: s = 5.5, then
        // 5.5 + 0.55 (14 - 5.5) = 10.175. 0 came: 0.5 would have said 9.75: s = 9.75, then 9.75 - 0.5 x 9.75.
        ByHand{"AdaptiveSmoothing", make_adaptive_smoothing, {0, 10, 14, 0}, {0, 5, 10.175, 4.875}},
        // Lengths 1..3. At 4 only one value is known. At 8 the window of 1 says 4, that of 2 says 3, and 4 is nearer:
        // it stays. At 5: 1 says 8, 2 says 6, so 2. At 7: 2 says 6.5 (1 says 5, 3 says 17/3): stays.
        ByHand{"AdaptiveMean", [] { return make_adaptive_mean(1, 3); }, {2, 4, 8, 5, 7}, {2, 4, 8, 6.5, 6}},
        // Lengths 1..3. At 3 the window of 1 says 9, that of 2 says 5, so 2. At 2: 2 says 6, 1 says 3, 3 says 3; equals
        // go to the shorter one.
        ByHand{"AdaptiveMedian", [] { return make_adaptive_median(1, 3); }, {1, 9, 3, 2}, {1, 9, 6, 2}},
        // 2: mean 1, no spread. 0: x(t-1) is 1 from the mean, x(t) -1, each weighs 1/3 beside nothing before: phi = -1;
        // the mean is 2/3, and 0 is 2/3 below, so 4/3.
        ByHand{"Autoregression", [] { return make_autoregression(100); }, {0, 2, 0}, {0, 1, 4.0 / 3}}),
    [](const auto& param_info) { return param_info.param.name; });

class EveryForecasterTest : public testing::Test {
  protected:
    static constexpr std::size_t kWarm = 2'000;

    static test::Series noise(std::uint64_t seed) {
        Rng rng(seed);
        test::Series values;
        double level = 0;
        for (std::size_t i = 0; i < kWarm; ++i) values.push_back((level = 0.7 * level + draw_normal(rng)));
        return values;
    }
};

TEST_F(EveryForecasterTest, ConstantSeriesHasNoError) {
    for (const double constant : {0.1, -1e9 / 3, 0.0, kMaxValue})
        for (const NamedForecaster& named : make_forecasters())
            for (const double predicted : predictions(*named.forecaster, test::Series(300, constant)))
                ASSERT_EQ(predicted, constant) << named.name;
}

TEST_F(EveryForecasterTest, ScaledSeriesHasScaledPredictions) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const test::Series values = noise(seed);
        test::Series scaled = values;
        for (double& value : scaled) value *= 1024;  // exact in binary
        auto one = make_forecasters(), other = make_forecasters();
        for (std::size_t i = 0; i < one.size(); ++i) {
            test::Series expected = predictions(*one[i].forecaster, values);
            for (double& value : expected) value *= 1024;
            EXPECT_EQ(predictions(*other[i].forecaster, scaled), expected) << one[i].name << ", seed " << seed;
        }
    }
}

TEST_F(EveryForecasterTest, ShiftedSeriesHasShiftedPredictions) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const test::Series values = noise(seed);
        test::Series shifted = values;
        for (double& value : shifted) value += 100;
        auto one = make_forecasters(), other = make_forecasters();
        for (std::size_t i = 0; i < one.size(); ++i) {
            const test::Series expected = predictions(*one[i].forecaster, values);
            const test::Series found = predictions(*other[i].forecaster, shifted);
            for (std::size_t k = 0; k < found.size(); ++k)
                ASSERT_NEAR(found[k], expected[k] + 100, 1e-9) << one[i].name << ", seed " << seed << ", value " << k;
        }
    }
}

TEST_F(EveryForecasterTest, StaysWithinWhatWasSeen) {
    const test::Series values = noise(7);
    const auto [least, most] = std::ranges::minmax(values);
    for (const NamedForecaster& named : make_forecasters()) {
        if (named.name == "autoregression") continue;  // may leave it, as its comment says
        for (const double predicted : predictions(*named.forecaster, values)) {
            ASSERT_GE(predicted, least) << named.name;
            ASSERT_LE(predicted, most) << named.name;
        }
    }
}

TEST_F(EveryForecasterTest, ValuesAtTheLimitKeepPredictionsFinite) {
    test::Series values;
    for (int i = 0; i < 500; ++i) values.push_back(i % 3 == 0 ? -kMaxValue : kMaxValue);
    for (const NamedForecaster& named : make_forecasters())
        for (const double predicted : predictions(*named.forecaster, values))
            ASSERT_TRUE(is_value(predicted / 4)) << named.name << ": " << predicted;
}

TEST(Autoregression, LearnsTheCorrelationOfNeighbours) {
    for (const double phi : {-0.6, 0.0, 0.5, 0.9}) {
        Rng rng(3);
        const auto forecaster = make_autoregression(1'000);
        double x = 0, mean = 0;
        for (int i = 1; i <= 20'000; ++i) {
            forecaster->observe(x = phi * x + draw_normal(rng));
            mean += std::max(1e-3, 1.0 / i) * (x - mean);
        }
        // Five standard errors of a correlation over the memory's effective 2,000 values.
        EXPECT_NEAR((forecaster->next() - mean) / (x - mean), phi, 5 * std::sqrt((1 - phi * phi) / 2'000)) << phi;
    }
}

}  // namespace
}  // namespace zbs::forecast
