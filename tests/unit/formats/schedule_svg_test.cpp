#include "algorithms/formats/schedule_svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "algorithms/base/rng.hpp"
#include "tests/unit/formats/svg_checks.hpp"

namespace zbs::formats {
namespace {

using testing::HasSubstr;
using testing::Not;

ScheduleBar bar(std::int64_t id, std::int64_t start, std::int64_t end, std::int32_t processors) {
    return {id, Time{std::chrono::seconds{start}}, Time{std::chrono::seconds{end}}, processors};
}

TEST(ScheduleSvg, DrawsARectangleAJobWhereItIsFree) {
    // Job 2 leaves a hole at 4-5; job 4 takes it and 8-9, since 6-7 is held by job 3.
    const std::vector<ScheduleBar> jobs = {bar(1, 0, 100, 4), bar(2, 0, 50, 2), bar(3, 0, 100, 2), bar(4, 50, 100, 4)};
    const std::string svg = schedule_svg({.title = "a <b>", .jobs = jobs, .processors = 10});
    expect_well_formed(svg);
    EXPECT_THAT(svg, HasSubstr("<title>a &lt;b&gt;</title>"));
    EXPECT_THAT(svg, HasSubstr("4 jobs on 10 processors"));
    EXPECT_THAT(svg, HasSubstr("seconds since the first start"));
    // 420 pixels are 10 processors from 490 upwards, 1000 pixels are 100 s from 80.
    EXPECT_THAT(svg, HasSubstr("<rect x=\"80\" y=\"322\" width=\"1000\" height=\"168\""));
    EXPECT_THAT(svg, HasSubstr("<rect x=\"80\" y=\"238\" width=\"500\" height=\"84\""));
    EXPECT_THAT(svg, HasSubstr("<rect x=\"80\" y=\"154\" width=\"1000\" height=\"84\""));
    EXPECT_THAT(svg, HasSubstr("<rect x=\"580\" y=\"238\" width=\"500\" height=\"84\""));
    EXPECT_THAT(svg, HasSubstr("<rect x=\"580\" y=\"70\" width=\"500\" height=\"84\""));
    EXPECT_EQ(count(svg, ">4</text>"), 3U);  // both pieces, and the axis
}

TEST(ScheduleSvg, ProcessorsFreedAtAnInstantCanBeTakenThen) {
    const std::vector<ScheduleBar> jobs = {bar(1, 0, 10, 4), bar(2, 10, 20, 4)};
    EXPECT_THAT(schedule_svg({.title = "t", .jobs = jobs, .processors = 4}), Not(HasSubstr("stacked")));
}

TEST(ScheduleSvg, JobsThatTakeTurnsAreStacked) {
    const std::vector<ScheduleBar> jobs = {bar(1, 0, 100, 4), bar(2, 0, 50, 4)};
    const std::string svg = schedule_svg({.title = "t", .jobs = jobs, .processors = 4});
    expect_well_formed(svg);
    EXPECT_THAT(svg, HasSubstr("stacked by size"));
    // Eight processors high up to the middle, then four.
    EXPECT_THAT(svg, HasSubstr("points=\"80,490 80,490 80,70 580,70 580,280 1080,280 1080,490 \""));
}

TEST(ScheduleSvg, ManyJobsBecomeAreasOfTheSameSum) {
    // One processor always, and half of the machine half of the time.
    std::vector<ScheduleBar> jobs;
    for (int i = 0; i < 5000; ++i) jobs.push_back(bar(i, 20 * i, 20 * i + 20, 1));
    jobs.push_back(bar(5000, 0, 50'000, 10));
    const std::string svg = schedule_svg({.title = "t", .jobs = jobs, .processors = 20});
    expect_well_formed(svg);
    EXPECT_THAT(svg, HasSubstr("hours since the first start"));
    EXPECT_THAT(svg, HasSubstr("points=\"80,490 80,490 80,469 1080,469 1080,490 \""));
    EXPECT_THAT(svg, HasSubstr("points=\"80,490 80,490 80,259 580,259 580,469 1080,469 1080,490 \""));
}

TEST(ScheduleSvg, StaysSmallWhateverTheSchedule) {
    for (const int jobs_count : {1, 2000, 100'000}) {
        SCOPED_TRACE(jobs_count);
        Rng rng(7);
        std::vector<ScheduleBar> jobs;
        for (int i = 0; i < jobs_count; ++i) {
            const auto start = static_cast<std::int64_t>(rng.below(100'000'000));
            jobs.push_back(bar(i, start, start + 1 + static_cast<std::int64_t>(rng.below(100'000)),
                               1 + static_cast<std::int32_t>(rng.below(100))));
        }
        const std::string svg = schedule_svg({.title = "t", .jobs = jobs, .processors = 10'000});
        expect_well_formed(svg);
        EXPECT_LT(svg.size(), 3'000'000U);
        EXPECT_EQ(svg.find("nan"), std::string::npos);
    }
}

TEST(ScheduleSvg, AnEmptyScheduleIsAnEmptyPicture) {
    const std::string svg = schedule_svg({.title = "none", .jobs = {}, .processors = 3});
    expect_well_formed(svg);
    EXPECT_THAT(svg, HasSubstr("0 jobs on 3 processors"));
}

TEST(ScheduleSvg, DrawsJobsOnTheProcessorsThatTheyHave) {
    std::vector<ScheduleBar> jobs = {bar(1, 0, 100, 2), bar(2, 0, 100, 3)};
    jobs[0].ranges = {{2, 3}};
    jobs[1].ranges = {{4, 4}, {6, 7}};
    const std::string svg = schedule_svg({.title = "t", .jobs = jobs, .processors = 4, .rows = 2});
    EXPECT_NE(svg.find("2 jobs on 4 processors, 2 rows of the slice matrix<"), std::string::npos) << svg;
    EXPECT_NE(svg.find(">row 1<"), std::string::npos);
    // 52.5 a processor, from 490 up.
    for (const char* box : {"y=\"280\"", "y=\"227.5\"", "y=\"70\""})
        EXPECT_NE(svg.find(box), std::string::npos) << box << svg;
}

}  // namespace
}  // namespace zbs::formats
