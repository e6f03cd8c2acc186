#include "algorithms/formats/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/graphs.hpp"
#include "tests/unit/formats/svg_checks.hpp"

namespace zbs::formats {
namespace {

using testing::HasSubstr;

TEST(XmlEscaped, KeepsTextsFromBeingMarkup) {
    EXPECT_EQ(xml_escaped("a<b & \"c\" > 'd'"), "a&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39;");
    EXPECT_EQ(xml_escaped("caf\xc3\xa9"), "caf\xc3\xa9");
    EXPECT_EQ(xml_escaped("\xff\x01\n"), "???");
    EXPECT_EQ(xml_escaped("\xef\xbf\xbf"), "???");
}

TEST(MatrixSvg, DrawsCellsInTheOrderGivenWithZoneBlocks) {
    // 0-2 is heavy, 1-3 light; in the order 0 2 1 3 the heavy pair is in rows 0 and 1.
    const TaskGraph graph = *TaskGraph::make({1, 1, 1, 1}, {{0, 2, 1 << 20, 1}, {1, 3, 1024, 1}});
    const std::vector<TaskIndex> order = {0, 2, 1, 3};
    const std::vector<std::int32_t> zones = {0, 0, 1, 1};
    const std::vector<std::string> names = {"a<b", "b"};
    const std::string svg = matrix_svg(graph, {.title = "x & y",
                                               .order = order,
                                               .zone_of_position = zones,
                                               .machine_of_position = zones,
                                               .zone_names = names});
    expect_well_formed(svg);
    EXPECT_THAT(svg, HasSubstr("x &amp; y"));
    EXPECT_THAT(svg, HasSubstr("a&lt;b"));
    EXPECT_THAT(svg, HasSubstr("d=\"M1 0h1M0 1h1\""));  // heavy
    EXPECT_THAT(svg, HasSubstr("d=\"M3 2h1M2 3h1\""));  // light
    EXPECT_THAT(svg, HasSubstr("1.0 MiB"));
    EXPECT_THAT(svg, HasSubstr("1.0 KiB"));
    EXPECT_EQ(count(svg, "stroke-width=\"2\""), 8U);  // two squares of four lines
}

TEST(MatrixSvg, LargeGraphsShareRowsAndStaySmall) {
    const TaskGraph graph = test::large_clusters(20'000, 10, 8, 2, 1);
    std::vector<TaskIndex> order(20'000);
    std::iota(order.begin(), order.end(), 0);
    std::vector<std::int32_t> machines(20'000);
    std::iota(machines.begin(), machines.end(), 0);
    const std::string svg = matrix_svg(graph, {.order = order, .machine_of_position = machines});
    expect_well_formed(svg);
    EXPECT_LT(svg.size(), 4'000'000U);
    EXPECT_THAT(svg, HasSubstr("40 in a row"));
}

TEST(MatrixSvg, NumbersStandAlongBothSides) {
    const auto labels = [](const std::string& svg, int number) {
        return count(svg, ">" + std::to_string(number) + "</text>");
    };
    const std::string few = matrix_svg(test::clique(3), {.numbers = true});
    expect_well_formed(few);
    for (const int number : {0, 1, 2}) EXPECT_EQ(labels(few, number), 2U) << number;
    const std::string many = matrix_svg(test::grid(50, 40), {.numbers = true});
    expect_well_formed(many);
    EXPECT_EQ(labels(many, 400), 2U);
    EXPECT_EQ(labels(many, 2'000), 0U) << "there is no such task";
    EXPECT_EQ(labels(matrix_svg(test::clique(3), {}), 1), 0U);
    expect_well_formed(matrix_svg(TaskGraph(), {.numbers = true}));
}

TEST(MatrixSvg, GraphsWithoutTasksOrTrafficAreDrawn) {
    expect_well_formed(matrix_svg(TaskGraph(), {}));
    expect_well_formed(matrix_svg(test::isolated(3), {}));
}

TEST(GanttCanvas, RowsAndTimesAreWhereTheyBelong) {
    GanttCanvas canvas(2, 10);
    canvas.add(0, 0, 5, GanttCanvas::Activity::kCompute);
    canvas.add(1, 5, 10, GanttCanvas::Activity::kBlocked);
    const std::string svg = canvas.svg("run <1>");
    expect_well_formed(svg);
    EXPECT_THAT(svg, HasSubstr("run &lt;1&gt;"));
    EXPECT_THAT(svg, HasSubstr("\"M0 0h500\""));
    EXPECT_THAT(svg, HasSubstr("\"M500 1h500\""));
}

TEST(GanttCanvas, MillionsOfIntervalsOnThousandsOfRanksStaySmall) {
    GanttCanvas canvas(5'000, 1);
    for (int i = 0; i < 2'000'000; ++i) {
        const double begin = i * 5e-7;
        canvas.add(i % 5'000, begin, begin + 1e-4,
                   i % 3 == 0 ? GanttCanvas::Activity::kBlocked : GanttCanvas::Activity::kCompute);
    }
    const std::string svg = canvas.svg("many");
    expect_well_formed(svg);
    EXPECT_LT(svg.size(), 4'000'000U);
}

}  // namespace
}  // namespace zbs::formats
