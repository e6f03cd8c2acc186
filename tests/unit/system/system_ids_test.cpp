#include <gtest/gtest.h>

#include <array>
#include <set>

#include "services/common/adapters/system/asio_clock.hpp"

namespace zbs::system {
namespace {

const Caller kOwner{CallerKind::kUser, "alpha", "ana"};

TEST(SystemIds, NeverTheSameTwiceAlsoOfTwoProgramsThatStartAgain) {
    std::set<Id128> seen;
    for (int restart = 0; restart < 20; ++restart) {
        std::array<SystemIds, 2> programs;
        for (int i = 0; i < 2'000; ++i)
            for (SystemIds& program : programs) EXPECT_TRUE(seen.insert(program.fresh(kOwner)).second);
    }
}

TEST(SystemIds, LaterOnesSortBehindAlsoWithinAMillisecond) {
    SystemIds ids;
    std::string last(26, '0');
    for (int i = 0; i < 5'000; ++i) {
        const std::string id = to_string(ids.fresh(kOwner));
        EXPECT_GT(id, last);
        last = id;
    }
}

TEST(SystemIds, NamesItsOwner) {
    SystemIds ids;
    EXPECT_TRUE(has_mark_of(ids.fresh(kOwner), kOwner));
}

TEST(SystemIds, NeighboursDoNotTellEachOther) {
    SystemIds ids;
    std::set<Id128> steps;
    std::array<std::uint8_t, 16> last = ids.fresh(kOwner).bytes;
    for (int i = 0; i < 300; ++i) {
        const std::array<std::uint8_t, 16> next = ids.fresh(kOwner).bytes;
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
