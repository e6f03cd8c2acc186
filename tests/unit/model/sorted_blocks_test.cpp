#include "algorithms/model/sorted_blocks.hpp"

#include <gtest/gtest.h>

#include <map>

#include "algorithms/base/rng.hpp"

namespace zbs {
namespace {

struct Numbered {
    int number;
    int weight;
    int key() const { return number; }
    bool operator==(const Numbered&) const = default;
};
struct LeastWeight {
    int least = 1'000'000;
    void include(const Numbered& entry) { least = std::min(least, entry.weight); }
    bool exclude(const Numbered& entry) const { return entry.weight > least; }
};
using Blocks = SortedBlocks<Numbered, LeastWeight>;

std::vector<Numbered> all_of(const Blocks& blocks) {
    std::vector<Numbered> entries;
    blocks.visit([&](const Numbered& entry) { return entries.push_back(entry), true; });
    return entries;
}

void expect_equal(const Blocks& blocks, const std::map<int, int>& expected) {
    ASSERT_EQ(blocks.size(), expected.size());
    std::vector<Numbered> wanted;
    for (const auto& [number, weight] : expected) wanted.push_back({number, weight});
    ASSERT_EQ(all_of(blocks), wanted);
    for (std::size_t b = 0; b < blocks.block_count(); ++b) {
        ASSERT_FALSE(blocks.block(b).entries().empty());
        LeastWeight summary;
        for (const Numbered& entry : blocks.block(b).entries()) summary.include(entry);
        ASSERT_EQ(blocks.block(b).summary().least, summary.least) << "summary of block " << b;
    }
}

TEST(SortedBlocks, HoldsWhatAMapHolds) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        Blocks blocks;
        std::map<int, int> expected;
        for (int step = 0; step < 3'000; ++step) {
            const int number = static_cast<int>(rng.below(seed % 2 == 0 ? 500 : 5'000));
            // The share of insertions swings, so that blocks fill up and run empty.
            const bool insert = rng.below(100) < (step / 500 % 2 == 0 ? 80u : 25u);
            if (insert && !expected.contains(number)) {
                const int weight = static_cast<int>(rng.below(1'000));
                blocks.insert({number, weight});
                expected[number] = weight;
            } else if (!insert && !expected.empty()) {
                const auto gone =
                    expected.lower_bound(number) == expected.end() ? expected.begin() : expected.lower_bound(number);
                blocks.erase(gone->first);
                expected.erase(gone);
            }
            const auto found = expected.find(number);
            const Numbered* const entry = blocks.find(number);
            ASSERT_EQ(entry != nullptr, found != expected.end());
            if (entry != nullptr) {
                ASSERT_EQ(entry->weight, found->second);
            }
            if (step % 50 == 0) {
                expect_equal(blocks, expected);
                std::vector<int> from;
                blocks.visit_from(number, [&](const Numbered& each) { return from.push_back(each.number), true; });
                ASSERT_EQ(from.size(),
                          static_cast<std::size_t>(std::distance(expected.lower_bound(number), expected.end())));
            }
        }
        expect_equal(blocks, expected);
        const Blocks copy = blocks;
        blocks.clear();
        EXPECT_TRUE(blocks.empty());
        expect_equal(copy, expected);
    }
}

TEST(SortedBlocks, VisitStopsWhereItIsTold) {
    Blocks blocks;
    for (int i = 0; i < 200; ++i) blocks.insert({i, i});
    int seen = 0;
    blocks.visit([&](const Numbered&) { return ++seen < 70; });
    EXPECT_EQ(seen, 70);
    EXPECT_EQ(blocks.front().number, 0);
    EXPECT_EQ(blocks.back().number, 199);
}

TEST(SortedBlocks, QueueLeavesFullBlocksBehind) {
    Blocks blocks;
    for (int i = 0; i < 64 * 100; ++i) blocks.insert({i, i});
    EXPECT_LE(blocks.block_count(), 110u);
}

}  // namespace
}  // namespace zbs
