#include "services/node_agent/domain/slice_switcher.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace zbs {
namespace {
using namespace std::chrono_literals;

constexpr Time kEpoch = time_from_microseconds(1'700'000'000'000'000);

SliceColumn column_of(std::size_t rows) {
    SliceColumn column{.number = 1, .epoch = kEpoch, .slice = 50ms};
    for (std::size_t i = 0; i < rows; ++i) column.rows.push_back({StepId(std::string(1, static_cast<char>('a' + i)))});
    return column;
}

struct Moment {
    const char* name;
    std::size_t rows;
    Duration since;  ///< the epoch
    std::int64_t slice;
    std::size_t row;
    Duration next;  ///< likewise
};
void PrintTo(const Moment& moment, std::ostream* out) { *out << moment.name; }

class SliceClockTest : public testing::TestWithParam<Moment> {};

TEST_P(SliceClockTest, SaysRowAndNextSwitch) {
    const Moment& m = GetParam();
    const auto view = find_slice(column_of(m.rows), kEpoch + m.since);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->slice, m.slice);
    EXPECT_EQ(view->row, m.row);
    EXPECT_EQ(view->step_ids, std::vector{StepId(std::string(1, static_cast<char>('a' + m.row)))});
    EXPECT_EQ(view->next - kEpoch, m.next);
}

INSTANTIATE_TEST_SUITE_P(
    , SliceClockTest,
    testing::Values(Moment{"AtTheEpoch", 3, 0us, 0, 0, 50ms}, Moment{"InsideTheFirst", 3, 49'999us, 0, 0, 50ms},
                    Moment{"AtABoundary", 3, 50ms, 1, 1, 100ms}, Moment{"TheLastRow", 3, 149ms, 2, 2, 150ms},
                    Moment{"RoundAgain", 3, 150ms, 3, 0, 200ms}, Moment{"OneRow", 1, 10'000'001us, 200, 0, 10'050ms},
                    Moment{"AfterYears", 2, 24h * 3'650, 6'307'200'000, 0, 24h * 3'650 + 50ms},
                    Moment{"JustBeforeTheEpoch", 3, -1us, -1, 2, 0us},
                    Moment{"ASliceBeforeTheEpoch", 3, -50ms, -1, 2, 0us},
                    Moment{"MoreBeforeTheEpoch", 3, -50'001us, -2, 1, -50ms}),
    [](const auto& param_info) { return param_info.param.name; });

SliceColumn column_of_shares(std::vector<int> shares) {
    SliceColumn column = column_of(shares.size());
    column.slice = 100ms;
    column.shares = std::move(shares);
    return column;
}

TEST(SliceClockShares, EachRowHasItsPartOfEveryPeriod) {
    const SliceColumn column = column_of_shares({60, 10, 30});
    struct Case {
        Duration since;
        std::size_t row;
        Duration next;
        std::int64_t turn;
    };
    for (const auto& [since, row, next, turn] : {Case{0ms, 0, 60ms, 0},
                                                 {59'999us, 0, 60ms, 0},
                                                 {60ms, 1, 70ms, 1},
                                                 {70ms, 2, 100ms, 2},
                                                 {99'999us, 2, 100ms, 2},
                                                 {100ms, 0, 160ms, 3},
                                                 {1'065ms, 1, 1'070ms, 31},
                                                 {-1us, 2, 0ms, -1},
                                                 {-100ms, 0, -40ms, -3}}) {
        SCOPED_TRACE(since.count());
        const auto view = find_slice(column, kEpoch + since);
        ASSERT_TRUE(view);
        EXPECT_EQ(view->row, row);
        EXPECT_EQ(view->next - kEpoch, next);
        EXPECT_EQ(view->slice, turn);
    }
}

TEST(SliceClockShares, WhatIsLessThanAllIsGivenInProportion) {
    EXPECT_EQ(find_slice(column_of_shares({20, 20}), kEpoch + 10ms)->next - kEpoch, 50ms);
    EXPECT_EQ(find_slice(column_of_shares({100, 100, 100}), kEpoch + 99'999us)->next - kEpoch, 100ms)
        << "the period ends where it should, whatever rounding leaves";
}

TEST(SliceClock, IsNoneWithoutRows) { EXPECT_FALSE(find_slice(column_of(0), kEpoch)); }

TEST(SliceClockProperty, TheNextSwitchIsAheadByASliceAtMostAndBeginsTheNextRow) {
    const SliceColumn column = column_of(4);
    for (std::int64_t us = -1'000'003; us < 1'000'000; us += 777) {
        const Time now = kEpoch + Duration{us};
        const auto view = find_slice(column, now);
        ASSERT_GT(view->next, now);
        ASSERT_LE(view->next - now, column.slice);
        const auto after = find_slice(column, view->next);
        ASSERT_EQ(after->row, (view->row + 1) % 4);
        ASSERT_EQ(after->slice, view->slice + 1);
    }
}

}  // namespace
}  // namespace zbs
