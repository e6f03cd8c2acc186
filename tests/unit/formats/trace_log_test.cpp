#include "algorithms/formats/trace_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs::formats {
namespace {

using testing::HasSubstr;

constexpr const char* kSmall =
    "# two ranks\n"
    "zbs-trace/1 2 incomplete\r\n"
    "program heat 3d\n"
    "\n"
    "rank 0\n"
    "c 0.1\n"
    "s 1 1e3\n"
    "\ts 1 20 7\n"
    "r * 5\n"
    "rank 1\n"
    "p 0\n"
    "r 0 *\n"
    "w 0\n"
    "s 0 1 5";

Trace small() {
    TraceBuilder t(2);
    t.set_program("heat 3d");
    t.set_incomplete();
    t.compute(0, 0.1);
    t.send(0, 1, 1000);
    t.send(0, 1, 20, 7);
    t.receive(0, TraceChannel::kAny, 5);
    const std::uint32_t post = t.post(1, 0);
    t.receive(1, 0, TraceChannel::kAny);
    t.wait(1, post);
    t.send(1, 0, 1, 5);
    return std::move(t).finish();
}

TEST(ReadTrace, ReadsEveryKindOfEvent) {
    const Result<Trace> trace = read_trace(kSmall, "t");
    ASSERT_TRUE(trace) << trace.error();
    EXPECT_EQ(*trace, small());
}

TEST(ReadTrace, CallsThatWereNotSeenMakeItIncomplete) {
    const Trace trace =
        read_trace("zbs-trace/1 1\nunseen 4 MPI_Psend_init\nunseen 2 two words\nunseen 1 MPI_Psend_init\nrank 0\n", "t")
            .value();
    EXPECT_FALSE(trace.complete);
    EXPECT_EQ(trace.unseen, (UnseenCalls{{"MPI_Psend_init", 5}, {"two words", 2}}));
    EXPECT_EQ(read_trace(write_trace(trace), "t").value(), trace);
}

TEST(ReadTrace, ALastLineWithoutAnEndMakesItIncomplete) {
    EXPECT_TRUE(read_trace("zbs-trace/1 1\nrank 0\nc 25\n", "t")->complete);
    EXPECT_FALSE(read_trace("zbs-trace/1 1\nrank 0\nc 2", "t")->complete);
}

TEST(WriteTrace, IsReadBackExactly) {
    EXPECT_EQ(read_trace(write_trace(small()), "t").value(), small());
    TraceBuilder t(1);
    t.compute(0, 1.0 / 3);
    t.compute(0, 5e-324);
    t.send(0, 0, 123456789012345678.0, Trace::kMaxTag);
    const Trace odd = std::move(t).finish();
    EXPECT_EQ(read_trace(write_trace(odd), "t").value(), odd);
}

struct Bad {
    const char* name;
    std::string text;
    const char* pointer;
    const char* message;
};
class ReadTraceRefuses : public testing::TestWithParam<Bad> {};
TEST_P(ReadTraceRefuses, WithTheLineAtFault) {
    const Result<Trace> trace =
        read_trace(GetParam().text, "t", {.max_ranks = 100, .max_events = 4, .max_channels = 3});
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().pointer, GetParam().pointer);
    EXPECT_THAT(trace.error().message, HasSubstr(GetParam().message));
}
const std::string kHead = "zbs-trace/1 4\nrank 0\n";
INSTANTIATE_TEST_SUITE_P(
    , ReadTraceRefuses,
    testing::Values(
        Bad{"Empty", "", "t:0", "zbs-trace/1"}, Bad{"OtherFormat", "{}", "t:1", "zbs-trace/1"},
        Bad{"NoRanks", "zbs-trace/1 0", "t:1", "at least one"}, Bad{"ManyRanks", "zbs-trace/1 101", "t:1", "0 to 100"},
        Bad{"UnseenNothing", "zbs-trace/1 2\nunseen 4", "t:2", "unseen CALLS FUNCTION"},
        Bad{"UnseenNever", "zbs-trace/1 2\nunseen 0 MPI_Bcast_c", "t:2", "unseen CALLS FUNCTION"},
        Bad{"OddHeader", "zbs-trace/1 2 x", "t:1", "incomplete"},
        Bad{"NoRankYet", "zbs-trace/1 2\nc 1", "t:2", "before the first"},
        Bad{"WithoutARank", "zbs-trace/1 3\nrank 0\nc 1\nrank 2\n", "t:4", "without a line 'rank 1'; it is cut off"},
        Bad{"UnknownEvent", kHead + "x 1", "t:3", "'x' is no event"},
        Bad{"NegativeSeconds", kHead + "c -1", "t:3", "number from 0"},
        Bad{"NotANumber", kHead + "c nan", "t:3", "number from 0"},
        Bad{"Infinite", kHead + "c inf", "t:3", "number from 0"}, Bad{"NoSeconds", kHead + "c", "t:3", "missing"},
        Bad{"RankOutOfRange", kHead + "s 4 1", "t:3", "0 to 3"}, Bad{"RankNegative", kHead + "r -1", "t:3", "0 to 3"},
        Bad{"NoBytes", kHead + "s 1", "t:3", "missing"}, Bad{"SendToAny", kHead + "s * 1", "t:3", "a rank must be"},
        Bad{"PostFromAny", kHead + "p *", "t:3", "a rank must be"},
        Bad{"BadTag", kHead + "r 1 -2", "t:3", "a tag must be"},
        Bad{"MoreWords", kHead + "r 1 2 3", "t:3", "nothing may follow"},
        Bad{"WaitForNothing", kHead + "w 0", "t:3", "posted only 0"},
        Bad{"TooManyEvents", kHead + "c 1\nc 1\nc 1\nc 1\nc 1\n", "t:7", "more than 4 events"},
        Bad{"TooManyChannels", kHead + "s 1 1 1\ns 1 1 2\ns 1 1 3\ns 1 1 4\n", "t:6", "more than 3 channels"}),
    [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace zbs::formats
