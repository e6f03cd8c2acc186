#include "studies/models/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/formats/svg_checks.hpp"

namespace zbs::formats {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ChartSvg, LogarithmicAxesLeaveOutWhatHasNoLogarithm) {
    const std::string svg = chart_svg({.title = "t",
                                       .x_label = "T x P",
                                       .y_label = "s",
                                       .log_x = true,
                                       .log_y = true,
                                       .series = {{"a&b", {{10, 1}, {100, 10}, {0, 5}}, true}, {"c", {}, true}}});
    expect_well_formed(svg);
    EXPECT_THAT(svg, HasSubstr("a&amp;b"));
    EXPECT_EQ(count(svg, "r=\"2.5\""), 2U);
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    expect_well_formed(chart_svg({}));
}

}  // namespace
}  // namespace zbs::formats
