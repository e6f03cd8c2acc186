#include "algorithms/gang/local_scheduler.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace zbs::gang {
namespace {

using Tasks = std::vector<LocalTask>;

TEST(PickLocal, HighestPriorityFirstThenByTurns) {
    const Tasks tasks{{true, 1.0, 5}, {true, 2.0, 9}, {false, 9.0, 0}, {true, 2.0, 7}};
    EXPECT_EQ(pick_local(tasks, LocalRule::kPriority), 3u);
    EXPECT_EQ(pick_local(tasks, LocalRule::kRoundRobin), 0u);
}

TEST(PickLocal, EqualTasksThatNeverRanGoInOrder) {
    const Tasks tasks{{true, 1.0, 0}, {true, 1.0, 0}};
    EXPECT_EQ(pick_local(tasks, LocalRule::kPriority), 0u);
}

TEST(PickLocal, TasksBelowTheFloorAreLeftToTheirGang) {
    EXPECT_EQ(pick_local(Tasks{{true, 0.29, 0}, {true, 0.1, 0}}, LocalRule::kPriority, 0.3), std::nullopt);
    EXPECT_EQ(pick_local(Tasks{{true, 0.29, 0}, {true, 0.3, 0}}, LocalRule::kPriority, 0.3), 1u);
    EXPECT_EQ(pick_local(Tasks{{true, 0.1, 0}}, LocalRule::kRoundRobin, 0.3), 0u);
    EXPECT_EQ(pick_local(Tasks{{false, 2, 0}}, LocalRule::kPriority), std::nullopt);
    EXPECT_EQ(pick_local({}, LocalRule::kPriority), std::nullopt);
}

}  // namespace
}  // namespace zbs::gang
