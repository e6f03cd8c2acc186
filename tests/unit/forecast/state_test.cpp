#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "algorithms/forecast/adaptive_forecast.hpp"
#include "tests/unit/forecast/series.hpp"

namespace zbs::forecast {
namespace {

using namespace std::chrono_literals;

/// Of a series with gaps, from value `begin` to `end`.
void feed(AdaptiveForecast& forecast, const test::Series& series, int begin, int end) {
    for (int i = begin; i < end; ++i) ASSERT_TRUE(forecast.observe(Time{(i + i / 100 * 7) * Duration{10s}}, series[i]));
}

TEST(ForecastState, RestoredForecastGoesOnAsIfNothingHadHappened) {
    for (const test::Synthetic& kind : test::synthetic_series()) {
        const test::Series series = kind.draw(8);
        AdaptiveForecast whole = AdaptiveForecast::make(10s).value();
        feed(whole, series, 0, 900);
        for (const int cut : {0, 1, 2, 20, 700}) {
            SCOPED_TRACE(testing::Message() << kind.name << ", cut after " << cut);
            AdaptiveForecast first = AdaptiveForecast::make(10s).value();
            feed(first, series, 0, cut);
            AdaptiveForecast second = AdaptiveForecast::restore(first.state()).value();
            EXPECT_EQ(second.state(), first.state());
            feed(second, series, cut, 900);
            EXPECT_EQ(second.state(), whole.state());
            for (const Loss loss : kLosses) EXPECT_EQ(second.forecast(loss)->value, whole.forecast(loss)->value);
        }
    }
}

TEST(ForecastState, DamagedStateIsRefusedWithItsPlace) {
    struct Damage {
        const char* says;
        std::function<void(AdaptiveState&)> make;
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<Damage> damages{
        {"period is not positive", [](AdaptiveState& s) { s.period = 0s; }},
        {"values scored", [](AdaptiveState& s) { s.scored = s.observed; }},
        {"values scored", [](AdaptiveState& s) { s.observed = -1; }},
        {"has 22 forecasters", [](AdaptiveState& s) { s.singles.pop_back(); }},
        {"forecaster 0 is not last_value", [](AdaptiveState& s) { s.singles[0].name = "oracle"; }},
        {"errors of mean_5", [=](AdaptiveState& s) { s.singles[2].errors.squared = nan; }},
        {"errors of mean_5", [](AdaptiveState& s) { s.singles[2].errors.absolute = -1; }},
        {"errors of its answers", [](AdaptiveState& s) { s.choices[1].blend = -1; }},
    };
    AdaptiveForecast forecast = AdaptiveForecast::make(10s).value();
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(forecast.observe(Time{i * Duration{10s}}, i % 7));
    for (const Damage& damage : damages) {
        AdaptiveState state = forecast.state();
        damage.make(state);
        const auto restored = AdaptiveForecast::restore(state);
        ASSERT_FALSE(restored) << damage.says;
        EXPECT_THAT(restored.error().message, testing::HasSubstr(damage.says));
        EXPECT_THAT(restored.error().message, testing::HasSubstr("begin with a new forecast"));
    }
}

TEST(ForecastState, EveryForecasterRefusesMemoryOfAnotherLengthOrWithBadNumbers) {
    AdaptiveForecast forecast = AdaptiveForecast::make(10s).value();
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(forecast.observe(Time{i * Duration{10s}}, i % 7));
    const AdaptiveState good = forecast.state();
    for (std::size_t single = 0; single < good.singles.size(); ++single) {
        SCOPED_TRACE(good.singles[single].name);
        const auto refused = [&](const std::vector<double>& memory) {
            AdaptiveState state = good;
            state.singles[single].memory = memory;
            return !AdaptiveForecast::restore(state);
        };
        const std::vector<double>& memory = good.singles[single].memory;
        EXPECT_FALSE(refused(memory));
        EXPECT_TRUE(refused({}));
        EXPECT_TRUE(refused(std::vector<double>(100, 1.0)));
        for (std::size_t i = 0; i < memory.size(); ++i) {
            for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), -1e300}) {
                std::vector<double> damaged = memory;
                damaged[i] = bad;
                EXPECT_TRUE(refused(damaged)) << "number " << i << " is " << bad;
            }
        }
    }
}

}  // namespace
}  // namespace zbs::forecast
