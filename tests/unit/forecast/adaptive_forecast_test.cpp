#include "algorithms/forecast/adaptive_forecast.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "tests/unit/forecast/series.hpp"

namespace zbs::forecast {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Duration kPeriod = 10s;

AdaptiveForecast watch(const test::Series& series) {
    AdaptiveForecast forecast = AdaptiveForecast::make(kPeriod).value();
    Time at{};
    for (const double value : series) EXPECT_TRUE(forecast.observe(at += kPeriod, value));
    return forecast;
}

/// All that a forecast shows.
auto seen(const AdaptiveForecast& forecast) {
    using Errors = std::optional<MeanErrors>;
    std::vector<std::tuple<std::string_view, double, Errors, Errors>> all;
    for (const Standing& one : forecast.standings())
        all.emplace_back(one.forecaster, one.next, one.recent, one.all_time);
    for (const Loss loss : kLosses)
        if (const auto best = forecast.forecast(loss))
            all.emplace_back(best->forecaster, best->value, best->recent, best->all_time);
    return all;
}

/// Both show the same now, and after the values that follow.
void expect_equal(AdaptiveForecast& a, AdaptiveForecast& b) {
    EXPECT_EQ(seen(a), seen(b));
    for (int i = 0; i < 5; ++i) {
        for (AdaptiveForecast* forecast : {&a, &b}) ASSERT_TRUE(forecast->observe(Time{2h + i * kPeriod}, i));
        EXPECT_EQ(seen(a), seen(b));
    }
}

test::Series draw(std::string_view name, std::uint64_t seed) {
    for (const test::Synthetic& kind : test::synthetic_series())
        if (kind.name == name) return kind.draw(seed);
    ADD_FAILURE() << "no series " << name;
    return {};
}

TEST(AdaptiveForecast, BeforeTheFirstValueThereIsNone) {
    const AdaptiveForecast forecast = AdaptiveForecast::make(kPeriod).value();
    EXPECT_FALSE(forecast.forecast(Loss::kAbsolute));
    EXPECT_TRUE(forecast.standings().empty());
}

TEST(AdaptiveForecast, FirstValueIsForecastWithoutAnError) {
    const Forecast forecast = *watch({0.5}).forecast(Loss::kSquared);
    EXPECT_EQ(forecast.value, 0.5);
    EXPECT_FALSE(forecast.recent);
    EXPECT_FALSE(forecast.all_time);
}

TEST(AdaptiveForecast, ErrorsAreThoseOfTheAnswersThatWereGiven) {
    // 1 was forecast and 4 came; the second forecast is known by asking.
    AdaptiveForecast forecast = watch({1, 4});
    const double second = forecast.forecast(Loss::kAbsolute)->value;
    EXPECT_EQ(forecast.forecast(Loss::kAbsolute)->recent, (MeanErrors{3, 3}));
    ASSERT_TRUE(forecast.observe(Time{3 * kPeriod}, 6));
    const Forecast found = *forecast.forecast(Loss::kAbsolute);
    const double error = std::abs(6 - second);
    EXPECT_DOUBLE_EQ(found.all_time->absolute, (3 + error) / 2);
    EXPECT_DOUBLE_EQ(found.all_time->root_mean_square, std::sqrt((9 + error * error) / 2));
    EXPECT_NEAR(found.recent->absolute, (kFade * 3 + error) / (kFade + 1), 1e-12);
}

TEST(AdaptiveForecast, ToldErrorIsThatOfTheNextThousandValues) {
    for (const char* kind : {"white_noise", "autoregressive_0.9", "alternating", "daily_cycle"}) {
        const test::Series series = draw(kind, 42);
        AdaptiveForecast forecast = watch({series.begin(), series.begin() + 2'000});
        const double reported = forecast.forecast(Loss::kAbsolute)->recent->absolute;
        double sum = 0;
        for (int i = 2'000; i < 3'000; ++i) {
            sum += std::abs(series[i] - forecast.forecast(Loss::kAbsolute)->value);
            ASSERT_TRUE(forecast.observe(Time{(i + 1) * kPeriod}, series[i]));
        }
        // Means of about 500 and 1,000 absolute errors, whose deviation is 0.76 of their mean: five standard errors.
        EXPECT_NEAR(reported / (sum / 1'000), 1, 5 * 0.76 * std::sqrt(1 / 500.0 + 1 / 1'000.0)) << kind;
    }
}

TEST(AdaptiveForecast, NamesTheForecasterThatFits) {
    EXPECT_EQ(watch(draw("steps_exact", 3)).forecast(Loss::kAbsolute)->forecaster, "last_value");
    EXPECT_EQ(watch(test::Series(50, 0.25)).forecast(Loss::kSquared)->forecaster, "last_value");
}

TEST(AdaptiveForecast, PeriodThatIsNotPositiveIsRefused) {
    for (const Duration period : {Duration{0}, Duration{-1}}) {
        const auto made = AdaptiveForecast::make(period);
        ASSERT_FALSE(made);
        EXPECT_THAT(made.error().message, HasSubstr("say how often values come"));
    }
}

TEST(AdaptiveForecast, BadValuesAreRefusedAndChangeNothing) {
    AdaptiveForecast forecast = watch({1, 2, 3}), untouched = watch({1, 2, 3});
    const double inf = std::numeric_limits<double>::infinity();
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), inf, -inf, 1.1e100, -1.1e100}) {
        const auto observed = forecast.observe(Time{1h}, bad);
        ASSERT_FALSE(observed) << bad;
        EXPECT_EQ(observed.error().code, ErrorCode::kInvalidArgument);
        EXPECT_THAT(observed.error().message, HasSubstr("at 3600000000 us is not a number within +-1e+100"));
        EXPECT_THAT(observed.error().message, HasSubstr("leave it out"));
    }
    expect_equal(forecast, untouched);
}

TEST(AdaptiveForecast, TimeThatDoesNotAdvanceIsRefusedAndChangesNothing) {
    AdaptiveForecast forecast = watch({1, 2, 3}), untouched = watch({1, 2, 3});
    for (const Time bad : {Time{3 * kPeriod}, Time{3 * kPeriod - 1us}, Time{}, Time::min()}) {
        const auto observed = forecast.observe(bad, 4);
        ASSERT_FALSE(observed);
        EXPECT_THAT(observed.error().message, HasSubstr("is not later than the one before, at 30000000 us"));
        EXPECT_THAT(observed.error().message, HasSubstr("begin a new forecast"));
    }
    expect_equal(forecast, untouched);
}

TEST(AdaptiveForecast, EqualSeriesGiveEqualForecasts) {
    for (const test::Synthetic& kind : test::synthetic_series()) {
        const test::Series series = kind.draw(5);
        EXPECT_EQ(seen(watch(series)), seen(watch(series))) << kind.name;
    }
}

TEST(AdaptiveForecast, ScaledSeriesHasScaledForecasts) {
    test::Series series = draw("regimes", 6);
    const AdaptiveForecast one = watch(series);
    for (double& value : series) value *= 4;
    const AdaptiveForecast other = watch(series);
    for (const Loss loss : kLosses) {
        EXPECT_EQ(other.forecast(loss)->value, 4 * one.forecast(loss)->value);
        EXPECT_EQ(other.forecast(loss)->forecaster, one.forecast(loss)->forecaster);
        EXPECT_EQ(other.forecast(loss)->recent->absolute, 4 * one.forecast(loss)->recent->absolute);
    }
}

}  // namespace
}  // namespace zbs::forecast
