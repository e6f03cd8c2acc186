#include "services/node_agent/domain/slice_switcher.hpp"

#include <gtest/gtest.h>

#include "algorithms/base/rng.hpp"

namespace zbs {
namespace {

TEST(DurationHistogram, IsEmptyAtFirst) { EXPECT_EQ(DurationHistogram{}.summary(), DurationSummary{}); }

TEST(DurationHistogram, HasMeanPercentileAndLargest) {
    DurationHistogram histogram;
    for (int us = 1; us <= 1'000; ++us) histogram.add(Duration{us});
    const DurationSummary summary = histogram.summary();
    EXPECT_EQ(summary.count, 1'000U);
    EXPECT_EQ(summary.mean, Duration{500});
    EXPECT_EQ(summary.max, Duration{1'000});
    EXPECT_GE(summary.p99, Duration{990});
    EXPECT_LE(summary.p99, Duration{1'000});
}

TEST(DurationHistogram, OneInAHundredIsNotThePercentile) {
    DurationHistogram histogram;
    for (int i = 0; i < 99; ++i) histogram.add(Duration{3});
    histogram.add(Duration{1'000'000});
    EXPECT_EQ(histogram.summary().p99, Duration{3});
    EXPECT_EQ(histogram.summary().max, Duration{1'000'000});
}

TEST(DurationHistogram, NegativeOnesAreZeroAndHugeOnesCounted) {
    DurationHistogram histogram;
    histogram.add(Duration{-5});
    EXPECT_EQ(histogram.summary(), (DurationSummary{1, Duration{0}, Duration{0}, Duration{0}}));
    histogram.add(Duration{INT64_MAX / 2});
    EXPECT_EQ(histogram.summary().max, Duration{INT64_MAX / 2});
    EXPECT_EQ(histogram.summary().count, 2U);
}

TEST(DurationHistogramProperty, ThePercentileIsAtMostAnEighthTooLarge) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        std::vector<std::int64_t> values;
        DurationHistogram histogram;
        for (std::uint64_t n = 1 + rng.below(300); n > 0; --n) {
            values.push_back(static_cast<std::int64_t>(rng.below(std::uint64_t{1} << (1 + rng.below(38)))));
            histogram.add(Duration{values.back()});
        }
        std::sort(values.begin(), values.end());
        const std::int64_t exact = values[values.size() - values.size() / 100 - 1];
        EXPECT_GE(histogram.summary().p99.count(), exact);
        EXPECT_LE(histogram.summary().p99.count(), exact + exact / 8 + 1);
    }
}

}  // namespace
}  // namespace zbs
