#include <gtest/gtest.h>

#include <array>
#include <set>

#include "services/common/adapters/system/asio_clock.hpp"

namespace zbs::system {
namespace {

TEST(SystemIds, NeverTheSameTwiceAlsoOfTwoProgramsThatStartAgain) {
    std::set<Id128> seen;
    for (int restart = 0; restart < 20; ++restart) {
        std::array<SystemIds, 2> programs;
        for (int i = 0; i < 2'000; ++i)
            for (SystemIds& program : programs) EXPECT_TRUE(seen.insert(program.fresh()).second);
    }
}

TEST(SystemIds, LaterOnesSortBehindByTime) {
    SystemIds ids;
    std::string last(10, '0');  // the part of the text that is the time, 48 bits
    for (int i = 0; i < 5'000; ++i) {
        const std::string time = to_string(ids.fresh()).substr(0, 10);
        EXPECT_GE(time, last);
        last = time;
    }
}

TEST(SystemIds, NeighboursDoNotTellEachOther) {
    SystemIds ids;
    std::set<Id128> steps;
    std::array<std::uint8_t, 16> last = ids.fresh().bytes;
    for (int i = 0; i < 1'000; ++i) {
        const std::array<std::uint8_t, 16> next = ids.fresh().bytes;
        Id128 step{};
        int borrow = 0;
        for (std::size_t b = 16; b-- > 0;) {
            const int digit = next[b] - last[b] - borrow;
            borrow = digit < 0;
            step.bytes[b] = static_cast<std::uint8_t>(digit);
        }
        EXPECT_TRUE(steps.insert(step).second) << "the same step twice";
        last = next;
    }
}

}  // namespace
}  // namespace zbs::system
