#include "services/zone_scheduler/peer/part.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "services/common/messages/states.hpp"
#include "tests/support/machine_table.hpp"
#include "tests/support/sample_parts.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

struct PartTest : testing::Test, SampleParts {
    /// Its next state; the same where nothing changes. `effects` has the last step's.
    part::State after(part::State state, const part::Event& event, Duration at = kNow) {
        const Result<part::Step> step = part::step(config, state, event, {at, kWall + (at - kNow)});
        EXPECT_TRUE(step) << step.error();
        if (!step) return state;
        effects = step->effects;
        saves = step->saves;
        return step->next.value_or(std::move(state));
    }
    part::State committed() { return after(held(), part::Commit{}); }
    part::State running() { return after(committed(), launch()); }
    template <class Effect>
    bool has() const {
        return std::ranges::any_of(effects, [](const auto& effect) { return std::holds_alternative<Effect>(effect); });
    }
    std::vector<TrustEvent> trust() const {
        std::vector<TrustEvent> seen;
        for (const part::Effect& effect : effects)
            if (const auto* one = std::get_if<part::RecordTrust>(&effect)) seen.push_back(one->event);
        return seen;
    }

    std::vector<part::Effect> effects;
    bool saves = false;
};

TEST_F(PartTest, TheFirstStepEntersThePartAndPromisesItsProcessorsOrQueuesIt) {
    PartRecord wanted = record();
    const auto first = [&] {
        part::Step step = part::begin(config, wanted, {kNow, kWall});
        effects = std::move(step.effects);
        return step.saves && std::holds_alternative<part::Enter>(effects.at(0)) &&
               std::holds_alternative<part::Reach>(effects.back());
    };
    EXPECT_TRUE(first() && has<part::Promise>() && has<part::AskAllocation>() && !has<part::JoinQueue>());
    wanted.request.queued = true;
    EXPECT_TRUE(first() && has<part::JoinQueue>() && !has<part::Promise>() && !has<part::AskAllocation>());
}

TEST_F(PartTest, HoldIsCommittedLaunchedAndCompletes) {
    part::State part = held();
    EXPECT_EQ(part::deadline_of(part), kNow + config.hold_ttl);
    part = after(std::move(part), part::Commit{});
    EXPECT_EQ(part.record.status.state, PartState::kCommitted);
    EXPECT_EQ(part::deadline_of(part), kNow + config.launch_window);
    EXPECT_TRUE(saves && has<part::Promise>() && has<part::KeepAllocation>());
    part = after(std::move(part), launch());
    EXPECT_EQ(part.record.operation, "run");
    EXPECT_EQ(part.record.proxies.size(), 2U);
    EXPECT_TRUE(saves && has<part::StartSteps>());
    EXPECT_FALSE(part::deadline_of(part));
    part = after(std::move(part), part::ProcessesSeen{{.steps = {runs(), ended(0)}}});
    EXPECT_EQ(part.record.status.state, PartState::kRunning);
    part = after(std::move(part), part::ProcessesSeen{{.steps = {ended(0), ended(0)}}});
    EXPECT_EQ(part.record.status.state, PartState::kCompleted);
    EXPECT_TRUE(saves && has<part::GiveBack>());
    EXPECT_EQ(trust(), (std::vector{TrustEvent::kHoldKept, TrustEvent::kCleanEnd}));
}

TEST_F(PartTest, SilenceOfHomeEndsWhatWasNotLaunchedAndNothingElse) {
    EXPECT_EQ(after(held(), part::TimePassed{}, kNow + config.hold_ttl - 1us).record.status.state, PartState::kHeld);
    EXPECT_EQ(after(held(), part::TimePassed{}, kNow + config.hold_ttl).record.status.state, PartState::kExpired);
    EXPECT_EQ(trust(), std::vector{TrustEvent::kHoldDropped});
    const part::State late = after(committed(), part::TimePassed{}, kNow + config.launch_window);
    EXPECT_EQ(late.record.status.state, PartState::kReleased);
    EXPECT_THAT(late.record.status.reason, HasSubstr("launch window"));
    EXPECT_EQ(trust(), std::vector{TrustEvent::kHoldDropped});
    EXPECT_EQ(after(running(), part::TimePassed{}, kNow + 24h).record.status.state, PartState::kRunning);
}

TEST_F(PartTest, WaitingInTheQueueCostsHomeNoTrust) {
    const part::State waiting = after(queued(), part::Commit{});
    EXPECT_FALSE(part::deadline_of(waiting));
    EXPECT_EQ(after(waiting, part::Release{"cancelled"}, kNow + 1h).record.status.state, PartState::kReleased);
    EXPECT_TRUE(trust().empty());
    const part::State placed = after(waiting, part::Placed{{{0, 1}, record().status.assignment}}, kNow + 1h);
    EXPECT_TRUE(saves && has<part::LeaveQueue>() && has<part::Promise>());
    EXPECT_EQ(part::deadline_of(placed), kNow + 1h + config.launch_window);
}

TEST_F(PartTest, LaunchIsRefusedBeforeItsTime) {
    EXPECT_EQ(part::check_launch(held(), {kNow, kWall}).error().code, ErrorCode::kConflict);
    EXPECT_EQ(part::check_launch(after(queued(), part::Commit{}), {kNow, kWall}).error().code, ErrorCode::kConflict);
    PartRecord later = record();
    later.request.start_in = 10min;
    const part::State reserved = after(*part::begin(config, later, {kNow, kWall}).next, part::Commit{});
    EXPECT_EQ(part::check_launch(reserved, {kNow + 9min, kWall + 9min}).error().code, ErrorCode::kConflict);
    EXPECT_TRUE(part::check_launch(reserved, {kNow + 10min, kWall + 10min}));
    EXPECT_EQ(part::deadline_of(reserved), kNow + 10min + config.launch_window);
}

TEST_F(PartTest, ReleaseGivesTheGraceAndAShorterOneComesEarlier) {
    part::State part = after(running(), part::Release{"cancelled by its owner"});
    EXPECT_TRUE(part::stop_of(part)->is_asked);
    ASSERT_TRUE(has<part::StopSteps>());
    EXPECT_EQ(std::get<part::StopSteps>(effects.front()).grace, 30s);
    part = after(std::move(part), part::Block{});
    ASSERT_TRUE(has<part::StopSteps>());
    EXPECT_EQ(std::get<part::StopSteps>(effects.front()).grace, 1s);
    EXPECT_EQ(part::stop_of(part)->reason, "cancelled by its owner");
    part = after(std::move(part), part::Release{"again"});
    EXPECT_FALSE(has<part::StopSteps>()) << "no longer grace after a shorter one";
    part = after(std::move(part), part::ProcessesSeen{{.steps = {ended(143), ended(143)}}});
    EXPECT_EQ(part.record.status.state, PartState::kReleased);
    EXPECT_TRUE(trust().empty()) << "a run that is cancelled is its user's right";
}

TEST_F(PartTest, OneLostProxyStopsTheOthers) {
    part::State part = after(running(), part::ProcessesSeen{{.steps = {runs(), ended(139)}}});
    EXPECT_TRUE(has<part::StopSteps>());
    EXPECT_FALSE(part::stop_of(part)->is_asked);
    part = after(std::move(part), part::ProcessesSeen{{.steps = {ended(143), ended(139)}}});
    EXPECT_EQ(part.record.status.state, PartState::kFailed);
    EXPECT_THAT(part.record.status.reason, HasSubstr("ended with code 139"));
    EXPECT_EQ(trust(), (std::vector{TrustEvent::kHoldKept, TrustEvent::kDirtyEnd}));
}

TEST_F(PartTest, WhatTheZoneDidNotStartIsItsOwnFault) {
    for (const part::Event& event :
         std::vector<part::Event>{part::StartFailed{"no such account"},
                                  part::ProcessesSeen{{.steps = {runs(), {.state = StepStatus::State::kUnknown}}}},
                                  part::ProcessesSeen{{.steps = {ended(0), {.state = StepStatus::State::kUnknown}}}}}) {
        part::State part = after(running(), event);
        ASSERT_NE(part::stop_of(part), nullptr);
        EXPECT_TRUE(part::stop_of(part)->not_started && has<part::StopSteps>());
        const StepStatus never{.state = StepStatus::State::kUnknown};
        part = after(std::move(part), part::ProcessesSeen{{.steps = {ended(0), never}}});
        EXPECT_EQ(part.record.status.state, PartState::kFailed);
        EXPECT_TRUE(trust().empty()) << "its home has done nothing wrong";
    }
}

TEST_F(PartTest, SitesSchedulerIsAskedWhyBeforeItHasTheProcessorsBack) {
    part::Observation gone{.steps = {ended(143), ended(143)}, .is_allocated = true};
    part::State part = after(running(), part::ProcessesSeen{gone});
    EXPECT_TRUE(has<part::AskVerdict>() && !saves);
    part = after(std::move(part), part::ProcessesSeen{gone});
    EXPECT_FALSE(has<part::AskVerdict>()) << "it is being asked";
    part = after(std::move(part), part::Judged{"PREEMPTED"});
    EXPECT_TRUE(saves && has<part::ReturnAllocation>());
    const part::State again = *part::resume(config, part.record, {kNow, kWall});
    after(again, part::ProcessesSeen{gone});
    EXPECT_TRUE(has<part::ReturnAllocation>() && !has<part::AskVerdict>()) << "after a restart the verdict is known";
    part = after(std::move(part), part::GivenBack{});
    EXPECT_TRUE(has<part::LookAgain>());
    part = after(std::move(part), part::ProcessesSeen{gone});
    EXPECT_EQ(part.record.status.state, PartState::kFailed);
    EXPECT_THAT(part.record.status.reason, StartsWith("processors were taken back: PREEMPTED"));
}

TEST_F(PartTest, FilesRenewTheWindowWithinTheirTime) {
    part::State part = committed();
    part = after(std::move(part), part::FilesMoved{Duration::max()}, kNow + 20s);
    EXPECT_EQ(part::deadline_of(part), kNow + 20s + config.launch_window);
    part = after(std::move(part), part::FilesMoved{kNow + 60s}, kNow + 40s);
    EXPECT_EQ(part::deadline_of(part), kNow + 60s) << "others were promised the processors";
    const Duration end = kNow + 21s + config.staging.window;
    EXPECT_EQ(part::deadline_of(after(part, part::FilesMoved{Duration::max()}, end)), kNow + 60s);
    const part::State named = after(part, part::FilesAnnounced{{.results = {"out"}}});
    EXPECT_TRUE(saves);
    const auto others = part::step(config, named, part::FilesAnnounced{{.results = {"other"}}}, {kNow, kWall});
    EXPECT_EQ(others.error().pointer, "/staging");
}

/// Any event in any state: what must hold of every step.
struct RandomPart : PartTest {};

TEST_F(RandomPart, AnyEventInAnyStateKeepsWhatIsPromised) {
    for (int run = 0; run < 3'000; ++run) {
        part::State part = rng.below(3) == 0 ? queued() : held();
        Duration now = kNow;
        int starts = 0;
        for (int n = 0; n < 40; ++n) {
            now += Duration{static_cast<std::int64_t>(rng.below(8'000'000))};
            const part::Event event = any_event(part, now);
            const Result<part::Step> step = part::step(config, part, event, {now, kWall + (now - kNow)});
            if (!step) {
                ASSERT_TRUE(std::holds_alternative<part::FilesAnnounced>(event));
                continue;
            }
            ASSERT_TRUE(step->next || step->effects.empty()) << "an effect of nothing";
            if (!step->next) continue;
            const PartState was = part.record.status.state, is = step->next->record.status.state;
            ASSERT_TRUE(fits(*step->next)) << to_string(is);
            ASSERT_TRUE(was == is || allowed(was, is)) << to_string(was) << " -> " << to_string(is);
            ASSERT_FALSE(is_final(was)) << "what has ended changes no more";
            ASSERT_TRUE(step->saves || step->next->record == part.record) << "an effect before its save";
            effects = step->effects;
            if (has<part::StartSteps>()) {
                ASSERT_TRUE(step->saves && is == PartState::kRunning && !step->next->record.operation.empty());
                ++starts;
            }
            ASSERT_EQ(has<part::GiveBack>(), is_final(is)) << "processors are given back once, at the end";
            ASSERT_TRUE(!has<part::StopSteps>() || was == PartState::kRunning);
            const part::Stop *before = part::stop_of(part), *stop = part::stop_of(*step->next);
            if (before != nullptr && stop != nullptr) {
                ASSERT_LE(stop->grace, before->grace);
            }
            part = *step->next;
        }
        ASSERT_LE(starts, 1) << "nothing starts twice";
    }
}

#ifndef __SANITIZE_ADDRESS__  // takes a minute with it; property_part runs it without
TEST_F(RandomPart, TheTableOfStepsIsInTheReadme) {
    MachineTable table;
    for (int run = 0; run < 2'000; ++run) {
        part::State part = rng.below(3) == 0 ? queued() : held();
        Duration now = kNow;
        for (int n = 0; n < 40; ++n) {
            now += Duration{static_cast<std::int64_t>(rng.below(8'000'000))};
            std::optional<part::State> next;
            for (int i = 0; i < 20; ++i) {
                const part::Event event = any_event(part, now);
                const Result<part::Step> step = part::step(config, part, event, {now, kWall + (now - kNow)});
                if (!step) continue;
                std::vector<AlternativeName> names;
                for (const part::Effect& effect : step->effects) names.push_back(name_of(effect));
                next = step->next;
                table.add(name_of(part.phase), name_of(event), name_of(next ? next->phase : part.phase), names);
            }
            part = next.value_or(std::move(part));
        }
    }
    EXPECT_EQ(table.count_phases(), std::variant_size_v<part::Phase>);
    EXPECT_EQ(table.count_events(), std::variant_size_v<part::Event>);
    expect_in_readme(table, "services/zone_scheduler/peer");
}
#endif

TEST_F(RandomPart, AStoredPartComesBackInItsPhase) {
    for (int run = 0; run < 500; ++run) {
        part::State part = rng.below(3) == 0 ? queued() : held();
        Duration now = kNow;
        for (std::uint64_t n = rng.below(12); n > 0; --n) {
            now += 1s;
            const auto step = part::step(config, part, any_event(part, now), {now, kWall + (now - kNow)});
            if (step && step->next) part = *step->next;
        }
        const Result<part::State> again = part::resume(config, part.record, {now, kWall + (now - kNow)});
        ASSERT_TRUE(again) << again.error();
        ASSERT_TRUE(fits(*again));
        ASSERT_EQ(again->record, part.record);
    }
}

}  // namespace
}  // namespace zbs::test
