#include "algorithms/sim/collectives.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "algorithms/base/collective_pattern.hpp"
#include "algorithms/sim/replay.hpp"
#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

/// Every processor a zone of its own: 1 s a message, bytes free.
double rounds(const Trace& trace) {
    const ResourceGraph resources =
        test::flat_zones(std::vector<int>(static_cast<std::size_t>(trace.rank_count()), 1), {1, 1e300}, {1, 1e300});
    Mapping mapping{std::vector<ProcessorIndex>(trace.ranks.size())};
    std::iota(mapping.processor_of.begin(), mapping.processor_of.end(), 0);
    const Result<ReplayReport> report = replay(trace, resources, mapping);
    EXPECT_TRUE(report) << report.error();
    EXPECT_EQ(report->unreceived_messages, 0);
    return report->run_time_s;
}
Trace one(CollectiveKind kind, int p, std::uint64_t bytes) {
    TraceBuilder builder(p);
    std::vector<std::int32_t> members(static_cast<std::size_t>(p));
    std::iota(members.rbegin(), members.rend(), 0);  // a communicator in reverse order
    append(builder, collective_schedule(kind, p, bytes), members, 3);
    return std::move(builder).finish();
}

TEST(CollectiveSchedule, DependenciesAreThoseOfTheAlgorithm) {
    EXPECT_EQ(rounds(one(CollectiveKind::kBarrier, 6, 0)), 3);
    EXPECT_EQ(rounds(one(CollectiveKind::kBcast, 6, 100)), 2);         // binomial: 0 -> 4 -> 5
    EXPECT_EQ(rounds(one(CollectiveKind::kAllgather, 8, 10)), 3);      // doubling
    EXPECT_EQ(rounds(one(CollectiveKind::kAllgather, 6, 10)), 3);      // Bruck
    EXPECT_EQ(rounds(one(CollectiveKind::kAllgather, 6, 90'000)), 5);  // ring
    EXPECT_EQ(rounds(one(CollectiveKind::kAlltoall, 6, 1000)), 1);     // all at once
    EXPECT_EQ(rounds(one(CollectiveKind::kAllreduce, 8, 4)), 3);
    // Fold, two doublings, back; the pair that does not fold is one round ahead, so what comes last goes back at 2.
    EXPECT_EQ(rounds(one(CollectiveKind::kAllreduce, 6, 4)), 3);
}

TEST(CollectiveSchedule, EveryAlgorithmEndsAndLeavesNoMessage) {
    for (int p = 1; p <= 20; ++p) {
        for (const std::uint64_t bytes :
             {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{1000}, std::uint64_t{20'000}, std::uint64_t{700'000}}) {
            for (const auto kind : {CollectiveKind::kAllgather, CollectiveKind::kBcast, CollectiveKind::kAlltoall,
                                    CollectiveKind::kAllreduce, CollectiveKind::kBarrier}) {
                SCOPED_TRACE(testing::Message()
                             << p << " ranks, " << bytes << " bytes, kind " << static_cast<int>(kind));
                rounds(one(kind, p, bytes));
            }
        }
    }
}

TEST(CollectiveSchedule, PatternsOnlyTheProfilerUsesEndToo) {
    using namespace collectives;
    for (int p = 1; p <= 20; ++p) {
        for (int root = 0; root < p; root += 3) {
            for (const Bytes bytes : {Bytes{40}, Bytes{40'000}, Bytes{900'000}}) {
                const auto check = [&](auto pattern) {
                    std::vector<CollectiveMessage> messages;
                    for (int rank = 0; rank < p; ++rank)
                        pattern(CommRank{p, rank}, [&](int to, Bytes size, int round) {
                            messages.push_back({rank, to, round, static_cast<double>(size)});
                        });
                    TraceBuilder builder(p);
                    std::vector<std::int32_t> members(static_cast<std::size_t>(p));
                    std::iota(members.begin(), members.end(), 0);
                    append(builder, make_schedule(p, messages), members, 0);
                    return rounds(std::move(builder).finish());
                };
                const Reduction data{.count = bytes / 4, .element = 4};
                check([&](CommRank at, auto send) { reduce(at, root, data, send); });
                check([&](CommRank at, auto send) { gather(at, root, bytes, send); });
                check([&](CommRank at, auto send) { scatter(at, root, bytes, send); });
                check([&](CommRank at, auto send) { scan(at, bytes, send); });
                check([&](CommRank at, auto send) {
                    reduce_scatter(
                        at, bytes * static_cast<Bytes>(p), [&](int) { return bytes; }, send);
                });
                // A tree as deep as the logarithm: rounds do what they say.
                EXPECT_LE(check([&](CommRank at, auto send) { gather(at, root, bytes, send); }),
                          std::ceil(std::log2(p)));
            }
        }
    }
}

TEST(ParseCollective, KnowsTheNamesOfTheKernel) {
    EXPECT_EQ(*parse_collective("MPI_Bcast"), CollectiveKind::kBcast);
    EXPECT_FALSE(parse_collective("MPI_Gather"));
}

}  // namespace
}  // namespace zbs
