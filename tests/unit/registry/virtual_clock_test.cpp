#include "tests/support/virtual_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs::test {
namespace {
using std::chrono::seconds;

TEST(VirtualClock, FiresInTheOrderOfTimeThenOfSetting) {
    VirtualClock clock;
    const Duration start = clock.steady_now();
    std::vector<std::pair<char, Duration>> fired;
    const auto note = [&](char name) { return [&, name] { fired.emplace_back(name, clock.steady_now() - start); }; };
    clock.after(seconds{3}, note('c'));
    clock.after(seconds{1}, note('a'));
    clock.after(seconds{1}, note('b'));
    clock.after(seconds{9}, note('z'));
    clock.advance(seconds{5});
    EXPECT_THAT(fired, testing::ElementsAre(std::pair<char, Duration>{'a', seconds{1}},
                                            std::pair<char, Duration>{'b', seconds{1}},
                                            std::pair<char, Duration>{'c', seconds{3}}));
    EXPECT_EQ(clock.steady_now() - start, seconds{5});
    EXPECT_EQ(clock.pending(), 1U);
}

TEST(VirtualClock, NeverFiresFromInsideTheCallThatSets) {
    VirtualClock clock;
    int fired = 0;
    clock.after(Duration{-5}, [&] { clock.after(Duration{0}, [&] { ++fired; }); });
    EXPECT_EQ(fired, 0);
    clock.settle();
    EXPECT_EQ(fired, 1);
}

TEST(VirtualClock, CancelledTimersStaySilent) {
    VirtualClock clock;
    int fired = 0;
    const auto second = clock.after(seconds{2}, [&] { ++fired; });
    clock.after(seconds{1}, [&] { clock.cancel(second); });
    clock.cancel(4711);
    clock.advance(seconds{9});
    EXPECT_EQ(fired, 0);
}

TEST(VirtualClock, TheWallClockMayJump) {
    VirtualClock clock;
    const Duration steady = clock.steady_now();
    clock.set_wall(time_from_microseconds(5));
    EXPECT_EQ(clock.steady_now(), steady);
    clock.advance(seconds{1});
    EXPECT_EQ(to_microseconds(clock.now()), 1'000'005);
}

}  // namespace
}  // namespace zbs::test
