#include "algorithms/formats/profile_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "algorithms/base/rng.hpp"

namespace zbs::formats {
namespace {

// [Prabhakar2003, figure 3.2], as printed.
constexpr std::string_view kSample =
    "1  -101 0 0 4 0 1093114 S 0 D 4 SZ 200\n"
    "2  -101 0 0 1 0 1093150 S 0 D 1 SZ 200\n"
    "3     1 0 0 0 0 1093220 PAPI 0 52723\n"
    "4  -101 0 0 4 0 1093250 S 0 D 4 SZ 200\n"
    "5  -101 0 0 1 0 1093289 S 0 D 1 SZ 200\n"
    "6  -102 0 0 0 0 1722303 R 1 D 0 720\n"
    "7  -102 0 0 0 0 1722344 R 2 D 0 720\n";

Result<ApplicationModel> read(std::string_view text, ProfileLogLimits limits = {}, std::size_t piece = 1 << 20) {
    ProfileLogReader reader("log", limits);
    for (std::size_t at = 0; at < text.size(); at += piece) {
        if (Result<void> fed = reader.feed(text.substr(at, piece)); !fed) return fed.error();
    }
    return reader.finish();
}

TEST(ProfileLogReader, ReadsThePrintedSample) {
    const auto model = read(kSample);
    ASSERT_TRUE(model) << model.error();
    EXPECT_EQ(model->graph.task_count(), 5);
    EXPECT_THAT(model->graph.edges(),
                testing::ElementsAre(TaskEdge{0, 1, 1120, 3}, TaskEdge{0, 2, 720, 1}, TaskEdge{0, 4, 400, 2}));
    EXPECT_DOUBLE_EQ(model->graph.compute(0), 0.052723);
    EXPECT_EQ(model->graph.compute(1), 0);
    EXPECT_TRUE(model->complete);
}

TEST(ProfileLogReader, ReadsTheSameWhereverChunksEnd) {
    const auto whole = read(kSample);
    ASSERT_TRUE(whole);
    for (std::size_t piece = 1; piece < 60; ++piece) {
        const auto model = read(kSample, {}, piece);
        ASSERT_TRUE(model) << piece;
        EXPECT_EQ(*model, *whole) << piece;
    }
}

TEST(ProfileLogReader, TakesAnyWhiteSpaceAHeaderAndNoLastNewline) {
    const auto model = read(
        "line type a b c d time event\r\n\n \t\r\n1\t-101 0  0 4\v0 1 S 0 D 1 SZ 8\r\n2 -101 0 0 4 0 1 S 0 D 1 SZ 9");
    ASSERT_TRUE(model) << model.error();
    EXPECT_THAT(model->graph.edges(), testing::ElementsAre(TaskEdge{0, 1, 17, 2}));
}

TEST(ProfileLogReader, ComputeIsTheMeanPerRank) {
    const auto model = read("1 1 0 0 0 0 5 PAPI 1 1000000\n2 1 0 0 0 0 5 PAPI 1 3000000\n3 1 0 0 0 0 5 PAPI 0 7\n");
    ASSERT_TRUE(model);
    EXPECT_DOUBLE_EQ(model->graph.compute(1), 2.0);
    EXPECT_DOUBLE_EQ(model->graph.compute(0), 7e-6);
}

TEST(ProfileLogReader, ASendInAnyFileSilencesTheReceivesOfItsDirection) {
    ProfileLogReader reader("rank 1");
    ASSERT_TRUE(
        reader.feed("header\n1 -102 0 0 0 0 1 R 0 D 1 100\n2 -102 0 0 0 0 1 R 0 D 1 100\n3 -102 0 0 0 0 2 R 2 D 1 50"));
    ASSERT_TRUE(reader.begin_source("rank 0"));
    ASSERT_TRUE(reader.feed("header\n1 -101 0 0 0 0 1 S 0 D 1 SZ 100\n2 -102 0 0 0 0 1 R 1 D 0 30\n"));
    const auto model = reader.finish();
    ASSERT_TRUE(model) << model.error();
    // 0->1 by its one send, 1->0 by its receive, 2->1 by its receive.
    EXPECT_THAT(model->graph.edges(), testing::ElementsAre(TaskEdge{0, 1, 130, 2}, TaskEdge{1, 2, 50, 1}));
}

TEST(ProfileLogReader, AMessageToOneselfIsNoEdge) {
    const auto model = read("1 -101 0 0 0 0 1 S 3 D 3 SZ 100\n");
    ASSERT_TRUE(model);
    EXPECT_EQ(model->graph.task_count(), 4);
    EXPECT_EQ(model->graph.edge_count(), 0U);
}

TEST(ProfileLogReader, CountsLinesPerSource) {
    ProfileLogReader reader("a.log");
    ASSERT_TRUE(reader.feed(kSample));
    ASSERT_TRUE(reader.begin_source("b.log"));
    ASSERT_TRUE(reader.feed("1 1 0 0 0 0 5 PAPI 0 9\n"));
    const auto fed = reader.feed("2 1 0 0 0 0 5 PAPI 0 x\n");
    ASSERT_FALSE(fed);
    EXPECT_EQ(fed.error().pointer, "b.log:2");
    EXPECT_FALSE(reader.feed("3 1 0 0 0 0 5 PAPI 0 9\n")) << "a failed reader stays failed";
    EXPECT_FALSE(reader.finish());
}

struct BadCase {
    const char* name;
    std::string text;
    const char* message;
    const char* pointer;
};
class ProfileLogRefuses : public testing::TestWithParam<BadCase> {};
TEST_P(ProfileLogRefuses, WithThePlaceAndTheFault) {
    const auto model = read(GetParam().text);
    ASSERT_FALSE(model);
    EXPECT_THAT(model.error().message, testing::HasSubstr(GetParam().message));
    EXPECT_EQ(model.error().pointer, GetParam().pointer);
}
const std::string kGood = "1 -101 0 0 4 0 9 S 0 D 4 SZ 200\n";
INSTANTIATE_TEST_SUITE_P(
    , ProfileLogRefuses,
    testing::Values(
        BadCase{"Nothing", "", "no record", "log"}, BadCase{"OnlyAHeader", "line type\n", "no record", "log"},
        BadCase{"CutOffSize", kGood + "2 -101 0 0 4 0 9 S 0 D 4 SZ", "size in bytes is missing", "log:2"},
        BadCase{"CutOffWord", kGood + "2 -101 0 0 4 0 9 S 0 D", "destination rank is missing", "log:2"},
        BadCase{"CutOffTime", kGood + "2 -101 0 0 4", "fourth integer is missing", "log:2"},
        BadCase{"CutOffInside", kGood + "2 -101 0 0 4 0 9 S 0 D 4 S\n" + kGood, "\"SZ\" expected", "log:2"},
        BadCase{"Nul", kGood + std::string("2 -101 0 0 4 \0 9 S 0 D 4 SZ 2\n", 31), "binary data", "log:2"},
        BadCase{"BinaryFirst",
                "\x7f"
                "ELF\x02\x01\n",
                "binary data", "log:1"},
        BadCase{"HighByte", kGood + "2 -101 0 0 4 0 9 S 0 D 4 SZ 2\xc3\xa9\n", "binary data", "log:2"},
        BadCase{"NegativeBytes", kGood + "2 -101 0 0 4 0 9 S 0 D 4 SZ -5\n", "must not be negative", "log:2"},
        BadCase{"NegativeRank", kGood + "2 -101 0 0 4 0 9 S -1 D 4 SZ 5\n", "source rank -1 is outside", "log:2"},
        BadCase{"LargeRank", kGood + "2 -101 0 0 4 0 9 S 0 D 10000000 SZ 5\n", "destination rank 10000000 is outside",
                "log:2"},
        BadCase{"PapiRank", kGood + "2 1 0 0 4 0 9 PAPI 10000000 5\n", "rank 10000000 is outside", "log:2"},
        BadCase{"UnknownType", kGood + "2 -103 0 0 4 0 9 S 0 D 4 SZ 5\n", "unknown event type -103", "log:2"},
        BadCase{"PositiveSendType", kGood + "2 101 0 0 4 0 9 S 0 D 4 SZ 5\n", "unknown event type 101", "log:2"},
        BadCase{"WrongLetter", kGood + "2 -101 0 0 4 0 9 R 0 D 4 SZ 5\n", "\"S\" expected", "log:2"},
        BadCase{"UnknownEvent", kGood + "2 1 0 0 4 0 9 TIMER 0 5\n", "\"PAPI\" expected", "log:2"},
        BadCase{"ExtraField", kGood + "2 1 0 0 4 0 9 PAPI 0 5 6\n", "more fields", "log:2"},
        BadCase{"SecondHeader", kGood + "line type\n", "line number should be an integer", "log:2"},
        BadCase{"Overflow", kGood + "2 -101 0 0 4 0 9 S 0 D 4 SZ 99999999999999999999999\n", "should be an integer",
                "log:2"},
        BadCase{"HugeMessage", kGood + "2 -101 0 0 4 0 9 S 0 D 4 SZ 1125899906842625\n", "larger than 2^50", "log:2"},
        BadCase{"LongLine", kGood + std::string(5000, '1') + "\n", "longer than 4096", "log:2"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(ProfileLogReader, RefusesALineWithoutEndBeforeHoldingItAll) {
    ProfileLogReader reader("log", {.max_line_bytes = 100});
    Result<void> fed;
    int pieces = 0;
    for (; fed && pieces < 1000; ++pieces) fed = reader.feed("1 2 3 4 5 ");
    EXPECT_EQ(pieces, 11);
    EXPECT_EQ(fed.error().code, ErrorCode::kTooLarge);
}

/// Logs as the profiling library begins them, one after the other.
Result<ApplicationModel> read_run(const std::vector<std::string>& headers) {
    ProfileLogReader reader("log.0");
    for (std::size_t i = 0; i < headers.size(); ++i) {
        if (i > 0 && !reader.begin_source("log." + std::to_string(i))) break;
        if (!reader.feed(headers[i] + "\n1 -101 0 0 0 0 1 S 0 D 1 SZ 8\n")) break;
    }
    return reader.finish();
}

TEST(ProfileLogReader, TakesTheLogsOfOneRunOnly) {
    const auto whole = read_run({"zbs-log/1 run ab rank 0 of 2", "zbs-log/1 run ab rank 1 of 2"});
    ASSERT_TRUE(whole) << whole.error();
    EXPECT_TRUE(whole->complete);
    const auto partial = read_run({"zbs-log/1 run ab rank 0 of 3", "zbs-log/1 run ab rank 1 of 3"});
    ASSERT_TRUE(partial) << partial.error();
    EXPECT_FALSE(partial->complete);
    EXPECT_EQ(partial->graph.task_count(), 3);
    for (const char* other : {"zbs-log/1 run cd rank 1 of 2", "zbs-log/1 run ab rank 1 of 3"}) {
        const auto mixed = read_run({"zbs-log/1 run ab rank 0 of 2", other});
        ASSERT_FALSE(mixed) << other;
        EXPECT_NE(mixed.error().message.find("another run"), std::string::npos) << mixed.error();
        EXPECT_EQ(mixed.error().pointer, "log.1:1");
    }
    for (const char* bad : {"zbs-log/1 run ab rank 0 of 2", "zbs-log/1 run ab rank 2 of 2", "zbs-log/1 run ab rank 1",
                            "zbs-log/1 run ", "zbs-log/1 run ab rank -1 of 2", "zbs-log/1 run ab rank 1 of 2 x"})
        EXPECT_FALSE(read_run({"zbs-log/1 run ab rank 0 of 2", bad})) << bad;
}

TEST(ProfileLogReader, ALastLineWithoutAnEndMakesItIncomplete) {
    EXPECT_TRUE(read("1 1 0 0 0 0 5 PAPI 0 71\n")->complete);
    EXPECT_FALSE(read("1 1 0 0 0 0 5 PAPI 0 7")->complete);
}

TEST(ProfileLogReader, CallsThatWereNotSeenMakeItIncomplete) {
    const auto model = read(
        "zbs-log/1 run ab rank 0 of 1\n1 1 0 0 0 0 5 PAPI 0 7\nzbs-log/1 unseen 4 MPI_Psend_init\n"
        "zbs-log/1 unseen 2 two words \r\nzbs-log/1 unseen 1 MPI_Psend_init\n");
    ASSERT_TRUE(model) << model.error();
    EXPECT_FALSE(model->complete);
    EXPECT_EQ(model->unseen, (UnseenCalls{{"MPI_Psend_init", 5}, {"two words", 2}}));
    for (const char* bad : {"zbs-log/1 unseen 4", "zbs-log/1 unseen MPI_Bcast_c", "zbs-log/1 unseen 0 MPI_Bcast_c",
                            "zbs-log/1 unseen -1 MPI_Bcast_c", "zbs-log/1 unseen 1 \x01"})
        EXPECT_FALSE(read(bad)) << bad;
}

TEST(ProfileLogReader, HoldsAtMostTheAllowedPairs) {
    EXPECT_TRUE(read("1 -101 0 0 0 0 1 S 0 D 1 SZ 1\n2 -101 0 0 0 0 1 S 1 D 0 SZ 1\n", {.max_pairs = 2}));
    const auto model =
        read("1 -101 0 0 0 0 1 S 0 D 1 SZ 1\n2 -101 0 0 0 0 1 S 1 D 0 SZ 1\n3 -101 0 0 0 0 1 S 1 D 2 SZ 1\n",
             {.max_pairs = 2});
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, ErrorCode::kTooLarge);
    EXPECT_EQ(model.error().pointer, "log:3");
}

// What the writer writes is what the reader sums, against a plain map.
TEST(ProfileLogProperty, WriterThenReaderGivesTheSums) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        std::string text;
        ProfileLogWriter writer(text);
        std::map<std::pair<int, int>, std::pair<double, double>> sends, receives;
        const int ranks = 2 + static_cast<int>(rng.below(60));
        for (int i = 0; i < 3000; ++i) {
            const int from = static_cast<int>(rng.below(static_cast<std::uint64_t>(ranks))),
                      to = static_cast<int>(rng.below(static_cast<std::uint64_t>(ranks)));
            const std::uint64_t bytes = rng.below(1'000'000);
            auto& sum = rng.below(4) == 0 ? (writer.receive({from, to, bytes, i}), receives[{from, to}])
                                          : (writer.send({from, to, bytes, i}), sends[{from, to}]);
            sum.first += static_cast<double>(bytes);
            sum.second += 1;
        }
        for (const auto& [pair, sum] : receives) sends.try_emplace(pair, sum);
        std::map<std::pair<int, int>, std::pair<double, double>> edges;
        for (const auto& [pair, sum] : sends) {
            if (pair.first == pair.second) continue;
            auto& edge = edges[std::minmax(pair.first, pair.second)];
            edge.first += sum.first;
            edge.second += sum.second;
        }
        const auto model = read(text, {}, 1 + rng.below(5000));
        ASSERT_TRUE(model) << model.error();
        ASSERT_EQ(model->graph.edge_count(), edges.size());
        for (const TaskEdge& edge : model->graph.edges()) {
            EXPECT_EQ(edges.at({edge.u, edge.v}), std::make_pair(edge.bytes, edge.messages)) << edge;
        }
    }
}

}  // namespace
}  // namespace zbs::formats
