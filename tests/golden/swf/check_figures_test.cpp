#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "algorithms/formats/swf.hpp"
#include "algorithms/formats/swf_cleaning.hpp"
#include "tests/support/reference_traces.hpp"
#include "tests/support/source_folder.hpp"

namespace zbs::formats {
namespace {

struct Row {
    std::string trace;
    std::int64_t processors = 0, jobs = 0, processor_seconds = 0, estimates = 0, run_times = 0, submits = 0, cut = 0;
};
std::vector<Row> rows() {
    std::ifstream file(zbs::test::source_folder() + "/tests/golden/swf/check_figures.csv");
    std::vector<Row> found;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#') || line.starts_with("trace,")) continue;
        for (char& c : line) c = c == ',' ? ' ' : c;
        Row row;
        std::istringstream words(line);
        words >> row.trace >> row.processors >> row.jobs >> row.processor_seconds >> row.estimates >> row.run_times >>
            row.submits >> row.cut;
        found.push_back(row);
    }
    return found;
}

std::int64_t whole_seconds(Duration d) {
    EXPECT_EQ(d.count() % 1'000'000, 0);
    return d.count() / 1'000'000;
}

class RuleC : public testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(, RuleC, testing::ValuesIn(rows()), [](const auto& param_info) {
    std::string name;
    for (const char c : param_info.param.trace)
        if (std::isalnum(static_cast<unsigned char>(c))) name += c;
    return name;
});

TEST_P(RuleC, GivesTheCheckFigures) {
    const Row& row = GetParam();
    ZBS_REFERENCE_TRACE(text, row.trace);
    const Result<SwfTrace> trace = read_swf(text, row.trace);
    ASSERT_TRUE(trace) << trace.error();
    const Result<CleanedSwf> cleaned = clean_swf(*trace, row.trace, {.processors = row.processors});
    ASSERT_TRUE(cleaned) << cleaned.error();
    Row found{.trace = row.trace,
              .processors = cleaned->workload.processors,
              .jobs = std::ssize(cleaned->workload.jobs),
              .cut = static_cast<std::int64_t>(cleaned->cut_at_estimate)};
    for (const auto& [job, runtime] : cleaned->workload.jobs) {
        found.processor_seconds += job.processors * whole_seconds(runtime);
        found.estimates += whole_seconds(job.walltime);
        found.run_times += whole_seconds(runtime);
        found.submits += whole_seconds(job.submit.time_since_epoch());
    }
    EXPECT_EQ(found.jobs, row.jobs);
    EXPECT_EQ(found.processor_seconds, row.processor_seconds);
    EXPECT_EQ(found.estimates, row.estimates);
    EXPECT_EQ(found.run_times, row.run_times);
    EXPECT_EQ(found.submits, row.submits);
    EXPECT_EQ(found.cut, row.cut);
}

TEST_P(RuleC, LogsAreWrittenAsTheyWereRead) {
    ZBS_REFERENCE_TRACE(text, GetParam().trace);
    const SwfTrace trace = *read_swf(text, "log");
    const SwfTrace again = *read_swf(write_swf(trace), "again");
    EXPECT_EQ(again.comments, trace.comments);
    EXPECT_TRUE(again.records == trace.records);
}

TEST(RuleCTable, HasAllRows) { EXPECT_EQ(rows().size(), 5U); }

}  // namespace
}  // namespace zbs::formats
