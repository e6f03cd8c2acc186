#include "algorithms/formats/sacct.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "algorithms/formats/swf_cleaning.hpp"
#include "tests/support/source_folder.hpp"

namespace zbs::formats {
namespace {

constexpr std::string_view kHeader =
    "JobIDRaw|Submit|Eligible|Start|End|Timelimit|ReqCPUS|AllocCPUS|State|User|Account|Partition\n";

/// An output of a real sacct, see recorded/README.md.
std::string recorded(const std::string& name) {
    std::ifstream file(test::source_folder() + "/tests/unit/formats/recorded/" + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string with_header(std::string_view lines) { return std::string(kHeader) + std::string(lines); }

using enum SwfField;

std::vector<std::int64_t> values(const SwfRecord& record, std::initializer_list<SwfField> fields) {
    std::vector<std::int64_t> found;
    for (const SwfField field : fields) found.push_back(record.whole(field));
    return found;
}

TEST(ReadSacct, TakesEveryColumn) {
    const SlurmMachine machine{.processors = 64, .partitions = {{"short", 3'600}, {"long", std::nullopt}}};
    const Result<SacctLog> log = read_sacct(
        with_header("7|2026-01-01T00:00:10|2026-01-01T00:00:20|2026-01-01T00:01:00|2026-01-02T00:01:00|1-06:00:00|4|8|"
                    "COMPLETED|ana|physics|long\n"
                    "9|2026-01-01T00:00:10|2026-01-01T00:00:10|2026-01-01T00:00:11|2026-01-01T00:00:12|UNLIMITED|2|2|"
                    "CANCELLED by 7|bo|physics|short\r\n"
                    "8|2026-01-01T00:00:30|2026-01-01T00:00:30|Unknown|Unknown|Partition_Limit|2|0|PENDING|ana||long"),
        "log", &machine);
    ASSERT_TRUE(log) << log.error();
    const std::vector<SwfRecord>& records = log->trace.records;
    ASSERT_EQ(records.size(), 3U);
    const auto all = {kJob,    kSubmit, kWait,  kRuntime, kAllocatedProcessors, kRequestedProcessors, kRequestedTime,
                      kStatus, kUser,   kGroup, kQueue};
    EXPECT_EQ(values(records[0], all), (std::vector<std::int64_t>{7, 10, 40, 86'400, 8, 4, 108'000, 1, 1, 1, 2}));
    EXPECT_EQ(values(records[1], all), (std::vector<std::int64_t>{9, 0, 1, 1, 2, 2, 3'600, 5, 2, 1, 1}));
    EXPECT_EQ(values(records[2], all), (std::vector<std::int64_t>{8, 20, -1, -1, 0, 2, -1, -1, 1, -1, 2}));
    EXPECT_EQ(records[2].line, 4U);
    EXPECT_EQ(log->trace.number("UnixStartTime"), 1'767'225'610);
    EXPECT_EQ(log->trace.processors(), 64);
    EXPECT_EQ(log->trace.directive("Queue"), "1 short");
    EXPECT_EQ(log->notes, (std::vector<std::string>{
                              "1 job of the file became eligible after their submission, and count as submitted then",
                              "1 job of the file without a time limit got that of their partition"}));
}

TEST(ReadSacct, TakesOtherColumnsAndClocks) {
    const Result<SacctLog> log = read_sacct(
        "\xEF\xBB\xBFjobid|Start|END|Submit|NCPUS|TimelimitRaw|\n"
        "12_4|1000|1060|990|2|5|\n"
        "12_4.batch|1000|1060|1000|2||\n"
        "\n"
        "13+1|1000|1061|980|3|UNLIMITED|\n",
        "log");
    ASSERT_TRUE(log) << log.error();
    ASSERT_EQ(log->trace.records.size(), 2U);
    const auto some = {kJob, kSubmit, kWait, kRuntime, kAllocatedProcessors, kRequestedTime};
    EXPECT_EQ(values(log->trace.records[0], some), (std::vector<std::int64_t>{1, 10, 10, 60, 2, 300}));
    EXPECT_EQ(values(log->trace.records[1], some), (std::vector<std::int64_t>{2, 0, 20, 61, 3, -1}));
    EXPECT_EQ(log->notes, (std::vector<std::string>{"1 job step was left out",
                                                    "there is no column State: no job is taken for cancelled or "
                                                    "failed"}));
    EXPECT_EQ(log->trace.comments.back(), " UnixStartTime: 980");
}

TEST(ReadSacct, NamesJobsThatEndBeforeTheyStart) {
    const SlurmMachine machine{.processors = 4, .partitions = {{.name = "p", .max_time_s = 60}}};
    const Result<SacctLog> log = read_sacct(
        "JobIDRaw|Submit|Start|End|NCPUS|State\n"
        "1|2026-10-25T02:40:00|2026-10-25T02:50:00|2026-10-25T02:10:00|1|COMPLETED\n",
        "log", &machine);
    ASSERT_TRUE(log) << log.error();
    EXPECT_EQ(log->trace.records[0].whole(SwfField::kRuntime), -1);
    ASSERT_EQ(log->notes.size(), 2U);
    EXPECT_NE(log->notes[0].find("1 job of the file ended before they started"), std::string::npos) << log->notes[0];
    EXPECT_EQ(log->notes[1], "there is no column Partition: no job has the time limit of its partition");
    EXPECT_EQ(log->trace.comments[3], " Note: UnixStartTime is local time, as if that were UTC");
}

TEST(ReadSacct, FaultsNameLineAndRemedy) {
    constexpr std::string_view kGoodLine =
        "7|2026-01-01T00:00:10|Unknown|2026-01-01T00:01:00|2026-01-02T00:01:00|10:00|4|8|COMPLETED|a|b|c\n";
    const auto with = [&](std::string_view from, std::string_view to) {
        std::string line(kGoodLine);
        return with_header(std::string(kGoodLine) + line.replace(line.find(from), from.size(), to));
    };
    struct Case {
        std::string text;
        std::string_view place, message;
    };
    for (const auto& [text, place, message] :
         {Case{"", "log", "--format=JobIDRaw,Submit"}, Case{std::string(kHeader), "log", "--starttime"},
          Case{"JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n", "log:1",
               "no column Submit: write the file with"},
          Case{"Submit|Start|End|NCPUS\n", "log:1", "no column JobIDRaw"},
          Case{"JobID|Submit|Start|End\n", "log:1", "no column ReqCPUS or AllocCPUS"},
          Case{with("|a|", "|a|b|"), "log:3", "13 fields and the header 12"},
          Case{with("7|2026", "7_1|2026"), "log:3", "column JobIDRaw is '7_1'"},
          Case{with("2026-01-01T00:00:10", "01/01-00:00"), "log:3", "unset SLURM_TIME_FORMAT"},
          Case{with("2026-01-01T00:00:10", "2026-02-30T00:00:00"), "log:3", "column Submit"},
          Case{with("2026-01-01T00:00:10", "9999999999999"), "log:3", "column Submit"},
          Case{with("10:00", "soon"), "log:3", "not a time limit"},
          Case{with("|4|", "|4K|"), "log:3", "column ReqCPUS"},
          Case{with_header(std::string(SwfTrace::kMaxLine + 1, 'x')), "log:2", "bytes"}}) {
        const Result<SacctLog> log = read_sacct(text, "log");
        ASSERT_FALSE(log) << text;
        EXPECT_EQ(log.error().pointer, place) << log.error();
        EXPECT_NE(log.error().message.find(message), std::string::npos) << log.error();
        const Result<SacctLog> lenient = read_sacct(text, "log", nullptr, {.lenient = true});
        EXPECT_EQ(lenient.has_value(), place != "log" && place != "log:1") << text;
        if (lenient) {
            EXPECT_EQ(lenient->trace.first_skipped, log.error());
        }
    }
}

TEST(ReadSacct, OfARealSlurm) {
    const Result<SlurmMachine> machine = read_slurm_conf(recorded("slurm.conf"), "slurm.conf");
    ASSERT_TRUE(machine) << machine.error();
    EXPECT_EQ(*machine, (SlurmMachine{.processors = 10, .partitions = {{"short", 60}, {"long", std::nullopt}}}));
    const Result<SacctLog> allocations = read_sacct(recorded("sacct.txt"), "sacct.txt", &*machine);
    ASSERT_TRUE(allocations) << allocations.error();
    const Result<SacctLog> steps = read_sacct(recorded("sacct_steps.txt"), "sacct_steps.txt", &*machine);
    ASSERT_TRUE(steps) << steps.error();
    ASSERT_EQ(steps->trace.records.size(), allocations->trace.records.size());
    for (std::size_t i = 0; i < steps->trace.records.size(); ++i)
        for (const SwfField field :
             {kJob, kSubmit, kWait, kRuntime, kAllocatedProcessors, kRequestedTime, kStatus, kUser, kGroup, kQueue})
            EXPECT_EQ(steps->trace.records[i].whole(field), allocations->trace.records[i].whole(field))
                << i << " " << int(field);
    EXPECT_EQ(allocations->notes,
              (std::vector<std::string>{
                  "2 jobs of the file became eligible after their submission, and count as submitted then"}));
    EXPECT_EQ(steps->notes.front(), "15 job steps were left out");
    const Result<CleanedSwf> cleaned = clean_swf(allocations->trace, "sacct.txt");
    ASSERT_TRUE(cleaned) << cleaned.error();
    // Not ended: 14, 16, 19; not begun: 15; ended at once: 2. Job 7 ran past its limit.
    EXPECT_EQ(cleaned->workload.jobs.size(), 12U);
    EXPECT_EQ(cleaned->dropped[static_cast<std::size_t>(SwfDrop::kNoRuntime)], 5U);
    EXPECT_EQ(cleaned->cut_at_estimate, 1U);
    EXPECT_EQ(cleaned->workload.processors, 10);
}

}  // namespace
}  // namespace zbs::formats
