#include <gtest/gtest.h>

#include "algorithms/forecast/adaptive_forecast.hpp"
#include "algorithms/forecast/forecaster.hpp"

namespace zbs::forecast {
namespace {

using namespace std::chrono_literals;

double after(std::unique_ptr<Forecaster> forecaster, const std::vector<double>& values, std::int64_t missing,
             double last) {
    for (const double value : values) forecaster->observe(value);
    forecaster->miss(missing);
    forecaster->observe(last);
    return forecaster->next();
}

TEST(Gap, PushesTheOldestOutOfWindowsAsValuesWould) {
    EXPECT_DOUBLE_EQ(after(make_sliding_mean(4), {1, 2, 3, 4}, 1, 8), 5);  // 3, 4, 8
    EXPECT_DOUBLE_EQ(after(make_sliding_mean(4), {1, 2, 3, 4}, 100, 8), 8);
    EXPECT_DOUBLE_EQ(after(make_sliding_mean(4), {1, 2}, 1, 9), 4);  // there was room
    EXPECT_DOUBLE_EQ(after(make_sliding_median(3), {1, 2, 3}, 2, 8), 8);
}

TEST(Gap, FadesTheSmoothedValueByThePeriodsThatPassed) {
    // Two missing: 1 - 0.5^3 of the difference.
    EXPECT_DOUBLE_EQ(after(make_exponential_smoothing(0.5), {8, 8, 8}, 2, 0), 1);
    EXPECT_DOUBLE_EQ(after(make_running_mean(), {8, 8, 8}, 1'000, 0), 6);
}

TEST(Gap, NothingIsLearntAcrossIt) {
    const auto with_gap = make_autoregression(100);
    for (const double value : {0.0, 3.0, 1.0, 2.0}) with_gap->observe(value);
    const double correlation = (with_gap->next() - 1.5) / (2 - 1.5);  // the mean is 1.5
    ASSERT_GT(correlation, -0.9);
    with_gap->miss(1);
    with_gap->observe(9);
    EXPECT_NEAR((with_gap->next() - 3) / (9 - 3), correlation, 1e-12);  // and now 3
}

TEST(Gap, LateValuesAreNotScored) {
    struct Case {
        Duration later;
        bool scored;
    };
    for (const Case& c : {Case{1us, true}, Case{10s, true}, Case{15s, true}, Case{15s + 1us, false}, Case{1h, false},
                          Case{Duration::max(), false}}) {
        AdaptiveForecast forecast = AdaptiveForecast::make(10s).value();
        ASSERT_TRUE(forecast.observe(Time{}, 1));
        ASSERT_TRUE(forecast.observe(Time{c.later}, 2));
        EXPECT_EQ(forecast.standings()[0].all_time.has_value(), c.scored) << c.later.count() << " us later";
    }
}

TEST(Gap, TimesFurtherApartThanADurationCanSayAreOneToo) {
    AdaptiveForecast forecast = AdaptiveForecast::make(1us).value();
    ASSERT_TRUE(forecast.observe(Time::min(), 1));
    ASSERT_TRUE(forecast.observe(Time::max(), 2));
    EXPECT_FALSE(forecast.standings()[0].all_time);
    EXPECT_FALSE(forecast.observe(Time::max(), 3)) << "the last value was as late";
}

TEST(Gap, AfterAnHourOffTheForecastIsAtTheNewLevelSooner) {
    AdaptiveForecast off = AdaptiveForecast::make(10s).value(), on = AdaptiveForecast::make(10s).value();
    Time at{};
    for (int i = 0; i < 400; ++i) {  // noise about 1, for which long windows are best
        at += 10s;
        const double value = 1 + 0.1 * ((i * 7919) % 11 - 5);
        ASSERT_TRUE(off.observe(at, value));
        ASSERT_TRUE(on.observe(at, value));
    }
    ASSERT_TRUE(on.observe(at + 10s, 5));
    ASSERT_TRUE(off.observe(at + 1h, 5));
    const auto error_of = [](const AdaptiveForecast& forecast, std::string_view name) {
        for (const Standing& standing : forecast.standings())
            if (standing.forecaster == name) return 5 - standing.next;
        return -1.0;
    };
    for (const char* name : {"mean_50", "median_51", "smoothing_0.05"}) {
        EXPECT_LT(error_of(off, name), 0.1) << name;
        EXPECT_GT(error_of(on, name), 3) << name;
    }
}

}  // namespace
}  // namespace zbs::forecast
