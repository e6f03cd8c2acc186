#include "algorithms/formats/swf.hpp"

#include <gtest/gtest.h>

namespace zbs::formats {
namespace {

constexpr std::string_view kLine = "1 10 20 30 4 0.5 6 7 80 9 1 11 12 13 14 15 16 17\n";

std::string join(std::initializer_list<std::string_view> lines) {
    std::string text;
    for (const std::string_view line : lines) text += line;
    return text;
}

TEST(ReadSwf, TakesEveryField) {
    const Result<SwfTrace> trace = read_swf(kLine, "log");
    ASSERT_TRUE(trace) << trace.error();
    ASSERT_EQ(trace->records.size(), 1U);
    const SwfRecord& record = trace->records[0];
    EXPECT_EQ(record.line, 1U);
    const std::int64_t expected[kSwfFields] = {1, 10, 20, 30, 4, 0, 6, 7, 80, 9, 1, 11, 12, 13, 14, 15, 16, 17};
    for (std::size_t i = 0; i < kSwfFields; ++i) EXPECT_EQ(record.whole(static_cast<SwfField>(i)), expected[i]) << i;
    EXPECT_EQ(record.millionth(SwfField::kCpuTime), 500'000);
}

TEST(ReadSwf, SplitsOnAnyBlanks) {
    const std::string text = "\n \t\n  1\t10   20 30 4 0.5 6 7 80 9 1 11 12 13 14 15 16 17 \t\r\n\r\n";
    const Result<SwfTrace> trace = read_swf(text, "log");
    ASSERT_TRUE(trace) << trace.error();
    ASSERT_EQ(trace->records.size(), 1U);
    EXPECT_EQ(trace->records[0], read_swf(kLine, "log")->records[0]);
    EXPECT_EQ(trace->records[0].line, 3U);
}

TEST(ReadSwf, ALastLineNeedsNoLineFeed) {
    const std::string_view text = kLine.substr(0, kLine.size() - 1);
    EXPECT_EQ(read_swf(text, "log")->records, read_swf(kLine, "log")->records);
}

TEST(SwfReader, PiecesOfALogAreTheLog) {
    const std::string text = "\xEF\xBB\xBF; MaxProcs: 8\n" +
                             join({kLine, "\r\n", kLine, "cut 1\n", kLine, "; Note: last\n", kLine.substr(0, 54)});
    const SwfReadOptions lenient{.lenient = true};
    const SwfTrace whole = read_swf(text, "log", lenient).value();
    ASSERT_EQ(whole.records.size(), 4U);
    for (std::size_t piece = 4; piece < text.size(); ++piece) {
        SwfReader reader("log", lenient);
        std::string left;
        for (std::size_t at = 0; at < text.size(); at += piece) {
            left += text.substr(at, piece);
            left.erase(0, reader.read(left, at + piece >= text.size()).value());
        }
        EXPECT_EQ(left, "");
        const SwfTrace& trace = reader.trace();
        EXPECT_EQ(trace.records, whole.records) << piece;
        EXPECT_EQ(trace.records.back().line, whole.records.back().line);
        EXPECT_EQ(trace.comments, whole.comments);
        EXPECT_EQ(trace.skipped_lines, 1U);
        EXPECT_EQ(trace.first_skipped, whole.first_skipped);
    }
}

TEST(ReadSwf, NumbersKeepSixDecimals) {
    struct Case {
        std::string_view text;
        std::int64_t millionths;
    };
    for (const auto& [text, millionths] : {Case{"-1", -1'000'000},
                                           {"+3", 3'000'000},
                                           {"0.03", 30'000},
                                           {"-0.5", -500'000},
                                           {".25", 250'000},
                                           {"7.", 7'000'000},
                                           {"1.0000004", 1'000'000},
                                           {"1.0000005", 1'000'001},
                                           {"1.99999999", 2'000'000},
                                           {"000000000000012", 12'000'000},
                                           {"999999999999", 999'999'999'999'000'000},
                                           {"-999999999999", -999'999'999'999'000'000}}) {
        const std::string line = "1 1 1 1 1 " + std::string(text) + " 1 1 1 1 1 1 1 1 1 1 1 1";
        const Result<SwfTrace> trace = read_swf(line, "log");
        ASSERT_TRUE(trace) << text << trace.error();
        EXPECT_EQ(trace->records[0].millionth(SwfField::kCpuTime), millionths) << text;
    }
}

TEST(ReadSwf, FaultsNameLineFieldAndRemedy) {
    struct Case {
        std::string line, message;
    };
    const auto with = [](const std::string& field) { return "1 2 3 4 5 6 7 8 " + field + " 1 1 1 1 1 1 1 1 1"; };
    for (const auto& [line, message] : {Case{"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "17 fields instead of 18"},
                                        {"garbage", "1 field instead of 18"},
                                        {with("x"), "field 9 is 'x'"},
                                        {with("1e5"), "field 9 is '1e5'"},
                                        {with("-"), "field 9 is '-'"},
                                        {with("."), "field 9 is '.'"},
                                        {with("--1"), "field 9 is '--1'"},
                                        {with("1.2.3"), "field 9 is '1.2.3'"},
                                        {with("nan"), "field 9 is 'nan'"},
                                        {with("1000000000000"), "at most 12 digits"},
                                        {with("999999999999.9"), "at most 12 digits"},
                                        {with("99999999999999999999999999"), "at most 12 digits"},
                                        {with("\x1b[2J"), "field 9 is '?[2J'"},
                                        {std::string(70'000, '1'), "at most 65536"}}) {
        const Result<SwfTrace> trace = read_swf(join({"; comment\n", kLine, line, "\n", kLine}), "log");
        ASSERT_FALSE(trace) << line;
        EXPECT_EQ(trace.error().code, ErrorCode::kInvalidArgument);
        EXPECT_EQ(trace.error().pointer, "log:3");
        EXPECT_NE(trace.error().message.find(message), std::string::npos) << trace.error();
    }
}

TEST(ReadSwf, PassesAByteOrderMarkAndReturns) {
    const std::string mark = "\xEF\xBB\xBF";
    const Result<SwfTrace> header =
        read_swf(mark + "; MaxProcs: 4\r\n\r\n1 10 20 30 4 0.5 6 7 80 9 1 11 12 13 14 15 16 17\r\n", "log");
    ASSERT_TRUE(header) << header.error();
    EXPECT_EQ(header->processors(), 4);
    EXPECT_EQ(header->records, read_swf(kLine, "log")->records);
    EXPECT_EQ(read_swf(mark + std::string(kLine), "log")->records, header->records);
    // Elsewhere it is no blank.
    EXPECT_FALSE(read_swf(std::string(kLine) + mark + std::string(kLine), "log"));
}

TEST(ReadSwf, LeavesOutWhatIsBehindTheLastField) {
    const std::string wide = std::string(kLine.substr(0, kLine.size() - 1)) + " {3,3} long 1:ppn=4\n";
    const Result<SwfTrace> trace = read_swf(join({kLine, wide, kLine, wide}), "log");
    ASSERT_TRUE(trace) << trace.error();
    EXPECT_EQ(trace->records[1], trace->records[0]);
    EXPECT_EQ(trace->wide_lines.count, 2U);
    EXPECT_EQ(trace->wide_lines.first_line, 2U);
    EXPECT_EQ(trace->label_lines.count, 0U);
}

TEST(ReadSwf, WordsAreUnknownWhereAJobNeedsNoNumber) {
    const Result<SwfTrace> trace = read_swf(
        join({kLine, "1 10 x 30 4 1e9 6k 7 80 1099511627776000 1 ana staff a.out long batch none -\n"}), "log");
    ASSERT_TRUE(trace) << trace.error();
    SwfRecord expected = trace->records[0];
    for (const SwfField field : {SwfField::kWait, SwfField::kCpuTime, SwfField::kUsedMemory, SwfField::kRequestedMemory,
                                 SwfField::kUser, SwfField::kGroup, SwfField::kExecutable, SwfField::kQueue,
                                 SwfField::kPartition, SwfField::kPrecedingJob, SwfField::kThinkTime})
        expected.set_whole(field, -1);
    EXPECT_EQ(trace->records[1], expected);
    EXPECT_EQ(trace->label_lines.count, 1U);
    EXPECT_EQ(trace->label_lines.first_line, 2U);
    for (const std::string_view line : {"x 2 3 4 5 6 7 8 9 1 1 1 1 1 1 1 1 1", "1 x 3 4 5 6 7 8 9 1 1 1 1 1 1 1 1 1",
                                        "1 2 3 x 5 6 7 8 9 1 1 1 1 1 1 1 1 1", "1 2 3 4 x 6 7 8 9 1 1 1 1 1 1 1 1 1",
                                        "1 2 3 4 5 6 7 x 9 1 1 1 1 1 1 1 1 1", "1 2 3 4 5 6 7 8 9 1 x 1 1 1 1 1 1 1"}) {
        const Result<SwfTrace> refused = read_swf(line, "log");
        ASSERT_FALSE(refused) << line;
        EXPECT_NE(refused.error().message.find(" is 'x'"), std::string::npos) << refused.error();
    }
}

TEST(ReadSwf, LenientlySkipsAndCountsWhatItCannotRead) {
    const Result<SwfTrace> trace =
        read_swf(join({kLine, "1 2 3\n", "oops\n", kLine}), "log", SwfReadOptions{.lenient = true});
    ASSERT_TRUE(trace) << trace.error();
    EXPECT_EQ(trace->records.size(), 2U);
    EXPECT_EQ(trace->skipped_lines, 2U);
    EXPECT_EQ(trace->first_skipped->pointer, "log:2");
    EXPECT_NE(trace->first_skipped->message.find("3 fields"), std::string::npos);
}

TEST(ReadSwf, HeaderIsReadLeniently) {
    const Result<SwfTrace> trace = read_swf(
        "; Version: 2.2\n;Computer: IBM SP2\n;   MaxNodes: 64\n; MaxProcs: 128 (of 64 nodes)\r\n; Partition: 18  "
        "z+i5U=:\n; Partition: 19  `;\n;\n; Note: 7 procs\n;; MaxJobs\n; MaxRecords: many\n; UnixStartTime: -1\n",
        "log");
    ASSERT_TRUE(trace) << trace.error();
    EXPECT_EQ(trace->comments.size(), 11U);
    EXPECT_EQ(trace->directive("Computer"), "IBM SP2");
    EXPECT_EQ(trace->directive("Partition"), "18  z+i5U=:");
    EXPECT_EQ(trace->number("MaxNodes"), 64);
    EXPECT_EQ(trace->number("MaxProcs"), 128);
    EXPECT_EQ(trace->processors(), 128);
    EXPECT_EQ(trace->number("MaxRecords"), std::nullopt);
    EXPECT_EQ(trace->number("UnixStartTime"), std::nullopt);
    EXPECT_EQ(trace->directive("MaxJobs"), std::nullopt);
}

TEST(ReadSwf, MachineSizeFallsBackToNodes) {
    EXPECT_EQ(read_swf("; MaxNodes: 64\n; MaxProcs: -1\n", "log")->processors(), 64);
    EXPECT_EQ(read_swf("; MaxNodes: -1\n; MaxProcs: 128\n", "log")->processors(), 128);
    EXPECT_EQ(read_swf("; MaxProcs: 0\n", "log")->processors(), std::nullopt);
    EXPECT_EQ(read_swf("", "log")->processors(), std::nullopt);
    EXPECT_EQ(read_swf("; MaxProcs : 4\n", "log")->processors(), 4);
}

TEST(SwfTrace, DirectivesCanBeReplacedAndErased) {
    SwfTrace trace = *read_swf("; Version: 2.2\n;MaxJobs : 7\n; MaxJobs: 8\n", "log");
    trace.set_directive("MaxJobs", "3");
    trace.set_directive("EndTime", "never");
    EXPECT_EQ(write_swf(trace), "; Version: 2.2\n; MaxJobs: 3\n; MaxJobs: 8\n");
    trace.erase_directive("MaxJobs");
    EXPECT_EQ(write_swf(trace), "; Version: 2.2\n");
}

TEST(WriteSwf, GivesBackWhatWasRead) {
    const std::string text = join(
        {"; Version: 2.2\n", ";\n", kLine, "2 -1 -1 0 -1 -0.25 -1 -1 123456789012 -1 5 -1 -1 -1 -1 -1 -1 0.000001\n"});
    const SwfTrace trace = *read_swf(text, "log");
    EXPECT_EQ(write_swf(trace), text);
}

Workload two_jobs() {
    using std::chrono::seconds;
    Workload workload{.name = "two", .processors = 8, .jobs = {}};
    workload.jobs.push_back({{.id = JobId{1},
                              .submit = Time{seconds{5}},
                              .walltime = seconds{100},
                              .processors = 3,
                              .user = 7,
                              .group = 2,
                              .queue = 1,
                              .memory_bytes = 4096},
                             seconds{60}});
    workload.jobs.push_back(
        {{.id = JobId{2}, .submit = Time{seconds{9}}, .walltime = seconds{30}, .processors = 8}, seconds{30}});
    return workload;
}

TEST(MakeSwf, WritesAWorkloadWithItsSchedule) {
    const Workload workload = two_jobs();
    const Time start[] = {Time{std::chrono::seconds{5}}, Time{std::chrono::seconds{65}}};
    const SwfTrace trace = make_swf(workload, start);
    EXPECT_EQ(trace.processors(), 8);
    const std::string text = write_swf(trace);
    EXPECT_NE(text.find("\n1 5 0 60 3 -1 -1 3 100 4 1 7 2 -1 1 -1 -1 -1\n2 9 56 30 8 -1 -1 8 30 -1 1 -1 -1 -1 -1 -1 "
                        "-1 -1\n"),
              std::string::npos)
        << text;
    EXPECT_NE(write_swf(make_swf(workload)).find("\n1 5 -1 60 "), std::string::npos);
}

}  // namespace
}  // namespace zbs::formats
