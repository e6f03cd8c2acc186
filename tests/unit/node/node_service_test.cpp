#include "services/node_agent/domain/node_service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/messages/limits.hpp"
#include "tests/support/fake_executor.hpp"
#include "tests/support/memory_depot.hpp"
#include "tests/support/node_fakes.hpp"
#include "tests/support/silent_log.hpp"

namespace zbs {
namespace {
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class NodeServiceTest : public testing::Test {
  protected:
    NodeServiceTest() { open(); }
    /// As after a restart of the agent.
    void open() {
        node.reset();
        clock = std::make_unique<test::VirtualClock>(last_wall_ += 1h);
        control.suspended.clear();
        switcher = std::make_unique<SliceSwitcher>(*clock, control, log);
        inputs = std::make_unique<InputStore>(depot, *clock, log, 64 << 20);
        node = std::make_unique<NodeService>(NodePorts{.clock = *clock,
                                                       .steps = executor,
                                                       .files = executor,
                                                       .control = control,
                                                       .sensor = sensor,
                                                       .switcher = *switcher,
                                                       .post_switch = [](const std::function<void()>& work) { work(); },
                                                       .inputs = *inputs,
                                                       .log = log},
                                             "n1", "/steps/{operation}/job");
    }
    Result<StepReport> start(const StepId& step_id) {
        StepSpec spec;
        spec.step_id = step_id;
        spec.argv = {"/bin/true"};
        return node->start(spec);
    }
    SliceColumn column(std::uint64_t number, std::vector<std::vector<StepId>> rows) {
        return {.number = number, .epoch = clock->now(), .slice = 50ms, .rows = std::move(rows)};
    }

    test::VirtualClock executor_clock;
    test::FakeExecutor executor{executor_clock};
    test::FakeProcessControl control;
    test::FakeMachineSensor sensor;
    test::SilentLog log;
    std::unique_ptr<test::VirtualClock> clock;
    test::MemoryDepot depot;
    std::unique_ptr<InputStore> inputs;
    std::unique_ptr<SliceSwitcher> switcher;
    std::unique_ptr<NodeService> node;

  private:
    Time last_wall_ = time_from_microseconds(1'700'000'000'000'000);
};

TEST_F(NodeServiceTest, ARepeatedStartStartsNothingTwice) {
    node->resume();
    ASSERT_TRUE(start("a"));
    const auto again = start("a");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->state, StepState::kRunning);
    EXPECT_EQ(executor.running(), 1);
    EXPECT_EQ(node->status().steps, 1);
}

TEST_F(NodeServiceTest, ARefusedStartIsTold) {
    executor.script("bad", {.refusal = "no such program"});
    const auto refused = start("bad");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "no such program");
    EXPECT_EQ(node->steps({"bad"}).steps.at(0).state, StepState::kUnknown);
}

TEST_F(NodeServiceTest, TheEndOfAStepIsNoticedAndTellsWhoWaits) {
    node->resume();
    ASSERT_TRUE(start("a"));
    const std::uint64_t before = node->steps({}).version;
    std::vector<StepPage> answers;
    node->steps_after({"a"}, before, 30s, [&](StepPage page) { answers.push_back(std::move(page)); });
    clock->advance(5s);
    EXPECT_THAT(answers, IsEmpty()) << "nothing has changed";
    executor.end("a", 3, "");
    clock->advance(NodeService::kCheckInterval);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_GT(answers[0].version, before);
    EXPECT_EQ(answers[0].steps.at(0),
              (StepReport{.step_id = "a", .state = StepState::kExited, .exit_code = 3, .reason = "", .usage = {}}));
    EXPECT_TRUE(control.forgotten.contains("a"));
}

TEST_F(NodeServiceTest, WhoWaitsForNothingIsAnsweredAtTheEndOfTheWait) {
    node->resume();
    ASSERT_TRUE(start("a"));
    int answers = 0;
    node->steps_after({"a"}, node->steps({}).version, 2s, [&](const StepPage&) { ++answers; });
    clock->advance(1'999ms);
    EXPECT_EQ(answers, 0);
    clock->advance(1ms);
    EXPECT_EQ(answers, 1);
    node->steps_after({"a"}, 1, 2s, [&](const StepPage&) { ++answers; });
    EXPECT_EQ(answers, 2) << "an old version is no reason to wait";
}

TEST_F(NodeServiceTest, OnlySoManyMayWait) {
    node->resume();
    std::size_t answers = 0;
    for (std::size_t i = 0; i <= limits::kMaxNodeWaiters; ++i)
        node->steps_after({"a"}, node->steps({}).version, 2s, [&](const StepPage&) { ++answers; });
    EXPECT_EQ(answers, 1U);
}

TEST_F(NodeServiceTest, StepsOfTheAgentBeforeAreTakenUpAndRunOn) {
    node->resume();
    ASSERT_TRUE(start("a"));
    ASSERT_TRUE(start("b"));
    const std::uint64_t version = node->steps({}).version;
    executor.end("b", 0);
    control.there = {"a", "b", "c"};  // c: stopped before it began
    open();
    control.suspended = {"a"};  // when the agent was killed
    node->resume();
    EXPECT_THAT(control.suspended, IsEmpty());
    const StepPage page = node->steps({});
    ASSERT_EQ(page.steps.size(), 2U);
    EXPECT_EQ(page.steps[0].state, StepState::kRunning);
    EXPECT_EQ(page.steps[1].state, StepState::kExited);
    EXPECT_GT(page.version, version);
}

TEST_F(NodeServiceTest, AStoppedStepIsResumedAndLeavesTheColumn) {
    node->resume();
    ASSERT_TRUE(start("a"));
    ASSERT_TRUE(start("b"));
    ASSERT_TRUE(node->set_slices(column(1, {{"a"}, {"b"}})));
    EXPECT_THAT(control.suspended, ElementsAre("b"));
    executor.script("b", {});
    node->stop("b", 1s);
    EXPECT_THAT(control.suspended, IsEmpty());
    clock->advance(NodeService::kCheckInterval);
    EXPECT_EQ(node->steps({"b"}).steps.at(0).state, StepState::kExited);
}

TEST_F(NodeServiceTest, WhatStartsUnderAColumnThatDoesNotNameItIsSuspended) {
    node->resume();
    ASSERT_TRUE(node->set_slices(column(1, {{"a"}})));
    ASSERT_TRUE(start("x"));
    EXPECT_THAT(control.suspended, ElementsAre("x"));
    ASSERT_TRUE(node->set_slices(column(2, {})));
    EXPECT_THAT(control.suspended, IsEmpty());
}

TEST_F(NodeServiceTest, AnOlderColumnIsRefusedAndTheSameOneIsNot) {
    ASSERT_TRUE(node->set_slices(column(5, {{"a"}})));
    EXPECT_TRUE(node->set_slices(column(5, {{"a"}})));
    const auto other = node->set_slices(column(5, {{"b"}}));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ErrorCode::kConflict);
    EXPECT_FALSE(node->set_slices(column(4, {})));
    EXPECT_EQ(node->status().slices, 5U);
    ASSERT_TRUE(node->set_shares({3, {}}));
    EXPECT_FALSE(node->set_shares({2, {}}));
    EXPECT_TRUE(node->set_shares({3, {}}));
}

TEST_F(NodeServiceTest, SharesCountForWhatRunsAndForWhatComesLater) {
    node->resume();
    ASSERT_TRUE(start("a"));
    const auto set = node->set_shares({1, {{"a", 400, {}}, {"later", {}, 5}}});
    ASSERT_TRUE(set) << set.error();
    EXPECT_EQ(control.weights["a"], 400);
    EXPECT_FALSE(control.niceness.contains("later"));
    ASSERT_TRUE(start("later"));
    EXPECT_EQ(control.niceness["later"], 5);
}

TEST_F(NodeServiceTest, AShareThatCannotBeSetNamesItsStepAndTheOthersAreSet) {
    node->resume();
    ASSERT_TRUE(start("a"));
    ASSERT_TRUE(start("b"));
    const auto set = node->set_shares({1, {{"a", {}, -5}, {"b", {}, 3}}});
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().message, "step a: not allowed");
    EXPECT_EQ(control.niceness["b"], 8) << "as far below a, which has 0, as it should be";
}

TEST_F(NodeServiceTest, WithoutTheRightToRaiseNiceLevelsKeepTheirOrder) {
    control.may_raise = false;
    node->resume();
    for (const StepId& step_id : std::initializer_list<StepId>{"a", "b", "c", "d"}) ASSERT_TRUE(start(step_id));
    ASSERT_TRUE(node->set_shares({1, {{"b", {}, 9}, {"a", {}, 0}}}));
    // a has ended; b should go up and stays, c and d come below it.
    const ShareTable next{2, {{"d", {}, 19}, {"b", {}, 0}, {"c", {}, 9}}};
    for (int repeat = 0; repeat < 2; ++repeat) {
        const auto set = node->set_shares(next);
        ASSERT_FALSE(set);
        EXPECT_EQ(set.error().code, ErrorCode::kDenied);
        EXPECT_EQ(set.error().message, "step b: not allowed");
        EXPECT_EQ(control.niceness["b"], 9);
        EXPECT_EQ(control.niceness["c"], 18);
        EXPECT_EQ(control.niceness["d"], 19) << "the last level there is";
    }
}

TEST_F(NodeServiceTest, WhoGoesUpGetsItsLevelWhereTheAgentMay) {
    node->resume();
    for (const StepId& step_id : std::initializer_list<StepId>{"a", "b"}) ASSERT_TRUE(start(step_id));
    ASSERT_TRUE(node->set_shares({1, {{"a", {}, 0}, {"b", {}, 19}}}));
    EXPECT_EQ(control.niceness["b"], 19);
    ASSERT_TRUE(node->set_shares({2, {{"b", {}, 0}}}));
    EXPECT_EQ(control.niceness["b"], 0);
}

TEST_F(NodeServiceTest, WhomATableNamesNoMoreHasWhatIsAsWithout) {
    node->resume();
    ASSERT_TRUE(start("a"));
    ASSERT_TRUE(start("b"));
    ASSERT_TRUE(node->set_shares({1, {{"a", 400, {}}, {"b", {}, 7}, {"gone", 3, {}}}}));
    ASSERT_TRUE(node->set_shares({2, {}}));
    EXPECT_EQ(control.weights["a"], 100);
    EXPECT_EQ(control.niceness["b"], 0);
    EXPECT_FALSE(control.weights.contains("gone"));
}

TEST_F(NodeServiceTest, ARepeatedTableIsSetAgain) {
    node->resume();
    ASSERT_TRUE(start("a"));
    ASSERT_TRUE(node->set_shares({1, {{"a", {}, 7}}}));
    control.niceness["a"] = 0;  // by the job itself
    ASSERT_TRUE(node->set_shares({1, {{"a", {}, 7}}}));
    EXPECT_EQ(control.niceness["a"], 7);
    control.niceness["a"] = 0;  // as of a session that has begun since
    clock->advance(NodeService::kCheckInterval * NodeService::kChecksPerSample);
    EXPECT_EQ(control.niceness["a"], 7);
}

TEST_F(NodeServiceTest, SaysWhatAStepMostlyDoesOnceItHasLooked) {
    node->resume();
    ASSERT_TRUE(start("a"));
    const auto use_a_second = [&] {
        control.usages["a"].cpu += 1s;
        clock->advance(NodeService::kCheckInterval * NodeService::kChecksPerSample);
    };
    control.usages["a"] = {.processes = 1};
    use_a_second();
    EXPECT_EQ(node->steps({"a"}).steps.at(0).work, std::nullopt);
    use_a_second();
    EXPECT_EQ(node->steps({"a"}).steps.at(0).work, StepWork::kComputation);
    executor.end("a", 0);
    clock->advance(NodeService::kCheckInterval);
    EXPECT_EQ(node->steps({"a"}).steps.at(0).work, std::nullopt);
}

TEST_F(NodeServiceTest, SaysWhetherItCanGiveWeights) {
    EXPECT_FALSE(node->status().description.weights);
    control.weighs = true;
    open();
    EXPECT_TRUE(node->status().description.weights);
}

TEST_F(NodeServiceTest, ARunningStepIsNotRemovedAndAnEndedOneIsForgotten) {
    node->resume();
    ASSERT_TRUE(start("a"));
    const auto busy = node->remove("a", 100);
    ASSERT_FALSE(busy);
    EXPECT_EQ(busy.error().code, ErrorCode::kConflict);
    executor.end("a", 0);
    const auto removed = node->remove("a", 100);
    ASSERT_TRUE(removed);
    EXPECT_TRUE(removed->complete);
    EXPECT_THAT(node->steps({}).steps, IsEmpty());
}

TEST_F(NodeServiceTest, AnEndedStepThatNobodyAsksForGoesInTheEnd) {
    for (const StepId& step_id : std::initializer_list<StepId>{"asked", "forgotten", "runs"})
        ASSERT_TRUE(start(step_id));
    executor.end("asked", 0);
    executor.end("forgotten", 0);
    clock->advance(NodeService::kForgottenAfter - 1h);
    static_cast<void>(node->steps({"asked"}));
    static_cast<void>(node->steps({}));
    clock->advance(2h);
    node->resume();
    clock->advance(5s);
    EXPECT_EQ(node->steps({"forgotten"}).steps.at(0).state, StepState::kUnknown);
    EXPECT_EQ(node->steps({"asked"}).steps.at(0).state, StepState::kExited);
    EXPECT_EQ(node->steps({"runs"}).steps.at(0).state, StepState::kRunning);
    EXPECT_EQ(log.count("step_forgotten"), 1);
}

TEST_F(NodeServiceTest, LoadKnowsWhatTheStepsUsedAlsoThoseThatEnded) {
    node->resume();
    ASSERT_TRUE(start("a"));
    control.usages["a"] = {.cpu = 3s};
    clock->advance(NodeService::kMeasureEvery);
    EXPECT_EQ(node->status().load.cpu_available, 2.5);
    EXPECT_EQ(sensor.own, Duration{3s});
    executor.end("a", 0);
    clock->advance(NodeService::kMeasureEvery);
    sensor.available = 99;
    const NodeStatus status = node->status();
    EXPECT_EQ(sensor.own, Duration{3s});
    EXPECT_EQ(status.load.cpu_available, 4) << "no more than there are";
    EXPECT_EQ(status.load.at, clock->now());
}

TEST_F(NodeServiceTest, FilesAreReadAndListed) {
    executor.script("a", {.files = {{"stdout", "hello"}, {"stderr", ""}}});
    ASSERT_TRUE(start("a"));
    EXPECT_THAT(node->files("a", "std"), ElementsAre(StepFile{"stderr", 0}, StepFile{"stdout", 5}));
    EXPECT_EQ(*node->read("a", "stdout", 1, 3), "ell");
    EXPECT_EQ(node->read("a", "none", 0, 1).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace zbs
