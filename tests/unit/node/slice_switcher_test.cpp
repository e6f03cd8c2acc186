#include "services/node_agent/domain/slice_switcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/node_fakes.hpp"
#include "tests/support/silent_log.hpp"

namespace zbs {
namespace {
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class SliceSwitcherTest : public testing::Test {
  protected:
    void here(std::initializer_list<StepId> step_ids) {
        for (const StepId& step_id : step_ids) switcher.join(step_id, false);
    }
    SliceColumn column(std::vector<std::vector<StepId>> rows, Duration from_now = 0us) {
        return {.number = ++number_, .epoch = clock.now() + from_now, .slice = 50ms, .rows = std::move(rows)};
    }
    SliceColumn filling(std::vector<std::vector<StepId>> rows, std::vector<StepId> fillers) {
        SliceColumn made = column(std::move(rows));
        made.fill = FillMode::kLts;
        made.fillers = std::move(fillers);
        return made;
    }

    test::VirtualClock clock;
    test::FakeProcessControl control{&clock};
    test::SilentLog log;
    SliceSwitcher switcher{clock, control, log};

  private:
    std::uint64_t number_ = 0;
};

TEST_F(SliceSwitcherTest, WithoutAColumnEverythingRuns) {
    here({"a", "b"});
    clock.advance(10s);
    EXPECT_THAT(control.changes, IsEmpty());
    EXPECT_EQ(clock.pending(), 0U) << "nothing to wake up for";
}

TEST_F(SliceSwitcherTest, RowsTakeTurns) {
    here({"a", "b"});
    switcher.set_column(column({{"a"}, {"b"}}));
    EXPECT_THAT(control.suspended, ElementsAre("b"));
    clock.advance(49'999us);
    EXPECT_THAT(control.suspended, ElementsAre("b"));
    clock.advance(1us);
    EXPECT_THAT(control.suspended, ElementsAre("a"));
    clock.advance(50ms);
    EXPECT_THAT(control.changes, ElementsAre("-b", "-a", "+b", "-b", "+a")) << "the old row first";
}

TEST_F(SliceSwitcherTest, WhatIsInBothRowsIsLeftAlone) {
    here({"a", "b", "c"});
    switcher.set_column(column({{"a", "c"}, {"b", "c"}}));
    clock.advance(1s);
    for (const std::string& change : control.changes) EXPECT_NE(change.substr(1), "c");
}

TEST_F(SliceSwitcherTest, WhatNoRowNamesStaysSuspendedUntilTheColumnGoes) {
    here({"a", "x"});
    switcher.set_column(column({{"a"}, {}}));
    switcher.join("y", false);  // comes later
    clock.advance(1s);
    EXPECT_TRUE(control.suspended.contains("x") && control.suspended.contains("y"));
    switcher.set_column(column({}));
    EXPECT_THAT(control.suspended, IsEmpty());
    EXPECT_EQ(clock.pending(), 0U);
}

TEST_F(SliceSwitcherTest, AColumnFromTheMiddleOfASliceCountsFromItsOwnEpoch) {
    here({"a", "b"});
    switcher.set_column(column({{"a"}, {"b"}}));
    clock.advance(20ms);
    switcher.set_column(column({{"b"}, {"a"}}));  // mid-slice
    EXPECT_THAT(control.suspended, ElementsAre("a"));
    clock.advance(49ms);
    EXPECT_THAT(control.suspended, ElementsAre("a")) << "not at the old boundary";
    clock.advance(1ms);
    EXPECT_THAT(control.suspended, ElementsAre("b"));
}

TEST_F(SliceSwitcherTest, AnEpochInThePastGivesTheRowOfNow) {
    here({"a", "b"});
    switcher.set_column(column({{"a"}, {"b"}}, -70ms));
    EXPECT_THAT(control.suspended, ElementsAre("a"));
    clock.advance(30ms);
    EXPECT_THAT(control.suspended, ElementsAre("b"));
}

TEST_F(SliceSwitcherTest, UntilAnEpochInTheFutureTheOldColumnCounts) {
    here({"a", "b"});
    switcher.set_column(column({{"a"}}));
    switcher.set_column(column({{"b"}, {"a"}}, 130ms));
    clock.advance(129ms);
    EXPECT_THAT(control.suspended, ElementsAre("b"));
    clock.advance(1ms);
    EXPECT_THAT(control.suspended, ElementsAre("a"));
    switcher.set_column(column({{"a"}}, 1s));
    switcher.set_column(column({{"b"}}, 30ms));  // in place of the one that waits
    clock.advance(2s);
    EXPECT_THAT(control.suspended, ElementsAre("a"));
}

TEST_F(SliceSwitcherTest, WithoutAnOldColumnEverythingRunsUntilTheEpoch) {
    here({"a", "b"});
    switcher.set_column(column({{"a"}}, 100ms));
    clock.advance(99ms);
    EXPECT_THAT(control.suspended, IsEmpty());
    clock.advance(1ms);
    EXPECT_THAT(control.suspended, ElementsAre("b"));
}

TEST_F(SliceSwitcherTest, AfterAJumpOfTheWallClockOneSliceAtMostIsOutOfStep) {
    here({"a", "b"});
    switcher.set_column(column({{"a"}, {"b"}}));
    const Time epoch = clock.now();
    for (const Duration jump : {Duration{1h + 13ms}, Duration{-3h}, Duration{24h * 400}}) {
        clock.set_wall(clock.now() + jump);
        clock.advance(50ms);
        for (int i = 0; i < 20; ++i) {
            clock.advance(7ms);
            const SliceColumn same{.number = 1, .epoch = epoch, .slice = 50ms, .rows = {{"a"}, {"b"}}};
            const std::size_t row = find_slice(same, clock.now())->row;
            EXPECT_THAT(control.suspended, ElementsAre(row == 0 ? "b" : "a")) << jump.count();
        }
    }
}

TEST_F(SliceSwitcherTest, WhatEndsLeavesTheColumnRunning) {
    here({"a", "b"});
    switcher.set_column(column({{"a"}, {"b"}}));
    switcher.leave("b");  // while it is suspended: it must hear that it is to end
    EXPECT_THAT(control.suspended, IsEmpty());
    control.changes.clear();
    clock.advance(200ms);
    EXPECT_THAT(control.changes, ElementsAre("-a", "+a", "-a", "+a"));
}

TEST_F(SliceSwitcherTest, WhatIsFoundSuspendedIsResumedWhereItMayRun) {
    control.suspended = {"a", "b"};
    switcher.join("a", true);
    EXPECT_THAT(control.suspended, ElementsAre("b"));
    switcher.set_column(column({{"a"}}));
    switcher.join("b", true);
    EXPECT_THAT(control.suspended, ElementsAre("b"));
    switcher.release_all();
    EXPECT_THAT(control.suspended, IsEmpty());
}

TEST_F(SliceSwitcherTest, AnEmptySlotIsFilledInTurnUntilTheSliceEnds) {
    here({"a", "x", "y"});
    switcher.set_column(filling({{"a"}, {}}, {"x", "gone", "y"}));
    EXPECT_THAT(control.suspended, UnorderedElementsAre("x", "y"));
    clock.advance(50ms);
    EXPECT_THAT(control.suspended, UnorderedElementsAre("a", "y"));
    clock.advance(50ms);
    EXPECT_THAT(control.suspended, UnorderedElementsAre("x", "y"));
    clock.advance(50ms);
    EXPECT_THAT(control.suspended, UnorderedElementsAre("a", "x"));
    EXPECT_EQ(switcher.statistics().fills, 2U);
}

TEST_F(SliceSwitcherTest, ASlotWhoseStepsAllWaitIsFilled) {
    here({"a", "b", "x"});
    switcher.set_column(filling({{"a", "b"}, {"x"}}, {"x"}));
    control.blocked = {"a"};
    clock.advance(20ms);
    EXPECT_THAT(control.suspended, ElementsAre("x")) << "b runs";
    control.blocked = {"a", "b"};
    clock.advance(5ms);
    EXPECT_THAT(control.suspended, IsEmpty()) << "x beside those that wait";
    control.blocked.clear();
    clock.advance(24ms);
    EXPECT_THAT(control.suspended, IsEmpty()) << "until the slice ends";
    clock.advance(1ms);
    EXPECT_THAT(control.suspended, UnorderedElementsAre("a", "b"));
    EXPECT_EQ(switcher.statistics().fills, 1U);
}

TEST_F(SliceSwitcherTest, ASliceThatBeginsIdleIsFilledAfterAMillisecond) {
    here({"a", "b"});
    switcher.set_column(filling({{"a"}, {"b"}}, {"a", "b"}));
    control.blocked = {"b"};
    clock.advance(50ms);
    EXPECT_THAT(control.suspended, ElementsAre("a")) << "b has not had the chance to run";
    clock.advance(1ms);
    EXPECT_THAT(control.suspended, IsEmpty());
}

TEST_F(SliceSwitcherTest, OfThoseThatCouldFillTheOneOfLargestPriorityDoes) {
    here({"a", "x", "y", "z"});
    switcher.set_priority("x", 0.9);
    switcher.set_priority("y", 1.9);
    switcher.set_priority("z", 0.9);
    switcher.set_column(filling({{"a"}, {}}, {"x", "y", "z"}));
    const auto runs_in_the_next_idle_slot = [&] {
        clock.advance(50ms);
        std::string found;
        for (const StepId& step_id : std::initializer_list<StepId>{"x", "y", "z"})
            if (!control.suspended.contains(step_id)) found += step_id;
        clock.advance(50ms);
        return found;
    };
    EXPECT_EQ(runs_in_the_next_idle_slot(), "y");
    EXPECT_EQ(runs_in_the_next_idle_slot(), "y");
    switcher.set_priority("y", 0.2);
    EXPECT_EQ(runs_in_the_next_idle_slot(), "x") << "who communicates is left out, equals take turns";
    EXPECT_EQ(runs_in_the_next_idle_slot(), "z");
    EXPECT_EQ(runs_in_the_next_idle_slot(), "x");
    for (const StepId& step_id : std::initializer_list<StepId>{"x", "z"}) switcher.set_priority(step_id, 0.1);
    EXPECT_EQ(runs_in_the_next_idle_slot(), "") << "nobody is better than somebody out of step";
}

TEST_F(SliceSwitcherTest, AFillerThatWaitsGivesTheSlotToAnother) {
    here({"a", "x", "y"});
    switcher.set_column(filling({{}, {"a"}}, {"x", "y"}));
    EXPECT_THAT(control.suspended, UnorderedElementsAre("a", "y"));
    control.blocked = {"x"};
    clock.advance(5ms);
    EXPECT_THAT(control.suspended, UnorderedElementsAre("a", "x"));
    control.blocked = {"x", "y"};
    clock.advance(20ms);
    EXPECT_THAT(control.suspended, UnorderedElementsAre("a", "x")) << "each once in a slice";
    EXPECT_EQ(switcher.statistics().fills, 2U);
}

TEST_F(SliceSwitcherTest, WithoutFillingIdleSlotsStayIdle) {
    here({"a", "x"});
    switcher.set_column(column({{"a"}, {}}));
    clock.advance(60ms);
    EXPECT_THAT(control.suspended, UnorderedElementsAre("a", "x"));
    EXPECT_EQ(switcher.statistics().fills, 0U);
}

TEST_F(SliceSwitcherTest, WhatDoesNotStopIsTriedAgainAndCounted) {
    here({"a", "b"});
    control.resisting = {"b"};
    switcher.set_column(column({{"a"}, {"a"}}));
    EXPECT_EQ(switcher.statistics().failed, 1U);
    control.resisting.clear();
    clock.advance(50ms);
    EXPECT_THAT(control.suspended, ElementsAre("b"));
    EXPECT_EQ(switcher.statistics().failed, 1U);
}

TEST_F(SliceSwitcherTest, WhatStoodOnlyInPartIsResumedAllTheSame) {
    here({"a", "b"});
    control.resisting = {"b"};
    switcher.set_column(column({{"a"}, {"a"}}));
    control.resisting.clear();
    control.changes.clear();
    switcher.release_all();
    EXPECT_THAT(control.changes, ElementsAre("+b"));
}

TEST_F(SliceSwitcherTest, LatenessAndCostAreMeasured) {
    here({"a", "b"});
    switcher.set_column(column({{"a"}, {"b"}}));
    control.takes = 200us;
    clock.advance(500ms);
    const SwitchStatistics statistics = switcher.statistics();
    EXPECT_GE(statistics.cost.count, 9U);
    EXPECT_EQ(statistics.cost.max, 400us);
    EXPECT_EQ(statistics.late.max, 0us);
}

}  // namespace
}  // namespace zbs
