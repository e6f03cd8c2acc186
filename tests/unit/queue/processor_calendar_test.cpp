#include "algorithms/queue/processor_calendar.hpp"

#include <gtest/gtest.h>

#include "algorithms/base/rng.hpp"

namespace zbs {
namespace {

using namespace std::chrono_literals;

PartId part(std::uint64_t n) {
    Id128 id{};
    id.bytes.back() = static_cast<unsigned char>(n);
    return PartId{id};
}

TEST(ProcessorCalendar, IntervalsThatTouchDoNotMeet) {
    ProcessorCalendar calendar(4);
    calendar.set(part(1), {{0, 1}, {10s, 20s}, 20s});
    EXPECT_EQ(calendar.busy({0s, 10s}), (std::vector<bool>{false, false, false, false}));
    EXPECT_EQ(calendar.busy({0s, 10s + 1us}), (std::vector<bool>{true, true, false, false}));
    EXPECT_EQ(calendar.busy({20s, 30s}), (std::vector<bool>{false, false, false, false}));
    EXPECT_EQ(calendar.busy({0s, 30s}, {part(1)}), (std::vector<bool>{false, false, false, false}));
}

TEST(ProcessorCalendar, ExperienceSeesAnEarlierEnd) {
    ProcessorCalendar calendar(1);
    calendar.set(part(1), {{0}, {0s, 20s}, 5s});
    EXPECT_TRUE(calendar.busy({6s, 7s}).front());
    EXPECT_FALSE(calendar.busy({6s, 7s}, {}, true).front());
    EXPECT_EQ(calendar.changes(0s, 1s, {}, true), (std::vector<Duration>{0s, 5s}));
}

TEST(ProcessorCalendar, AnotherPromiseTakesThePlaceOfTheFirst) {
    ProcessorCalendar calendar(2);
    calendar.set(part(1), {{0}, {0s, 20s}, 20s});
    calendar.set(part(1), {{1}, {0s, 10s}, 10s});
    EXPECT_EQ(calendar.busy({5s, 6s}), (std::vector<bool>{false, true}));
    calendar.remove(part(1));
    EXPECT_TRUE(calendar.promises().empty());
}

// Between two changes nothing changes: every start in the gap finds what the start of the gap finds.
TEST(ProcessorCalendarProperty, NothingChangesBetweenItsChanges) {
    Rng rng(7);
    for (int round = 0; round < 200; ++round) {
        ProcessorCalendar calendar(6);
        for (std::uint64_t n = 0; n < 1 + rng.below(6); ++n) {
            const Duration begin{static_cast<std::int64_t>(rng.below(40))},
                length{static_cast<std::int64_t>(1 + rng.below(20))};
            calendar.set(part(n), {{static_cast<std::int32_t>(rng.below(6))}, {begin, begin + length}, begin + length});
        }
        const Duration length{static_cast<std::int64_t>(1 + rng.below(10))};
        const std::vector<Duration> changes = calendar.changes(Duration{0}, length);
        std::size_t gap = 0;
        for (Duration start{0}; start < Duration{70}; ++start) {
            while (gap + 1 < changes.size() && changes[gap + 1] <= start) ++gap;
            ASSERT_EQ(calendar.busy({start, start + length}), calendar.busy({changes[gap], changes[gap] + length}))
                << "start " << start.count() << ", round " << round;
        }
    }
}

}  // namespace
}  // namespace zbs
