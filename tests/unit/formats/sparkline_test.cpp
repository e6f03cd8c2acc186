#include "algorithms/formats/sparkline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace zbs::formats {
namespace {

struct Line {
    std::vector<double> values;
    const char* drawn;
};
class Sparkline : public testing::TestWithParam<Line> {};
INSTANTIATE_TEST_SUITE_P(
    , Sparkline,
    testing::Values(Line{{}, ""}, Line{{3}, "▅"}, Line{{0, 1, 2, 3, 4, 5, 6, 7}, "▁▂▃▄▅▆▇█"}, Line{{7, 0}, "█▁"},
                    Line{{2, 2, 2}, "▅▅▅"}, Line{{0, NAN, 1}, "▁ █"}, Line{{-1, INFINITY, 1}, "▁ █"},
                    Line{{1e-300, 2e-300}, "▁█"},
                    Line{{-std::numeric_limits<double>::max(), 0, std::numeric_limits<double>::max()}, "▁▅█"}));
TEST_P(Sparkline, DrawsEachValueBetweenTheExtremes) { EXPECT_EQ(sparkline(GetParam().values), GetParam().drawn); }

TEST(SparklineWidth, NewestValuesCount) {
    const std::vector<double> values = {100, 0, 1};
    EXPECT_EQ(sparkline(values, 2), "▁█");
}

}  // namespace
}  // namespace zbs::formats
