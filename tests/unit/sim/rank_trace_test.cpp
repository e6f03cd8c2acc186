#include "algorithms/sim/rank_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "algorithms/base/trace_layout.hpp"
#include "algorithms/sim/replay.hpp"
#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

using testing::HasSubstr;
using Kind = RankTraceRecord::Kind;
constexpr std::uint64_t kWorld = 0xabcdef;

std::string file_of(std::uint32_t rank, std::uint32_t world, const std::vector<RankTraceRecord>& records,
                    std::uint64_t run_id = 7) {
    RankTraceHeader header{};
    std::memcpy(header.magic, RankTraceHeader::kMagic, sizeof header.magic);
    header.version = RankTraceHeader::kVersion;
    header.header_bytes = sizeof header;
    header.run_id = run_id;
    header.world_size = world;
    header.rank = rank;
    std::strcpy(header.program, "/opt/heat");
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    for (const RankTraceRecord& record : records) bytes.append(reinterpret_cast<const char*>(&record), sizeof record);
    return bytes;
}
Result<Trace> merge(const std::vector<std::string>& files) {
    const std::vector<std::string_view> views(files.begin(), files.end());
    return merge_rank_traces(views);
}
const RankTraceRecord kEnded{0, 0, 0, 0, Kind::kEnd, 0};
RankTraceRecord compute(std::uint64_t ns) { return {ns, 0, 0, 0, Kind::kCompute, 0}; }
RankTraceRecord send(int to, std::uint64_t bytes, int tag) { return {bytes, kWorld, to, tag, Kind::kSend, 0}; }
RankTraceRecord receive(int from, int tag) { return {0, kWorld, from, tag, Kind::kReceive, 0}; }
RankTraceRecord collective(std::uint64_t number) { return {number, kWorld, 0, 0, Kind::kCollective, 0}; }
RankTraceRecord part(int to, std::uint64_t bytes, int round) {
    return {bytes, kWorld, to, round, Kind::kCollectiveMessage, 0};
}

TEST(MergeRankTraces, EventsOfARankKeepTheirOrder) {
    const Result<Trace> trace = merge(
        {file_of(1, 2, {receive(0, 5), kEnded}), file_of(0, 2, {compute(2'000'000'000), send(1, 10, 5), kEnded})});
    ASSERT_TRUE(trace) << trace.error();
    TraceBuilder expected(2);
    expected.set_program("/opt/heat");
    expected.receive(1, 0, 5);
    expected.compute(0, 2);
    expected.send(0, 1, 10, 5);
    EXPECT_EQ(*trace, std::move(expected).finish());
}

TEST(MergeRankTraces, ReceivesOfACollectiveComeFromWhatOthersSent) {
    // A broadcast over a chain 0 -> 2 -> 1, twice: rounds say that 2 hears before it tells.
    const auto rank = [](std::uint32_t r, const std::vector<RankTraceRecord>& parts) {
        std::vector<RankTraceRecord> all;
        for (std::uint64_t n = 0; n < 2; ++n) {
            all.push_back(collective(n));
            all.insert(all.end(), parts.begin(), parts.end());
        }
        all.push_back(kEnded);
        return file_of(r, 3, all);
    };
    const Trace trace = merge({rank(0, {part(2, 8, 0)}), rank(1, {}), rank(2, {part(1, 8, 1)})}).value();
    EXPECT_TRUE(trace.complete);
    const ResourceGraph resources = test::flat_zones({1, 1, 1}, {1, 1e300});
    const ReplayReport report = replay(trace, resources, {{0, 1, 2}}).value();
    EXPECT_EQ(report.ranks[1].end_s, 2);
    EXPECT_EQ(report.events, 8U);
    EXPECT_EQ(report.unreceived_messages, 0);
}

TEST(MergeRankTraces, MissingCutAndUnfinishedFilesMakeItIncomplete) {
    const std::string whole = file_of(0, 2, {send(1, 10, 5), kEnded});
    EXPECT_FALSE(merge({whole})->complete);
    EXPECT_FALSE(merge({whole, file_of(1, 2, {receive(0, 5)})})->complete);
    std::string cut = file_of(1, 2, {receive(0, 5), kEnded});
    cut.resize(cut.size() - 1);
    const Trace trace = merge({whole, cut}).value();
    EXPECT_FALSE(trace.complete);
    EXPECT_EQ(trace.ranks[1].size(), 1U);
}

std::vector<RankTraceRecord> unseen(const std::string& function, std::uint64_t calls) {
    std::vector<RankTraceRecord> records(1 + (function.size() + sizeof(RankTraceRecord) - 1) / sizeof(RankTraceRecord));
    records[0] = {calls, 0, 0, 0, Kind::kUnseen, static_cast<std::uint32_t>(function.size())};
    if (!function.empty()) std::memcpy(&records[1], function.data(), function.size());
    return records;
}

TEST(MergeRankTraces, CallsThatWereNotSeenMakeItIncomplete) {
    const std::string name = "collectives on intercommunicators";  // longer than a record
    std::vector<RankTraceRecord> records = unseen(name, 3), more = unseen("MPI_Psend_init", 1);
    records.insert(records.end(), more.begin(), more.end());
    records.push_back(send(0, 10, 5));
    records.push_back(kEnded);
    more = unseen(name, 2);
    more.push_back(kEnded);
    const Trace trace = merge({file_of(0, 2, records), file_of(1, 2, more)}).value();
    EXPECT_FALSE(trace.complete);
    EXPECT_EQ(trace.unseen, (UnseenCalls{{name, 5}, {"MPI_Psend_init", 1}}));
    EXPECT_EQ(trace.ranks[0].size(), 1U);

    std::string cut = file_of(0, 1, unseen(name, 3));
    cut.resize(cut.size() - 1);
    EXPECT_TRUE(merge({cut})->unseen.empty());
}

TEST(MergeRankTraces, RefusesWhatIsDamagedWithTheFileAtFault) {
    const auto fault = [](const std::vector<std::string>& files) {
        const auto trace = merge(files);
        return trace ? std::string("accepted") : trace.error().pointer + " " + trace.error().message;
    };
    const std::string good = file_of(0, 2, {kEnded});
    EXPECT_THAT(fault({}), HasSubstr("no trace file"));
    EXPECT_THAT(fault({good, "short"}), HasSubstr("/1 trace file is shorter"));
    EXPECT_THAT(fault({good, std::string(400, 'x')}), HasSubstr("/1 not a trace"));
    EXPECT_THAT(fault({good, good}), HasSubstr("/1 a second trace file of rank 0"));
    EXPECT_THAT(fault({good, file_of(1, 2, {kEnded}, 8)}), HasSubstr("/1 trace file is of another run"));
    EXPECT_THAT(fault({file_of(2, 2, {})}), HasSubstr("outside its world"));
    EXPECT_THAT(fault({file_of(0, 2, {send(2, 1, 1)})}), HasSubstr("names rank 2"));
    EXPECT_THAT(fault({file_of(0, 2, {send(-1, 1, 1)})}), HasSubstr("names rank -1"));
    EXPECT_THAT(fault({file_of(0, 2, {send(1, 1, -1)})}), HasSubstr("negative tag"));
    EXPECT_THAT(fault({file_of(0, 2, {part(1, 1, 1)})}), HasSubstr("has not begun"));
    EXPECT_THAT(fault({file_of(0, 2, {kEnded, kEnded})}), HasSubstr("goes on after its end"));
    EXPECT_THAT(fault({file_of(0, 2, unseen("", 1))}), HasSubstr("no function"));
    EXPECT_THAT(fault({file_of(0, 2, unseen("MPI_Bcast_c", 0))}), HasSubstr("no function"));
    EXPECT_THAT(fault({file_of(0, 2, {{0, 0, 0, 0, static_cast<Kind>(9), 0}})}), HasSubstr("unknown record"));
}

}  // namespace
}  // namespace zbs
