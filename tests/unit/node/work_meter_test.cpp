#include "services/node_agent/domain/work_meter.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {
using namespace std::chrono_literals;

/// What one process uses within a second.
struct Second {
    Duration cpu{};
    std::uint64_t bytes = 0;
    std::uint64_t switches = 0;
};
constexpr Second kComputes{990ms, 0, 3}, kWrites{200ms, 50'000'000, 700}, kTalks{400ms, 0, 900}, kSleeps{1ms, 0, 2},
    kBoth{300ms, 10'000'000, 2'000};

class WorkMeterTest : public testing::Test {
  protected:
    WorkMeterTest() { meter.observe(usage, suspensions, now); }
    void pass(const Second& second, int times = 1) {
        for (int i = 0; i < times; ++i) {
            now += 1s;
            usage.cpu += second.cpu;
            usage.written_bytes += second.bytes;
            usage.voluntary_switches += second.switches * static_cast<std::uint64_t>(usage.processes);
            meter.observe(usage, suspensions, now);
        }
    }
    StepUsage usage{.processes = 1};
    std::uint64_t suspensions = 0;
    Duration now{};
    WorkMeter meter;
};

TEST_F(WorkMeterTest, NothingIsSaidOfWhatDidNothing) {
    EXPECT_EQ(meter.work(), std::nullopt);
    pass(kSleeps, 5);
    EXPECT_EQ(meter.work(), std::nullopt);
    EXPECT_EQ(meter.priority(), gang::priority_v2({})) << "a new task may fill";
}

TEST_F(WorkMeterTest, TellsTheThreeKinds) {
    for (const auto& [second, work] : {std::pair{kComputes, StepWork::kComputation},
                                       {kWrites, StepWork::kIo},
                                       {kTalks, StepWork::kCommunication},
                                       {kBoth, StepWork::kMixed}}) {
        SCOPED_TRACE(to_string(work));
        meter = WorkMeter{};
        meter.observe(usage, suspensions, now);
        pass(second);
        EXPECT_EQ(meter.work(), work) << "after one look";
        pass(second, 20);
        EXPECT_EQ(meter.work(), work);
    }
}

TEST_F(WorkMeterTest, APhaseIsForgottenWithinFiveLooks) {
    pass(kComputes, 100);
    pass(kTalks, 5);
    EXPECT_EQ(meter.work(), StepWork::kCommunication);
    pass(kWrites, 5);
    EXPECT_EQ(meter.work(), StepWork::kIo);
}

TEST_F(WorkMeterTest, WhoWaitsInBetweenKeepsWhatItIs) {
    pass(kTalks, 3);
    pass(kSleeps, 50);
    EXPECT_EQ(meter.work(), StepWork::kCommunication);
}

TEST_F(WorkMeterTest, IoIsPreferredAndCommunicationLeftOut) {
    pass(kWrites, 3);
    const double io = meter.priority();
    pass(kComputes, 8);
    EXPECT_LT(meter.priority(), io);
    EXPECT_GE(meter.priority(), gang::kPriorityFloor);
    pass(kTalks, 8);
    EXPECT_LT(meter.priority(), gang::kPriorityFloor);
}

TEST_F(WorkMeterTest, SwitchesCountByProcess) {
    usage.processes = 100;
    pass({900ms, 0, 9});  // each lets go nine times a second: less than twice in 200 ms
    EXPECT_EQ(meter.work(), StepWork::kComputation);
}

TEST_F(WorkMeterTest, WhatItsAgentSuspendsDoesNotCommunicate) {
    for (int i = 0; i < 3; ++i) {
        suspensions += 80;  // ten times a second, eight threads
        pass({500ms, 0, 83});
    }
    EXPECT_EQ(meter.work(), StepWork::kComputation);
}

TEST_F(WorkMeterTest, SumsThatFallBecauseThreadsEndedCountAsNothing) {
    pass(kComputes);
    usage.voluntary_switches = 0;
    usage.written_bytes = 0;
    pass(kComputes);
    EXPECT_EQ(meter.work(), StepWork::kComputation);
}

}  // namespace
}  // namespace zbs
