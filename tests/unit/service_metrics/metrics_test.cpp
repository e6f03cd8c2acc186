#include "services/common/metrics/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace zbs::metrics {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr auto kOpen = TextFormat::kOpenMetrics;
constexpr auto kOld = TextFormat::kPrometheus;

TEST(Metrics, ACounterIsWrittenInBothTexts) {
    Registry all;
    all.counter({"jobs", "Jobs that ended.", "", {"state"}}).at({"failed"}).add(2);
    EXPECT_EQ(all.text(kOpen),
              "# TYPE jobs counter\n# HELP jobs Jobs that ended.\njobs_total{state=\"failed\"} 2\n# EOF\n");
    EXPECT_EQ(all.text(kOld),
              "# TYPE jobs_total counter\n# HELP jobs_total Jobs that ended.\njobs_total{state=\"failed\"} 2\n");
}

TEST(Metrics, AGaugeHasItsUnitInTheNewTextOnly) {
    Registry all;
    all.gauge({"left_seconds", "Time left.", "seconds"}).at().set(0.1);
    EXPECT_EQ(all.text(kOpen),
              "# TYPE left_seconds gauge\n# UNIT left_seconds seconds\n# HELP left_seconds Time left.\n"
              "left_seconds 0.1\n# EOF\n");
    EXPECT_THAT(all.text(kOld), Not(HasSubstr("UNIT")));
}

TEST(Metrics, FactsAreAnInfoAndToOlderReadersAGauge) {
    Registry all;
    all.info("zone_build", "The program.", {{"version", "1.2"}});
    EXPECT_EQ(all.text(kOpen),
              "# TYPE zone_build info\n# HELP zone_build The program.\nzone_build_info{version=\"1.2\"} 1\n# EOF\n");
    EXPECT_EQ(
        all.text(kOld),
        "# TYPE zone_build_info gauge\n# HELP zone_build_info The program.\nzone_build_info{version=\"1.2\"} 1\n");
}

TEST(Metrics, BucketsCountWhatIsAtMostTheirBound) {
    Registry all;
    Histogram& wait = all.histogram({"wait_seconds", "Wait.", "seconds"}, {0.5, 1, 10}).at();
    for (const double value : {0.25, 0.5, 0.75, 1.0, 10.0, 11.0}) wait.observe(value);
    const std::string text = all.text(kOpen);
    EXPECT_THAT(text, HasSubstr("wait_seconds_bucket{le=\"0.5\"} 2\n"
                                "wait_seconds_bucket{le=\"1.0\"} 4\n"
                                "wait_seconds_bucket{le=\"10.0\"} 5\n"
                                "wait_seconds_bucket{le=\"+Inf\"} 6\n"
                                "wait_seconds_sum 23.5\n"
                                "wait_seconds_count 6\n"));
}

TEST(Metrics, LabelsAndHelpAreEscaped) {
    Registry all;
    all.gauge({"g", "A \"b\"\nc\\d", "", {"l"}}).at({"x\"y\nz\\"}).set(1);
    EXPECT_THAT(all.text(kOpen), HasSubstr("# HELP g A \\\"b\\\"\\nc\\\\d\ng{l=\"x\\\"y\\nz\\\\\"} 1\n"));
    EXPECT_THAT(all.text(kOld), HasSubstr("# HELP g A \"b\"\\nc\\\\d\n"));
}

TEST(Metrics, NumbersReadBackTheSame) {
    Registry all;
    Gauge& gauge = all.gauge({"g", "G."}).at();
    for (const auto& [value, text] :
         {std::pair{1e15 + 1, "1000000000000001"}, std::pair{0.1 + 0.2, "0.30000000000000004"},
          std::pair{std::numeric_limits<double>::infinity(), "+Inf"},
          std::pair{std::numeric_limits<double>::quiet_NaN(), "NaN"}}) {
        gauge.set(value);
        EXPECT_THAT(all.text(kOld), HasSubstr(std::string("\ng ") + text + "\n"));
    }
}

TEST(Metrics, WhatIsBeyondTheBoundOfSeriesSharesOne) {
    Registry all;
    Family<Counter>& calls = all.counter({"calls", "Calls.", "", {"zone", "kind"}, 3});
    for (int zone = 0; zone < 1'000; ++zone) calls.at({"z" + std::to_string(zone), "hold"}).add();
    EXPECT_EQ(calls.series().size(), 4U);
    EXPECT_EQ(calls.at({"other", "other"}).value(), 997);
    EXPECT_EQ(calls.at({"z1", "hold"}).value(), 1);
}

TEST(Metrics, AFamilyWithoutSeriesIsLeftOut) {
    Registry all;
    all.gauge({"g", "G."});
    EXPECT_EQ(all.text(kOpen), "# EOF\n");
}

TEST(Metrics, AcceptChoosesTheText) {
    EXPECT_EQ(choose_format(""), kOpen);
    EXPECT_EQ(choose_format("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
              kOpen);
    EXPECT_EQ(choose_format("text/plain, application/openmetrics-text; version=0.0.1; q=0.75"), kOpen);
    EXPECT_EQ(choose_format("application/openmetrics-text;q=0, text/plain"), kOld);
    EXPECT_EQ(choose_format("text/plain;version=0.0.4"), kOld);
    EXPECT_EQ(choose_format("*/*"), kOld);
    EXPECT_EQ(choose_format("application/openmetrics-textual"), kOld);
}

}  // namespace
}  // namespace zbs::metrics
