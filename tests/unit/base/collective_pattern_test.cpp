#include "algorithms/base/collective_pattern.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace zbs::collectives {
namespace {

/// Bytes and messages per directed pair, summed over all ranks.
struct Sum {
    Bytes bytes = 0;
    int messages = 0;
    bool operator==(const Sum&) const = default;
};
using Traffic = std::map<std::pair<int, int>, Sum>;

template <class OneRank>
Traffic all_ranks(int p, OneRank&& one_rank) {
    Traffic traffic;
    for (int rank = 0; rank < p; ++rank) {
        one_rank(CommRank{p, rank}, [&](int to, Bytes bytes, int) {
            EXPECT_TRUE(to >= 0 && to < p && to != rank) << rank << " sends to " << to << " of " << p;
            Sum& sum = traffic[{rank, to}];
            sum.bytes += bytes;
            ++sum.messages;
        });
    }
    return traffic;
}
Bytes received(const Traffic& traffic, int rank) {
    Bytes bytes = 0;
    for (const auto& [pair, sum] : traffic) bytes += pair.second == rank ? sum.bytes : 0;
    return bytes;
}
Bytes sent(const Traffic& traffic, int rank) {
    Bytes bytes = 0;
    for (const auto& [pair, sum] : traffic) bytes += pair.first == rank ? sum.bytes : 0;
    return bytes;
}

TEST(Bcast, IsABinomialTreeOnSixRanks) {
    const Traffic tree = all_ranks(6, [](CommRank at, auto send) { bcast(at, 0, 100, false, send); });
    EXPECT_EQ(
        tree,
        (Traffic{{{0, 4}, {100, 1}}, {{0, 2}, {100, 1}}, {{0, 1}, {100, 1}}, {{2, 3}, {100, 1}}, {{4, 5}, {100, 1}}}));
}

TEST(Bcast, EveryRankButTheRootReceivesAllWhateverTheAlgorithm) {
    for (int p = 1; p <= 33; ++p) {
        for (const Bytes bytes : {Bytes{1}, Bytes{7}, kBcastShort, kBcastShort + 1, kBcastLong, kBcastLong + 1}) {
            for (const int root : {0, p / 2, p - 1}) {
                const Traffic traffic =
                    all_ranks(p, [&](CommRank at, auto send) { bcast(at, root, bytes, false, send); });
                for (int rank = 0; rank < p; ++rank) {
                    if (rank != root) {
                        EXPECT_GE(received(traffic, rank), bytes) << p << ' ' << bytes << ' ' << root << ' ' << rank;
                    }
                }
            }
        }
    }
}

TEST(Bcast, TheThresholdIsInclusiveOnlyWhereItBlocks) {
    const auto messages = [](Bytes bytes, bool nonblocking) {
        return all_ranks(8, [&](CommRank at, auto send) { bcast(at, 0, bytes, nonblocking, send); }).size();
    };
    EXPECT_EQ(messages(kBcastShort, false), 7U);
    EXPECT_GT(messages(kBcastShort, true), 7U);
    EXPECT_GT(messages(kBcastShort + 1, false), 7U);
}

TEST(Allreduce, RecursiveDoublingOnFourRanks) {
    const Traffic traffic =
        all_ranks(4, [](CommRank at, auto send) { allreduce(at, {.count = 1, .element = 8}, send); });
    EXPECT_EQ(traffic.size(), 8U);
    for (const auto& [pair, sum] : traffic) EXPECT_EQ(sum, (Sum{8, 1}));
    EXPECT_TRUE(traffic.contains({0, 1}) && traffic.contains({0, 2}) && !traffic.contains({0, 3}));
}

TEST(Allreduce, LongMessagesMoveTwiceTheVectorLessOnePart) {
    const Traffic traffic =
        all_ranks(8, [](CommRank at, auto send) { allreduce(at, {.count = 800, .element = 8}, send); });
    for (int rank = 0; rank < 8; ++rank) EXPECT_EQ(sent(traffic, rank), 2 * 6400 - 2 * 800) << rank;
    // An operation of the program's own is never split.
    const Traffic own = all_ranks(
        8, [](CommRank at, auto send) { allreduce(at, {.count = 800, .element = 8, .built_in = false}, send); });
    for (int rank = 0; rank < 8; ++rank) EXPECT_EQ(sent(own, rank), 3 * 6400);
}

TEST(Reduce, EveryRankButTheRootHandsItsShareOn) {
    for (int p = 2; p <= 20; ++p) {
        for (int root = 0; root < p; ++root) {
            for (const Bytes count : {Bytes{4}, Bytes{1003}}) {
                const Traffic traffic = all_ranks(
                    p, [&](CommRank at, auto send) { reduce(at, root, {.count = count, .element = 4}, send); });
                for (int rank = 0; rank < p; ++rank) {
                    if (rank != root) {
                        EXPECT_GT(sent(traffic, rank), 0U) << p << ' ' << root << ' ' << rank;
                    }
                }
                EXPECT_GT(received(traffic, root), 0U);
            }
        }
    }
    const Traffic ordered = all_ranks(
        3, [](CommRank at, auto send) { reduce(at, 2, {.count = 1, .element = 4, .commutative = false}, send); });
    EXPECT_EQ(ordered, (Traffic{{{1, 0}, {4, 1}}, {{2, 0}, {4, 1}}, {{0, 2}, {4, 1}}}));
}

TEST(GatherAndScatter, AreMirrorImages) {
    for (int p = 1; p <= 17; ++p) {
        for (int root = 0; root < p; ++root) {
            Traffic back;
            for (const auto& [pair, sum] : all_ranks(p, [&](CommRank at, auto send) { gather(at, root, 10, send); }))
                back[{pair.second, pair.first}] = sum;
            EXPECT_EQ(back, all_ranks(p, [&](CommRank at, auto send) { scatter(at, root, 10, send); }))
                << p << ' ' << root;
        }
    }
}

TEST(Allgather, EveryRankReceivesEveryOtherPartOnce) {
    for (int p = 2; p <= 33; ++p) {
        for (const Bytes each : {Bytes{1}, Bytes{1000}, Bytes{600'000}}) {
            const auto size = [&](int r) { return each + static_cast<Bytes>(r); };
            Bytes total = 0;
            for (int r = 0; r < p; ++r) total += size(r);
            const Traffic traffic = all_ranks(p, [&](CommRank at, auto send) { allgather(at, total, size, send); });
            for (int r = 0; r < p; ++r)
                EXPECT_EQ(received(traffic, r), total - size(r)) << p << ' ' << each << ' ' << r;
        }
    }
}

TEST(Alltoall, BruckMovesEveryPartOncePerBitOfItsDistance) {
    const Traffic traffic = all_ranks(9, [](CommRank at, auto send) { alltoall(at, 10, false, false, send); });
    Bytes bits = 0;
    for (unsigned distance = 1; distance < 9; ++distance) bits += static_cast<Bytes>(__builtin_popcount(distance));
    for (int r = 0; r < 9; ++r) EXPECT_EQ(sent(traffic, r), bits * 10);
    const Traffic direct = all_ranks(9, [](CommRank at, auto send) { alltoall(at, 257, false, false, send); });
    EXPECT_EQ(direct.size(), 72U);
}

TEST(ReduceScatter, EveryRankReceivesAtLeastItsResult) {
    for (int p = 2; p <= 20; ++p) {
        const auto size = [](int r) { return static_cast<Bytes>(8 * (r % 3)); };
        Bytes total = 0;
        for (int r = 0; r < p; ++r) total += size(r);
        const Traffic traffic = all_ranks(p, [&](CommRank at, auto send) { reduce_scatter(at, total, size, send); });
        for (int r = 0; r < p; ++r) EXPECT_GE(received(traffic, r), size(r)) << p << ' ' << r;
    }
}

TEST(Barrier, TakesLogarithmicallyManyEmptyMessages) {
    for (int p = 1; p <= 40; ++p) {
        int rounds = 0;
        while ((1 << rounds) < p) ++rounds;
        int messages = 0;
        for (const auto& [pair, sum] : all_ranks(p, [](CommRank at, auto send) { barrier(at, send); })) {
            messages += sum.messages;
            EXPECT_EQ(sum.bytes, 0U);
        }
        EXPECT_EQ(messages, p * rounds) << p;
    }
}

TEST(Collectives, OfNothingSendNothing) {
    const auto nothing = [](auto one) { EXPECT_TRUE(all_ranks(6, one).empty()); };
    nothing([](CommRank at, auto send) { bcast(at, 0, 0, false, send); });
    nothing([](CommRank at, auto send) { reduce(at, 0, {.count = 0, .element = 4}, send); });
    nothing([](CommRank at, auto send) { allreduce(at, {.count = 0, .element = 4}, send); });
    nothing([](CommRank at, auto send) { gather(at, 0, 0, send); });
    nothing([](CommRank at, auto send) { scatter(at, 0, 0, send); });
    nothing([](CommRank at, auto send) { alltoall(at, 0, false, false, send); });
    nothing([](CommRank at, auto send) { scan(at, 0, send); });
}

}  // namespace
}  // namespace zbs::collectives
