#include "algorithms/formats/swf_cleaning.hpp"

#include <gtest/gtest.h>

namespace zbs::formats {
namespace {

using Action = SwfCleaning::Action;
using std::chrono::seconds;

/// A line of the log; what is not said is unknown.
struct JobLine {
    std::int64_t job = 1, submit = 0, runtime = 10, allocated = -1, requested = 1, estimate = 20, status = 1;
};
SwfTrace log_of(std::initializer_list<JobLine> lines, int processors = 8) {
    std::string text = "; MaxProcs: " + std::to_string(processors) + "\n";
    for (const JobLine& line : lines) {
        text += std::to_string(line.job) + " " + std::to_string(line.submit) + " -1 " + std::to_string(line.runtime) +
                " " + std::to_string(line.allocated) + " -1 -1 " + std::to_string(line.requested) + " " +
                std::to_string(line.estimate) + " -1 " + std::to_string(line.status) + " 3 4 -1 5 -1 -1 -1\n";
    }
    return *read_swf(text, "log");
}
std::vector<std::int64_t> ids(const CleanedSwf& cleaned) {
    std::vector<std::int64_t> found;
    for (const WorkloadJob& entry : cleaned.workload.jobs) found.push_back(entry.job.id.value);
    return found;
}
std::size_t dropped(const CleanedSwf& cleaned, SwfDrop reason) {
    return cleaned.dropped[static_cast<std::size_t>(reason)];
}

TEST(CleanSwf, TakesAJobAsItsUserAskedForIt) {
    const Result<CleanedSwf> cleaned = clean_swf(log_of({{.job = 7, .submit = 3}}), "path/to/log.swf");
    ASSERT_TRUE(cleaned) << cleaned.error();
    EXPECT_EQ(cleaned->workload.name, "log.swf");
    EXPECT_EQ(cleaned->workload.processors, 8);
    ASSERT_EQ(cleaned->workload.jobs.size(), 1U);
    EXPECT_EQ(cleaned->workload.jobs[0], (WorkloadJob{{.id = JobId{7},
                                                       .submit = Time{seconds{3}},
                                                       .walltime = seconds{20},
                                                       .processors = 1,
                                                       .user = 3,
                                                       .group = 4,
                                                       .queue = 5},
                                                      seconds{10}}));
    EXPECT_EQ(cleaned->dropped_in_all(), 0U);
}

TEST(CleanSwf, SizeIsWhatWasRequestedElseAllocated) {
    const SwfTrace log =
        log_of({{.job = 1, .allocated = 4, .requested = 2}, {.job = 2, .allocated = 4, .requested = 0}});
    const auto sizes = [&](bool allocated) {
        const CleanedSwf cleaned = *clean_swf(log, "log", {.allocated_size = allocated});
        return std::pair{cleaned.workload.jobs[0].job.processors, cleaned.workload.jobs[1].job.processors};
    };
    EXPECT_EQ(sizes(false), (std::pair{2, 4}));
    EXPECT_EQ(sizes(true), (std::pair{4, 4}));
}

TEST(CleanSwf, JobsAreKilledAtTheirEstimate) {
    const SwfTrace log = log_of({{.job = 1, .runtime = 30, .estimate = 20},
                                 {.job = 2, .runtime = 30, .estimate = 0},
                                 {.job = 3, .runtime = 30, .estimate = -1},
                                 {.job = 4, .runtime = 30, .estimate = 50}});
    const CleanedSwf rule_c = *clean_swf(log, "log");
    EXPECT_EQ(rule_c.cut_at_estimate, 1U);
    EXPECT_EQ(rule_c.workload.jobs[0].runtime, seconds{20});
    EXPECT_EQ(rule_c.workload.jobs[1].job.walltime, seconds{30});
    EXPECT_EQ(rule_c.workload.jobs[2].job.walltime, seconds{30});
    const CleanedSwf raised = *clean_swf(log, "log", {.past_estimate = SwfCleaning::PastEstimate::kRaised});
    EXPECT_EQ(raised.cut_at_estimate, 0U);
    EXPECT_EQ(raised.workload.jobs[0].runtime, seconds{30});
    EXPECT_EQ(raised.workload.jobs[0].job.walltime, seconds{30});
    const CleanedSwf exact = *clean_swf(log, "log", {.exact_estimates = true});
    EXPECT_EQ(exact.workload.jobs[0].job.walltime, seconds{20});
    EXPECT_EQ(exact.workload.jobs[3].job.walltime, seconds{30});
}

TEST(CleanSwf, RuleCDropsAndCounts) {
    const SwfTrace log = log_of({{.job = 1},
                                 {.job = 2, .allocated = -1, .requested = 0},
                                 {.job = 3, .requested = 9},
                                 {.job = 4, .allocated = 9, .requested = 1},
                                 {.job = 5, .runtime = 0},
                                 {.job = 6, .runtime = -1},
                                 {.job = 7, .submit = -1},
                                 {.job = 8, .status = 5},
                                 {.job = 9, .requested = 8, .status = 0}});
    const CleanedSwf cleaned = *clean_swf(log, "log");
    EXPECT_EQ(ids(cleaned), (std::vector<std::int64_t>{1, 8, 9}));
    EXPECT_EQ(cleaned.record_of_job, (std::vector<std::uint32_t>{0, 7, 8}));
    EXPECT_EQ(dropped(cleaned, SwfDrop::kNoSize), 1U);
    EXPECT_EQ(dropped(cleaned, SwfDrop::kOversized), 2U);
    EXPECT_EQ(dropped(cleaned, SwfDrop::kNoRuntime), 2U);
    EXPECT_EQ(dropped(cleaned, SwfDrop::kNoSubmit), 1U);
    EXPECT_EQ(cleaned.dropped_in_all(), 6U);
    EXPECT_EQ(cleaned.first_line[static_cast<std::size_t>(SwfDrop::kOversized)], 4U);

    const CleanedSwf stricter = *clean_swf(log, "log", {.drop_cancelled = true, .drop_failed = true});
    EXPECT_EQ(ids(stricter), std::vector<std::int64_t>{1});
    EXPECT_EQ(dropped(stricter, SwfDrop::kCancelled), 1U);
    EXPECT_EQ(dropped(stricter, SwfDrop::kFailed), 1U);
}

TEST(CleanSwf, WhatIsDroppedCanBeRefused) {
    struct Case {
        JobLine line;
        SwfCleaning rules;
        std::string message;
    };
    for (const auto& [line, rules, message] :
         {Case{{.job = 2, .requested = 0}, {.no_size = Action::kRefuse}, "job 2 has no size"},
          Case{{.job = 2, .requested = 9}, {.oversized = Action::kRefuse}, "job 2 needs 9 processors"},
          Case{{.job = 2, .runtime = 0}, {.no_runtime = Action::kRefuse}, "job 2 has no run time"},
          Case{{.job = 2, .runtime = -5}, {.no_runtime = Action::kRefuse}, "job 2 has no run time"},
          Case{{.job = 2, .submit = -1}, {.no_submit = Action::kRefuse}, "job 2 has no submit time"},
          Case{{.job = 1}, {}, "job 1 is on line 2, too"}, Case{{.job = -1}, {}, "whole number"},
          Case{{.job = 2, .submit = 0}, {.out_of_order = false}, "before job 1 of line 2"},
          Case{{.job = 2, .runtime = 100'000'000'001}, {}, "out of range"}}) {
        const Result<CleanedSwf> cleaned = clean_swf(log_of({{.job = 1, .submit = 1}, line}), "log", rules);
        ASSERT_FALSE(cleaned) << message;
        EXPECT_EQ(cleaned.error().pointer, "log:3");
        EXPECT_NE(cleaned.error().message.find(message), std::string::npos) << cleaned.error();
    }
}

TEST(CleanSwf, RepeatedNumbersCanBeDropped) {
    const SwfTrace log = log_of({{.job = 3, .submit = 5}, {.job = 1}, {.job = 3}, {.job = 2}, {.job = 1}});
    const CleanedSwf cleaned = *clean_swf(log, "log", {.repeated_id = Action::kDrop});
    EXPECT_EQ(ids(cleaned), (std::vector<std::int64_t>{1, 2, 3}));
    EXPECT_EQ(cleaned.record_of_job, (std::vector<std::uint32_t>{1, 3, 0}));
    EXPECT_EQ(dropped(cleaned, SwfDrop::kRepeatedId), 2U);
    EXPECT_EQ(cleaned.first_line[static_cast<std::size_t>(SwfDrop::kRepeatedId)], 4U);
}

TEST(CleanSwf, NumbersThatStartAnewCanBeReplaced) {
    const std::string rest = " -1 10 1 -1 -1 1 20 -1 1 -1 -1 -1 -1 -1 ";
    const SwfTrace log = *read_swf("; MaxProcs: 8\n1 0" + rest + "-1 -1\n2 5" + rest + "1 0\n1 20" + rest +
                                       "2 0\n2 10" + rest + "1 9\n9 30" + rest + "7 5\n",
                                   "log");
    const Result<CleanedSwf> cleaned = clean_swf(log, "log", {.renumber = true});
    ASSERT_TRUE(cleaned) << cleaned.error();
    EXPECT_EQ(ids(*cleaned), (std::vector<std::int64_t>{1, 2, 4, 3, 5}));
    EXPECT_EQ(cleaned->dropped_in_all(), 0U);
    // Preceding jobs go by the new numbers: the last line above that has the old one.
    const SwfTrace out = schedule_swf(log, cleaned->workload.jobs, cleaned->record_of_job, {});
    std::vector<std::pair<std::int64_t, std::int64_t>> preceding;
    for (const SwfRecord& record : out.records)
        preceding.emplace_back(record.whole(SwfField::kJob), record.whole(SwfField::kPrecedingJob));
    EXPECT_EQ(preceding,
              (std::vector<std::pair<std::int64_t, std::int64_t>>{{1, -1}, {2, 1}, {4, 3}, {3, 2}, {5, -1}}));
    // Job 7 is not there, and neither is a time after it.
    EXPECT_EQ(out.records[2].whole(SwfField::kThinkTime), 9);
    EXPECT_EQ(out.records[4].whole(SwfField::kThinkTime), -1);
    EXPECT_EQ(out.comments.back(),
              " Note: jobs that followed a job without a line further up, whose fields 17 and 18 are -1 now: 1");
}

TEST(CleanSwf, PartialExecutionsAreLeftOut) {
    const SwfTrace log = log_of({{.job = 1},
                                 {.job = 1, .submit = -1, .status = 2},
                                 {.job = 1, .submit = -1, .status = 3},
                                 {.job = 2, .status = 0},
                                 {.job = 2, .status = 4}});
    const Result<CleanedSwf> cleaned = clean_swf(log, "log");
    ASSERT_TRUE(cleaned) << cleaned.error();
    EXPECT_EQ(ids(*cleaned), (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(dropped(*cleaned, SwfDrop::kPartial), 3U);
    EXPECT_EQ(cleaned->dropped_in_all(), 3U);
}

TEST(CleanSwf, ARunTimeOfZeroCanCount) {
    const SwfTrace log = log_of(
        {{.job = 1, .runtime = 0}, {.job = 2, .runtime = 0, .status = 5}, {.job = 3}, {.job = 4, .runtime = -1}});
    const CleanedSwf cleaned = *clean_swf(log, "log", {.zero_runtime_counts = true});
    EXPECT_EQ(ids(cleaned), (std::vector<std::int64_t>{1, 3}));
    EXPECT_EQ(cleaned.workload.jobs[0].runtime, seconds{1});
    EXPECT_EQ(cleaned.of(SwfAssumption::kZeroRuntime).count, 1U);
    EXPECT_EQ(dropped(cleaned, SwfDrop::kNoRuntime), 2U);
}

TEST(CleanSwf, AssumptionsAreCounted) {
    const SwfTrace log = *read_swf(
        "; MaxProcs: 8\n"
        "1 0 -1 10 1 -1 -1 1 20 -1 1 -1 -1 -1 -1 1 -1 -1\n"
        "2 0 -1 10 1 -1 -1 1 -1 -1 1 -1 -1 -1 -1 1 1 5\n"
        "3 0 -1 10 2 -1 -1 -1 0 -1 1 -1 -1 -1 -1 2 -1 -1\n"
        "4 0 -1 10 -1 -1 -1 2.5 20 -1 1 -1 -1 -1 -1 1 -1 -1\n"
        "5 0 -1 0 -1 -1 -1 2.5 -1 -1 1 -1 -1 -1 -1 1 1 -1\n",
        "log");
    const CleanedSwf cleaned = *clean_swf(log, "log");
    std::vector<std::pair<std::size_t, std::uint32_t>> found;
    for (const SwfCount& count : cleaned.assumed) found.emplace_back(count.count, count.first_line);
    EXPECT_EQ(found,
              (std::vector<std::pair<std::size_t, std::uint32_t>>{{2, 3}, {1, 4}, {1, 5}, {0, 0}, {1, 3}, {1, 4}}));
    EXPECT_EQ(clean_swf(log, "log", {.allocated_size = true})->of(SwfAssumption::kOtherSize).count, 1U);
}

TEST(CleanSwf, ImpossibleNumbersCanBeDropped) {
    const SwfTrace log = log_of(
        {{.job = 1}, {.job = -5}, {.job = 3, .submit = 999'999'999'999}, {.job = 4, .estimate = 999'999'999'999}});
    const CleanedSwf cleaned = *clean_swf(log, "log", {.impossible = Action::kDrop});
    EXPECT_EQ(ids(cleaned), (std::vector<std::int64_t>{1, 3}));
    EXPECT_EQ(dropped(cleaned, SwfDrop::kImpossible), 2U);
}

TEST(CleanSwf, SortsBySubmissionThenNumber) {
    const SwfTrace log = log_of({{.job = 5, .submit = 9}, {.job = 4, .submit = 9}, {.job = 1, .submit = 3}});
    const CleanedSwf cleaned = *clean_swf(log, "log");
    EXPECT_EQ(ids(cleaned), (std::vector<std::int64_t>{1, 4, 5}));
    EXPECT_EQ(cleaned.out_of_order, 1U);
    // Jobs of one second may come in any order.
    EXPECT_TRUE(clean_swf(log_of({{.job = 2}, {.job = 1}}), "log", {.out_of_order = false}));
}

TEST(CleanSwf, TimesAreShiftedOnRequest) {
    const SwfTrace log = log_of({{.job = 1, .submit = 7}, {.job = 2, .submit = 9}});
    EXPECT_EQ(clean_swf(log, "log")->workload.jobs[0].job.submit, Time{seconds{7}});
    const CleanedSwf shifted = *clean_swf(log, "log", {.shift_to_zero = true});
    EXPECT_EQ(shifted.workload.jobs[0].job.submit, Time{seconds{0}});
    EXPECT_EQ(shifted.workload.jobs[1].job.submit, Time{seconds{2}});
}

TEST(CleanSwf, NeedsJobsAndAMachine) {
    EXPECT_NE(clean_swf({}, "log").error().message.find("no jobs"), std::string::npos);
    const SwfTrace log = log_of({{.runtime = 0}, {.job = 2, .requested = 9}}, 0);
    EXPECT_NE(clean_swf(log, "log").error().message.find("MaxProcs"), std::string::npos);
    EXPECT_FALSE(clean_swf(log, "log", {.processors = 100'000'001}));
    const Result<CleanedSwf> none = clean_swf(log, "log", {.processors = 8});
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().message.find("1 larger than the machine, 1 without run time"), std::string::npos)
        << none.error();
}

TEST(ScheduleSwf, KeepsTheRecordsAndSetsTheWaits) {
    const SwfTrace log = log_of({{.job = 2, .submit = 4, .runtime = 30}, {.job = 3, .runtime = 0}, {.job = 1}});
    const CleanedSwf cleaned = *clean_swf(log, "log");
    const Time start[] = {Time{seconds{0}}, Time{seconds{15}}};
    const SwfTrace schedule = schedule_swf(log, cleaned.workload.jobs, cleaned.record_of_job, start);
    ASSERT_EQ(schedule.records.size(), 2U);
    SwfRecord expected = log.records[0];
    expected.set_whole(SwfField::kWait, 11);
    expected.set_whole(SwfField::kRuntime, 20);
    EXPECT_EQ(schedule.records[1], expected);
    EXPECT_EQ(schedule.processors(), 8);
    EXPECT_EQ(clean_swf(schedule, "log")->workload, cleaned.workload);
}

TEST(ScheduleSwf, HeaderAndFieldsFitTheJobs) {
    SwfTrace log = log_of({{.job = 1, .submit = 5000, .runtime = 30, .allocated = 4, .requested = 2},
                           {.job = 2, .submit = 5010, .runtime = 0}});
    for (const char* line :
         {" MaxJobs: 2", " MaxRecords: 2", " UnixStartTime: 1000000000", " StartTime: then", " EndTime: later"})
        log.comments.emplace_back(line);
    const CleanedSwf cleaned = *clean_swf(
        log, "log",
        {.allocated_size = true, .past_estimate = SwfCleaning::PastEstimate::kRaised, .shift_to_zero = true});
    const Time start[] = {Time{seconds{7}}};
    const SwfTrace out = schedule_swf(log, cleaned.workload.jobs, cleaned.record_of_job, start);
    EXPECT_EQ(out.number("UnixStartTime"), 1'000'005'000);
    EXPECT_EQ(out.number("MaxJobs"), 1);
    EXPECT_EQ(out.number("MaxRecords"), 1);
    EXPECT_EQ(out.directive("StartTime"), std::nullopt);
    EXPECT_EQ(out.directive("EndTime"), std::nullopt);
    // The default rules give the same jobs.
    EXPECT_EQ(clean_swf(out, "log")->workload, cleaned.workload);
    // Without a shift times are those of the log.
    const SwfTrace as_it_is = schedule_swf(log, clean_swf(log, "log")->workload.jobs, cleaned.record_of_job, {});
    EXPECT_EQ(as_it_is.number("UnixStartTime"), 1'000'000'000);
    EXPECT_EQ(as_it_is.directive("StartTime"), "then");
    EXPECT_EQ(as_it_is.directive("EndTime"), "later");
}

TEST(MakeSwf, IsReadBackAsTheSameWorkload) {
    const CleanedSwf cleaned = *clean_swf(log_of({{.job = 1}, {.job = 2, .submit = 4, .requested = 8}}), "log");
    Workload again = clean_swf(*read_swf(write_swf(make_swf(cleaned.workload)), "log"), "log")->workload;
    EXPECT_EQ(again, cleaned.workload);
}

}  // namespace
}  // namespace zbs::formats
