#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "services/common/messages/states.hpp"
#include "services/zone_scheduler/home/application.hpp"
#include "tests/support/machine_table.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using State = ApplicationState;

PartId part(std::uint64_t number) { return PartId{make_id128(0, 0, number)}; }

template <class AnEffect>
bool has(const std::vector<ApplicationEffect>& effects) {
    return std::ranges::any_of(effects, [](const auto& one) { return std::holds_alternative<AnEffect>(one); });
}

bool asks(const std::vector<ApplicationEffect>& effects, Question question) {
    return std::ranges::any_of(effects, [question](const ApplicationEffect& one) {
        const auto* ask = std::get_if<effect::AskZone>(&one);
        return ask != nullptr && ask->question == question;
    });
}

/// The shell around the machine, without ports: stores unless `store_fails`, and hands the effects out.
struct Machine {
    ZoneConfig config;
    ApplicationRun run;
    Moment now{.wall = Time{1'000s}, .steady = 1'000s};
    bool store_fails = false;
    std::set<std::pair<State, State>> entered;
    std::uint64_t last_id = 0;

    explicit Machine(State state = State::kAccepted, Launcher launcher = Launcher::kMpich) {
        config.zone.name = std::string("a");
        run.app.owner = {CallerKind::kUser, "org-a", "ana"};
        run.app.request.id = ApplicationId{make_id128(1, 0, 0)};
        run.app.request.ranks = 4;
        run.app.request.launcher = launcher;
        run.app.status.state = state;
        run.app.status.history.push_back({state, now.wall});
        run.phase = phase_after_restart(state);
    }
    /// With parts 1 in zone a and 2 in zone b, of two ranks each.
    static Machine with_parts(State state, Launcher launcher = Launcher::kMpich) {
        Machine machine(state, launcher);
        for (const std::uint64_t number : {1, 2}) {
            ApplicationPart one{.id = part(number), .zone = number == 1 ? ZoneName("a") : ZoneName("b")};
            const auto first = static_cast<TaskIndex>(2 * (number - 1));
            one.ranks = {first, first + 1};
            one.status.id = one.id;
            machine.status().parts.push_back(std::move(one));
        }
        machine.last_id = 2;
        return machine;
    }
    ApplicationStatus& status() { return run.app.status; }
    State state() { return status().state; }
    template <class APhase>
    bool is_in() const {
        return std::holds_alternative<APhase>(run.phase);
    }

    std::vector<ApplicationEffect> apply(const ApplicationInput& event) {
        ApplicationStep next = step(std::move(run), event, now, config);
        run = std::move(next.run);
        if (!next.save) return next.effects;
        if (store_fails) return {};
        if (next.save->status.state != state()) entered.emplace(state(), next.save->status.state);
        keep(run, *std::move(next.save));
        return next.effects;
    }
    std::vector<ApplicationEffect> answer(Question question, std::uint64_t number, const Result<PartStatus>& words) {
        return apply(event::PartAnswered{question, part(number), now.steady, words});
    }
    /// That the part is in this state, on processors of its own for each rank.
    PartStatus good(std::uint64_t number, PartState in) {
        const ApplicationPart& asked = *find_part(status(), part(number));
        PartStatus good{.id = asked.id, .zone = asked.zone, .state = in};
        for (const TaskIndex rank : asked.ranks)
            good.assignment.push_back({.rank = rank, .machine = "m0", .processor = rank});
        return good;
    }
    event::PlanMade plan(std::vector<ZoneName> zone_of_rank, std::optional<Duration> start_in = {}) {
        event::PlanMade made;
        const std::set<ZoneName> zones(zone_of_rank.begin(), zone_of_rank.end());
        made.choice.plan.zone_of_rank = std::move(zone_of_rank);
        made.choice.start_in = start_in;
        while (made.ids.size() < zones.size()) made.ids.push_back(part(++last_id));
        return made;
    }
};

Error refusal(ErrorCode code) { return {code, "no", {}}; }

TEST(ApplicationStepTest, APlanIsStoredBeforeZonesAreAsked) {
    Machine machine;
    machine.store_fails = true;
    EXPECT_THAT(machine.apply(machine.plan({"a", "a", "b", "b"})), testing::IsEmpty());
    EXPECT_TRUE(machine.is_in<phase::Waiting>());
    machine.store_fails = false;
    EXPECT_TRUE(has<effect::Advance>(machine.apply(machine.plan({"a", "a", "b", "b"}))));
    EXPECT_EQ(machine.state(), State::kPlanned);
    EXPECT_EQ(machine.status().parts.size(), 2U);
    EXPECT_TRUE(has<effect::AskZones>(machine.apply(event::Advance{})));
    EXPECT_TRUE(machine.is_in<phase::Holding>());
    EXPECT_THAT(machine.apply(event::Advance{}), testing::IsEmpty()) << "answers are outstanding";
}

TEST(ApplicationStepTest, APlanOfTheBackgroundIsTakenWhereItIsTheAwaitedOne) {
    Machine machine;
    machine.apply(event::PlanBegun{7});
    ASSERT_TRUE(machine.is_in<phase::Planning>());
    EXPECT_EQ(machine.status().reason, "its plan is being made");
    event::PlanMade made = machine.plan({"a", "a", "b", "b"});
    made.plan = 6;
    EXPECT_THAT(machine.apply(made), testing::IsEmpty());
    EXPECT_TRUE(machine.is_in<phase::Planning>());
    made.plan = 7;
    machine.store_fails = true;
    machine.apply(made);
    EXPECT_TRUE(machine.is_in<phase::Waiting>()) << "the next cycle plans it again";
    machine.store_fails = false;
    machine.apply(event::PlanBegun{8});
    machine.apply(event::NoPlan{"waiting for processors"});
    EXPECT_TRUE(machine.is_in<phase::Waiting>());
    EXPECT_EQ(machine.status().reason, "waiting for processors");
}

TEST(ApplicationStepTest, ACancelDoesNotWaitForAPlan) {
    Machine machine;
    machine.apply(event::PlanBegun{7});
    machine.status().cancel_requested = true;
    machine.apply(event::Advance{});
    EXPECT_EQ(machine.state(), State::kCancelled);
    event::PlanMade made = machine.plan({"a", "a", "b", "b"});
    made.plan = 7;
    machine.apply(made);
    EXPECT_EQ(machine.state(), State::kCancelled);
}

TEST(ApplicationStepTest, AllHoldThenAllCommit) {
    Machine machine = Machine::with_parts(State::kPlanned);
    machine.apply(event::Advance{});
    machine.answer(Question::kHold, 1, machine.good(1, PartState::kHeld));
    EXPECT_EQ(machine.state(), State::kPlanned);
    machine.answer(Question::kHold, 1, machine.good(1, PartState::kHeld));
    EXPECT_EQ(machine.state(), State::kPlanned) << "the second answer of one zone is not the other's";
    machine.answer(Question::kHold, 2, machine.good(2, PartState::kHeld));
    EXPECT_EQ(machine.state(), State::kHeld);
    machine.apply(event::Advance{});
    machine.answer(Question::kCommit, 2, machine.good(2, PartState::kCommitted));
    machine.answer(Question::kCommit, 1, machine.good(1, PartState::kCommitted));
    EXPECT_EQ(machine.state(), State::kCommitted);
    machine.apply(event::Advance{});
    EXPECT_EQ(machine.state(), State::kLaunching);
    EXPECT_FALSE(machine.status().launcher_step.empty());
}

TEST(ApplicationStepTest, ARefusalReleasesAllAndExcludesTheZone) {
    Machine machine = Machine::with_parts(State::kPlanned);
    machine.apply(event::Advance{});
    EXPECT_TRUE(has<effect::RecheckPeer>(machine.answer(Question::kHold, 2, refusal(ErrorCode::kDenied))));
    const auto effects = machine.answer(Question::kHold, 1, machine.good(1, PartState::kHeld));
    EXPECT_EQ(machine.state(), State::kAccepted);
    EXPECT_THAT(machine.status().parts, testing::IsEmpty());
    EXPECT_EQ(machine.status().releasing.size(), 2U);
    EXPECT_THAT(machine.run.series.excluded, ElementsAre(ZoneName("b")));
    EXPECT_EQ(machine.run.series.round, 2);
    EXPECT_TRUE(has<effect::Release>(effects));
    EXPECT_TRUE(has<effect::AwaitPlanningLater>(effects));
}

TEST(ApplicationStepTest, AZoneThatRejectsAHoldHasNothingToRelease) {
    Machine machine = Machine::with_parts(State::kPlanned);
    machine.apply(event::Advance{});
    machine.answer(Question::kHold, 2, refusal(ErrorCode::kRejected));
    machine.answer(Question::kHold, 1, machine.good(1, PartState::kHeld));
    ASSERT_EQ(machine.status().releasing.size(), 1U);
    EXPECT_EQ(machine.status().releasing[0].id, part(1));
}

TEST(ApplicationStepTest, AHoldOnOneProcessorForTwoRanksIsNone) {
    Machine machine = Machine::with_parts(State::kPlanned);
    machine.apply(event::Advance{});
    machine.answer(Question::kHold, 1, machine.good(1, PartState::kHeld));
    PartStatus twice = machine.good(2, PartState::kHeld);
    twice.assignment[1].processor = twice.assignment[0].processor;
    machine.answer(Question::kHold, 2, twice);
    EXPECT_EQ(machine.state(), State::kAccepted);
    EXPECT_EQ(machine.status().reason, "planning again: zone b: its hold does not fit the request");
}

TEST(ApplicationStepTest, FiveDenialsRejectAndBusyZonesDoNot) {
    for (const bool is_denial : {true, false}) {
        Machine machine;
        for (int round = 0; round < 5; ++round) {
            ASSERT_EQ(machine.state(), State::kAccepted) << round;
            machine.apply(machine.plan({"b", "b", "b", "b"}));
            machine.apply(event::Advance{});
            machine.answer(Question::kHold, machine.last_id,
                           refusal(is_denial ? ErrorCode::kDenied : ErrorCode::kUnavailable));
        }
        EXPECT_EQ(machine.state(), is_denial ? State::kRejected : State::kAccepted);
        EXPECT_EQ(machine.run.denied_by, is_denial ? std::set<ZoneName>{"b"} : std::set<ZoneName>{});
    }
}

TEST(ApplicationStepTest, ACommitThatIsDeniedWithinItsTimeIsPenalised) {
    Machine machine = Machine::with_parts(State::kPlanned);
    machine.apply(event::Advance{});
    for (const std::uint64_t number : {1, 2}) {
        PartStatus held = machine.good(number, PartState::kHeld);
        held.expires_in = 60s;
        machine.answer(Question::kHold, number, held);
    }
    machine.apply(event::Advance{});
    machine.answer(Question::kCommit, 1, machine.good(1, PartState::kCommitted));
    const auto effects = machine.answer(Question::kCommit, 2, refusal(ErrorCode::kNotFound));
    EXPECT_TRUE(has<effect::Penalise>(effects));
    EXPECT_EQ(machine.state(), State::kAccepted);
}

TEST(ApplicationStepTest, ATimerOfAnEarlierWaitIsIgnored) {
    Machine machine = Machine::with_parts(State::kCommitted);
    machine.status().start = machine.now.wall + 60s;
    machine.run.start = machine.now.steady + 60s;
    machine.apply(event::Advance{});
    ASSERT_TRUE(machine.is_in<phase::AwaitingStart>());
    machine.now.steady += 60s;
    EXPECT_THAT(machine.apply(event::TimerFired{7}), testing::IsEmpty());
    EXPECT_TRUE(has<effect::AskZones>(machine.apply(event::TimerFired{1})));
    EXPECT_TRUE(machine.is_in<phase::CheckingReady>());
}

TEST(ApplicationStepTest, AnEarlierStartKeepsWhatIsReservedUntilAllHold) {
    Machine machine = Machine::with_parts(State::kCommitted);
    machine.status().start = machine.now.wall + 60s;
    machine.run.start = machine.now.steady + 60s;
    machine.apply(event::Advance{});
    machine.apply(machine.plan({"a", "a", "a", "a"}));
    ASSERT_EQ(machine.state(), State::kPlanned);
    EXPECT_EQ(machine.status().parts.at(0).replaces, part(1));
    EXPECT_TRUE(is_swapping(machine.run.phase));
    EXPECT_FALSE(has<effect::Release>(machine.apply(event::Advance{})));
    machine.answer(Question::kHold, 3, machine.good(3, PartState::kHeld));
    EXPECT_EQ(machine.state(), State::kHeld);
    ASSERT_EQ(machine.status().releasing.size(), 1U) << "part 1 has gone with the hold of its successor";
    EXPECT_EQ(machine.status().releasing[0].id, part(2));
}

/// Launches and has all zones say that their parts run.
Machine launched() {
    Machine machine = Machine::with_parts(State::kLaunching);
    EXPECT_TRUE(has<effect::StartLauncher>(machine.apply(event::Advance{})));
    event::LauncherSeen seen{.runs = true, .proxies = event::LauncherSeen::Proxies::kAwaited};
    seen.asked.emplace();
    EXPECT_TRUE(asks(machine.apply(seen), Question::kLaunch));
    for (const std::uint64_t number : {1, 2})
        machine.answer(Question::kLaunch, number, machine.good(number, PartState::kRunning));
    EXPECT_TRUE(machine.is_in<phase::AwaitingProxies>());
    return machine;
}

TEST(ApplicationStepTest, RunsOnceAllProxiesHaveConnected) {
    Machine machine = launched();
    EXPECT_TRUE(has<effect::CheckLauncher>(
        machine.apply(event::LauncherSeen{.runs = true, .proxies = event::LauncherSeen::Proxies::kAwaited})));
    EXPECT_EQ(machine.state(), State::kLaunching);
    EXPECT_TRUE(has<effect::Watch>(
        machine.apply(event::LauncherSeen{.runs = true, .proxies = event::LauncherSeen::Proxies::kConnected})));
    EXPECT_EQ(machine.state(), State::kRunning);
}

TEST(ApplicationStepTest, ALaunchIsRepeatedUntilTheWindowEnds) {
    Machine machine = Machine::with_parts(State::kLaunching);
    machine.apply(event::Advance{});
    event::LauncherSeen seen{.runs = true, .proxies = event::LauncherSeen::Proxies::kAwaited};
    seen.asked.emplace();
    machine.apply(seen);
    EXPECT_TRUE(asks(machine.answer(Question::kLaunch, 2, refusal(ErrorCode::kTimeout)), Question::kLaunch));
    machine.now.steady += machine.config.launch_window;
    const auto effects = machine.answer(Question::kLaunch, 2, refusal(ErrorCode::kTimeout));
    EXPECT_TRUE(has<effect::RecordLaunchFailure>(effects));
    EXPECT_TRUE(has<effect::StopLauncher>(effects));
    EXPECT_TRUE(machine.is_in<phase::GivingUpLaunch>());
    EXPECT_TRUE(has<effect::RemoveLauncher>(machine.apply(event::LauncherSeen{})));
    machine.apply(event::LauncherRemoved{});
    EXPECT_EQ(machine.state(), State::kAccepted);
    EXPECT_EQ(machine.status().releasing.size(), 2U);
}

PartStatus with_end(PartStatus status, TaskIndex rank) {
    status.first_end = RankEnd{.rank = rank, .how = RankEndKind::kSignalled, .code = 11};
    return status;
}

TEST(ApplicationStepTest, ARankThatEndsBeforeAllProxiesHaveConnectedIsALieOfItsZone) {
    Machine machine = launched();
    const TaskIndex rank = machine.status().parts[1].ranks.front();
    const event::LauncherSeen waits{.runs = true, .proxies = event::LauncherSeen::Proxies::kAwaited};
    EXPECT_FALSE(has<effect::AwaitLauncher>(
        machine.answer(Question::kState, 2, with_end(machine.good(2, PartState::kRunning), rank))));
    machine.apply(waits);
    EXPECT_TRUE(machine.is_in<phase::AwaitingProxies>()) << "the launcher may not have shown yet what it has";
    machine.now.steady += 1s;
    EXPECT_TRUE(has<effect::RecordLaunchFailure>(machine.apply(waits)));
    ASSERT_TRUE(machine.is_in<phase::GivingUpLaunch>());
    const ZoneFailure& failure = std::get<phase::GivingUpLaunch>(machine.run.phase).failure;
    EXPECT_EQ(failure.zone, machine.status().parts[1].zone);
    EXPECT_THAT(failure.reason, testing::HasSubstr("rank " + std::to_string(rank) + " has ended, and none has begun"));
}

TEST(ApplicationStepTest, ARankMayEndBeforeHomeSeesThatAllProxiesHaveConnected) {
    Machine machine = launched();
    const PartStatus ended = with_end(machine.good(2, PartState::kRunning), machine.status().parts[1].ranks.front());
    machine.answer(Question::kState, 2, ended);
    machine.now.steady += 1s;
    machine.apply(event::LauncherSeen{.runs = true, .proxies = event::LauncherSeen::Proxies::kConnected});
    EXPECT_EQ(machine.state(), State::kRunning);
    machine.apply(event::Watched{.runs = true});
    EXPECT_TRUE(has<effect::AwaitLauncher>(machine.answer(Question::kState, 2, ended)));
}

TEST(ApplicationStepTest, AZoneDoesNotSpeakForRanksOfOthers) {
    Machine machine = launched();
    machine.apply(event::LauncherSeen{.runs = true, .proxies = event::LauncherSeen::Proxies::kConnected});
    machine.apply(event::Watched{.runs = true});
    for (const TaskIndex rank : {machine.status().parts[0].ranks.front(), TaskIndex{900'000}})
        EXPECT_FALSE(has<effect::AwaitLauncher>(
            machine.answer(Question::kState, 2, with_end(machine.good(2, PartState::kRunning), rank))));
    EXPECT_FALSE(machine.status().parts[1].status.first_end);
}

TEST(ApplicationStepTest, ALongPromiseOfOneZoneMakesNoLongerLaunch) {
    Machine machine = Machine::with_parts(State::kLaunching);
    machine.apply(event::Advance{});
    machine.run.obligations[part(2)] = {machine.now.steady + 1'000h, machine.now.steady, {}};
    event::LauncherSeen seen{.runs = true, .proxies = event::LauncherSeen::Proxies::kAwaited};
    seen.asked.emplace();
    machine.apply(seen);
    machine.now.steady += machine.config.launch_window;
    machine.answer(Question::kLaunch, 2, refusal(ErrorCode::kUnavailable));
    EXPECT_TRUE(machine.is_in<phase::GivingUpLaunch>());
}

TEST(ApplicationStepTest, ASuspicionCountsLessThanAFailureThatWasSeen) {
    for (const bool is_suspicion : {false, true}) {
        int launches = 0;
        Machine machine = launched();
        for (; machine.status().stop_reason.empty() && launches < 10; ++launches) {
            machine.run.needs_all = true;
            machine.run.phase = phase::AwaitingProxies{};
            machine.now.steady += 1h;  // nobody is left out any more
            machine.apply(event::LaunchFailed{{"b", "no"}, is_suspicion});
        }
        EXPECT_EQ(launches, is_suspicion ? 6 : 3);
        EXPECT_EQ(machine.status().stop_reason, is_suspicion
                                                    ? "zone b, or another one of its zones, did not start its part: no"
                                                    : "zone b did not start its part: no");
    }
}

TEST(ApplicationStepTest, ALaunchThatFailsAfterRanksMayHaveBegunStopsAll) {
    Machine machine = launched();
    machine.apply(event::LaunchFailed{{"b", "it failed"}});
    const auto effects =
        machine.apply(event::LauncherSeen{.runs = true, .proxies = event::LauncherSeen::Proxies::kConnected});
    EXPECT_EQ(machine.status().stop_reason, "zone b: it did not start its part: it failed");
    EXPECT_TRUE(has<effect::StopParts>(effects));
    EXPECT_TRUE(machine.is_in<phase::Watching>());
}

TEST(ApplicationStepTest, AnApplicationWhoseStopIsNotStoredYetIsNotLaunchedAgain) {
    Machine machine = launched();
    machine.apply(event::LaunchFailed{{"b", "it failed"}});
    machine.store_fails = true;
    machine.apply(event::LauncherSeen{.runs = true, .proxies = event::LauncherSeen::Proxies::kConnected});
    machine.store_fails = false;
    EXPECT_THAT(machine.apply(event::LauncherSeen{}), testing::IsEmpty());
    EXPECT_THAT(machine.apply(event::LauncherRemoved{}), testing::IsEmpty());
    EXPECT_TRUE(has<effect::StopParts>(machine.apply(event::Advance{})));
}

TEST(ApplicationStepTest, AnotherLauncherHasRanksAtOnceSoItsLaunchFails) {
    Machine machine = Machine::with_parts(State::kLaunching, Launcher::kSrunPmi2);
    EXPECT_TRUE(asks(machine.apply(event::Advance{}), Question::kLaunch));
    machine.answer(Question::kLaunch, 1, refusal(ErrorCode::kRejected));
    EXPECT_EQ(machine.status().stop_reason, "zone a did not start its part: no");
}

TEST(ApplicationStepTest, AStopThatCannotBeStoredIsTriedAgain) {
    Machine machine = launched();
    machine.store_fails = true;
    machine.apply(event::StopAsked{"too much output"});
    EXPECT_EQ(machine.status().stop_reason, "");
    machine.store_fails = false;
    EXPECT_TRUE(has<effect::StopParts>(machine.apply(event::Advance{})));
    EXPECT_EQ(machine.status().stop_reason, "too much output");
}

TEST(ApplicationStepTest, APartThatFailsStopsAllUnlessTheLauncherEnds) {
    Machine machine = Machine::with_parts(State::kRunning);
    EXPECT_TRUE(asks(machine.apply(event::Watched{true}), Question::kState));
    EXPECT_FALSE(asks(machine.apply(event::Watched{true}), Question::kState)) << "both answers are outstanding";
    PartStatus failed = machine.good(2, PartState::kFailed);
    failed.reason = "its machine is away";
    EXPECT_TRUE(has<effect::AwaitLauncher>(machine.answer(Question::kState, 2, failed)));
    EXPECT_EQ(machine.status().stop_reason, "");
    EXPECT_TRUE(has<effect::StopParts>(machine.apply(event::LauncherOutlives{"b", failed.reason})));
    EXPECT_EQ(machine.status().stop_reason, "zone b lost its part: its machine is away");
}

TEST(ApplicationStepTest, APartThatItsZoneDoesNotKnowHasFailedAndOneThatIsSilentHasNot) {
    Machine machine = Machine::with_parts(State::kRunning);
    machine.apply(event::Watched{true});
    machine.answer(Question::kState, 1, refusal(ErrorCode::kTimeout));
    EXPECT_EQ(machine.status().parts[0].status.state, PartState::kHeld);
    machine.answer(Question::kState, 2, refusal(ErrorCode::kNotFound));
    EXPECT_EQ(machine.status().parts[1].status.state, PartState::kFailed);
}

TEST(ApplicationStepTest, TheLauncherOfACancelEndsWithItsPartsOrAfterTheirGrace) {
    for (const bool have_ended : {true, false}) {
        Machine machine = Machine::with_parts(State::kRunning);
        machine.run.app.request.grace = 30s;
        machine.apply(event::Watched{true});
        machine.status().cancel_requested = true;
        EXPECT_FALSE(has<effect::StopLauncher>(machine.apply(event::Watched{true})));
        EXPECT_EQ(machine.status().stop_reason, "cancelled by its owner");
        for (ApplicationPart& one : machine.status().parts)
            if (have_ended) one.status.state = PartState::kReleased;
        if (!have_ended) machine.now.steady += 40s;
        EXPECT_TRUE(has<effect::StopLauncher>(machine.apply(event::Watched{true})));
        EXPECT_FALSE(has<effect::StopLauncher>(machine.apply(event::Watched{true})));
    }
}

/// Its launcher has ended, badly unless `is_clean`; zones have not answered yet.
Machine ended(bool is_clean = true) {
    Machine machine = Machine::with_parts(State::kRunning);
    EXPECT_TRUE(asks(machine.apply(event::Watched{false, is_clean}), Question::kEnd));
    return machine;
}

event::EndFound found(Machine& machine, State state) {
    return {{.state = state, .exit_code = state == State::kCompleted ? 0 : 1, .parts = machine.status().parts}};
}

event::ProfileAnswered model(std::uint64_t number, bool complete, double seconds) {
    std::vector<double> compute(4, 0.0);
    compute[2 * (number - 1)] = seconds;
    return {part(number), ApplicationModel{"a.out", complete, *TaskGraph::make(std::move(compute), {}), {}}};
}

TEST(ApplicationStepTest, ZonesAreAskedOneByOneHowAPartEndedSilentOnesLast) {
    Machine machine = ended();
    EXPECT_THAT(machine.answer(Question::kEnd, 2, machine.good(2, PartState::kCompleted)), testing::IsEmpty())
        << "it was not asked";
    machine.answer(Question::kEnd, 1, refusal(ErrorCode::kTimeout));
    EXPECT_EQ(std::get<phase::CollectingEnd>(machine.run.phase).asked, part(2));
    PartStatus failed = machine.good(2, PartState::kFailed);
    failed.exit_code = 3;
    EXPECT_TRUE(asks(machine.answer(Question::kEnd, 2, failed), Question::kEnd));
    EXPECT_EQ(machine.status().parts[1].status.exit_code, 3);
    EXPECT_TRUE(asks(machine.answer(Question::kEnd, 1, machine.good(1, PartState::kRunning)), Question::kEnd));
    machine.now.steady += 10s;
    EXPECT_TRUE(has<effect::FindEnd>(machine.answer(Question::kEnd, 1, refusal(ErrorCode::kTimeout))))
        << "the time for answers is over";
    EXPECT_THAT(machine.run.silent, ElementsAre(part(1)));
}

TEST(ApplicationStepTest, ProfilesOfPartsAreMergedAndStoredBeforeTheEnd) {
    Machine machine = Machine::with_parts(State::kRunning);
    machine.run.app.request.profile = true;
    machine.now.wall += 7s;
    machine.apply(event::Watched{false, false});
    for (const std::uint64_t number : {1, 2}) {
        PartStatus completed = machine.good(number, PartState::kCompleted);
        completed.has_profile = true;
        EXPECT_TRUE(has<effect::AskProfile>(machine.answer(Question::kEnd, number, completed)));
        machine.apply(model(number, false, 1.0));
    }
    ASSERT_TRUE(machine.is_in<phase::Concluding>());
    const RunEnd& end = std::get<phase::Concluding>(machine.run.phase).end;
    EXPECT_THAT(end.profile->graph.compute(), ElementsAre(1.0, 0.0, 1.0, 0.0));
    const auto effects = machine.apply(found(machine, State::kCompleted));
    ASSERT_TRUE(has<effect::StoreProfile>(effects));
    EXPECT_EQ(std::get<effect::StoreProfile>(effects.front()).measured, 7s);
    machine.store_fails = true;
    machine.apply(event::ProfileStored{ProfileId{make_id128(9, 0, 0)}});
    machine.store_fails = false;
    EXPECT_TRUE(has<effect::FindEnd>(machine.apply(event::Advance{})));
    EXPECT_FALSE(has<effect::StoreProfile>(machine.apply(found(machine, State::kCompleted)))) << "it is stored";
    EXPECT_EQ(machine.status().profile, ProfileId{make_id128(9, 0, 0)});
}

TEST(ApplicationStepTest, ACompleteProfileOfACleanRunNeedsNoOtherAnswer) {
    Machine machine = Machine::with_parts(State::kRunning);
    machine.run.app.request.profile = true;
    machine.run.app.request.walltime = 1h;
    machine.apply(event::Watched{false, true});
    PartStatus completed = machine.good(1, PartState::kCompleted);
    completed.has_profile = true;
    machine.answer(Question::kEnd, 1, completed);
    EXPECT_THAT(machine.apply(model(2, true, 1.0)), testing::IsEmpty()) << "this profile was not asked for";
    EXPECT_TRUE(has<effect::FindEnd>(machine.apply(model(1, true, 1.0))));
}

TEST(ApplicationStepTest, PartsWhoseResultsAreAllHereAreReleasedWithTheEnd) {
    Machine machine = Machine::with_parts(State::kRunning);
    machine.run.app.request.staging.results = {"out"};
    machine.apply(event::Watched{false, true});
    machine.answer(Question::kEnd, 1, machine.good(1, PartState::kCompleted));
    EXPECT_TRUE(has<effect::FetchResults>(machine.answer(Question::kEnd, 2, machine.good(2, PartState::kCompleted))));
    machine.apply(event::ResultsFetched{.results = StagedResults{.complete = true}, .complete = {part(2)}});
    machine.apply(found(machine, State::kCompleted));
    EXPECT_EQ(machine.state(), State::kCompleted);
    EXPECT_TRUE(machine.status().results->complete);
    ASSERT_EQ(machine.status().releasing.size(), 1U);
    EXPECT_EQ(machine.status().releasing[0].id, part(2));
}

TEST(ApplicationStepTest, AnEndThatCannotBeStoredIsFoundAgain) {
    Machine machine = ended();
    for (const std::uint64_t number : {1, 2})
        machine.answer(Question::kEnd, number, machine.good(number, PartState::kCompleted));
    machine.store_fails = true;
    EXPECT_THAT(machine.apply(found(machine, State::kCompleted)), testing::IsEmpty());
    machine.store_fails = false;
    machine.status().cancel_requested = true;
    const auto effects = machine.apply(event::Advance{});
    ASSERT_TRUE(has<effect::FindEnd>(effects));
    EXPECT_EQ(std::get<effect::FindEnd>(effects.front()).by_home.cancelled, "cancelled by its owner");
    EXPECT_FALSE(has<effect::RecordKept>(machine.apply(found(machine, State::kCancelled))));
    EXPECT_EQ(machine.state(), State::kCancelled);
}

/// How many zones are asked to release a part.
std::ptrdiff_t count_released(const std::vector<ApplicationEffect>& effects) {
    return std::ranges::count_if(effects,
                                 [](const auto& one) { return std::holds_alternative<effect::ReleasePart>(one); });
}

/// The rest before parts are released again; none: they are not.
std::optional<Duration> rest_of(const std::vector<ApplicationEffect>& effects) {
    for (const ApplicationEffect& one : effects)
        if (const auto* release = std::get_if<effect::Release>(&one)) return release->after;
    return std::nullopt;
}

Machine releasing() {
    Machine machine = Machine::with_parts(State::kHeld);
    machine.status().cancel_requested = true;
    EXPECT_EQ(rest_of(machine.apply(event::Advance{})), Duration{0});
    EXPECT_EQ(count_released(machine.apply(event::ReleaseDue{})), 2);
    EXPECT_EQ(count_released(machine.apply(event::ReleaseDue{})), 0) << "answers are outstanding";
    return machine;
}

TEST(ApplicationStepTest, APartIsReleasedUntilItsZoneConfirmsThatItIsGone) {
    Machine machine = releasing();
    machine.apply(event::ReleaseAnswered{part(1), refusal(ErrorCode::kNotFound)});
    const auto effects = machine.apply(event::ReleaseAnswered{part(2), refusal(ErrorCode::kTimeout)});
    EXPECT_TRUE(has<effect::BeginCycle>(effects));
    EXPECT_EQ(rest_of(effects), 1s);
    ASSERT_EQ(machine.status().releasing.size(), 1U);
    EXPECT_EQ(machine.status().releasing[0].id, part(2));
    EXPECT_EQ(count_released(machine.apply(event::ReleaseDue{.is_new = false})), 1);
    machine.apply(event::ReleaseAnswered{part(2), PartStatus{.id = part(2), .state = PartState::kReleased}});
    EXPECT_THAT(machine.status().releasing, testing::IsEmpty());
}

TEST(ApplicationStepTest, AZoneThatIsAwayIsAskedToReleaseLessAndLessOften) {
    Machine machine = releasing();
    for (const Duration rest : {2s, 4s, 8s, 16s, 30s, 30s}) {
        machine.apply(event::ReleaseAnswered{part(1), refusal(ErrorCode::kTimeout)});
        EXPECT_EQ(rest_of(machine.apply(event::ReleaseAnswered{part(2), refusal(ErrorCode::kTimeout)})), rest);
        EXPECT_EQ(count_released(machine.apply(event::ReleaseDue{.is_new = false})), 0) << "it rests";
        machine.now.steady += rest;
        EXPECT_EQ(count_released(machine.apply(event::ReleaseDue{.is_new = false})), 2);
    }
}

TEST(ApplicationStepTest, AReleaseThatCannotBeStoredIsAskedForAgain) {
    Machine machine = releasing();
    machine.apply(event::ReleaseAnswered{part(1), refusal(ErrorCode::kNotFound)});
    machine.store_fails = true;
    machine.apply(event::ReleaseAnswered{part(2), refusal(ErrorCode::kNotFound)});
    EXPECT_EQ(machine.status().releasing.size(), 2U);
    EXPECT_EQ(rest_of(machine.apply(event::Advance{})), Duration{0});
    EXPECT_EQ(count_released(machine.apply(event::ReleaseDue{.is_new = false})), 2);
}

TEST(ApplicationStepTest, WorkOfABlockedOwnerIsCancelled) {
    Machine machine = Machine::with_parts(State::kHeld);
    machine.now.is_blocked = true;
    EXPECT_TRUE(has<effect::Advance>(machine.apply(event::Advance{})));
    machine.apply(event::Advance{});
    EXPECT_EQ(machine.state(), State::kCancelled);
    EXPECT_EQ(machine.status().reason, "its owner was revoked or blocked");
    EXPECT_EQ(machine.status().releasing.size(), 2U);
}

/// Whether what is stored lets a restart go on after this effect.
bool is_after_intent(const ApplicationEffect& effect, const ApplicationStatus& stored) {
    const auto is = [&effect]<class AnEffect>(AnEffect) { return std::holds_alternative<AnEffect>(effect); };
    if (const auto* all = std::get_if<effect::AskZones>(&effect))
        return stored.state == (all->question == Question::kHold     ? State::kPlanned
                                : all->question == Question::kCommit ? State::kHeld
                                                                     : State::kCommitted);
    const auto* ask = std::get_if<effect::AskZone>(&effect);
    if (is(effect::StartLauncher{}) || (ask != nullptr && ask->question == Question::kLaunch))
        return stored.state == State::kLaunching && !stored.launcher_step.empty() && stored.stop_reason.empty();
    if (is(effect::SendFiles{})) return stored.state == State::kCommitted;
    if (is(effect::Watch{})) return stored.state == State::kRunning || !stored.stop_reason.empty();
    if (is(effect::StopParts{})) return !stored.stop_reason.empty();
    if ((ask != nullptr && ask->question == Question::kEnd) || is(effect::FetchResults{}) || is(effect::FindEnd{}))
        return stored.state == State::kRunning || !stored.stop_reason.empty();
    if (const auto* release = std::get_if<effect::ReleasePart>(&effect))
        return std::ranges::count(stored.releasing, release->part, &ApplicationPart::id) > 0;
    return !is(effect::RecordKept{}) || stored.state == State::kCompleted;
}

/// Random events, most of them such as the phase awaits.
class Walk {
  public:
    explicit Walk(std::uint64_t seed)
        : rng_(seed),
          machine_(State::kAccepted, one_of(std::vector{Launcher::kMpich, Launcher::kMpich, Launcher::kSrunPmi2})) {
        ApplicationRequest& request = machine_.run.app.request;
        if (chance(3)) request.staging.inputs.push_back({.name = "in", .digest = "d", .size = 1});
        if (chance(3)) request.staging.results = {"out"};
        request.profile = chance(2);
    }
    void run(std::set<std::pair<State, State>>& entered) {
        for (int i = 0; i < 300; ++i) {
            machine_.now.steady += Duration{static_cast<std::int64_t>(rng_.below(3'000'000))};
            machine_.store_fails = chance(is_hostile_ ? 3 : 8);
            if (chance(150)) machine_.status().cancel_requested = true;
            const State before = machine_.state();
            const auto effects = machine_.apply(chance(3) ? any_event() : expected_event());
            follow(before, effects);
        }
        machine_.store_fails = is_hostile_ = false;
        for (int i = 0; i < 3'000 && !is_final(machine_.state()); ++i) {
            machine_.now.steady += 1s;
            const State before = machine_.state();
            follow(before, machine_.apply(chance(4) ? event::Advance{} : expected_event()));
        }
        EXPECT_TRUE(is_final(machine_.state())) << "it never ends, in phase " << machine_.run.phase.index();
        for (int i = 0; i < 300 && !machine_.status().releasing.empty(); ++i)
            follow(machine_.state(), machine_.apply(release_event()));
        EXPECT_TRUE(machine_.status().releasing.empty()) << "a part is never released";
        entered.merge(machine_.entered);
    }

    /// Adds the steps that any event would take in its states, of each phase at most so many.
    void run(MachineTable& table, std::map<std::size_t, int>& left) {
        for (int i = 0; i < 300 && !is_final(machine_.state()); ++i) {
            machine_.now.steady += Duration{static_cast<std::int64_t>(rng_.below(3'000'000))};
            machine_.store_fails = chance(4);
            machine_.apply(chance(3) ? any_event() : expected_event());
            for (int n = 0; n < 30 && left[machine_.run.phase.index()] > 0; ++n) take_aside(table);
            --left[machine_.run.phase.index()];
        }
    }

  private:
    /// A step that is not kept, under circumstances that any phase may meet.
    void take_aside(MachineTable& table) {
        const Machine before = machine_;
        machine_.now.is_blocked = chance(4);
        machine_.status().cancel_requested |= chance(4);
        if (chance(4)) machine_.now.steady += 2 * machine_.config.launch_window;
        if (chance(2)) machine_.status().releasing.push_back({.id = part(999), .zone = "b"});
        if (chance(2)) machine_.run.releases.missing.insert(part(999));
        if (chance(4)) machine_.run.was_denied = true;
        if (chance(2)) machine_.run.denials = 4;
        if (chance(4) && machine_.state() >= State::kLaunching) machine_.run.must_stop = "it must stop";
        for (ApplicationPart& one : machine_.status().parts)
            if (machine_.state() >= State::kLaunching && chance(3)) one.status.state = PartState::kCompleted;
        const bool may_be_stopped = machine_.is_in<phase::Watching>() || machine_.is_in<phase::CollectingEnd>() ||
                                    machine_.is_in<phase::FetchingResults>() || machine_.is_in<phase::Concluding>();
        if (chance(4) && may_be_stopped) machine_.status().stop_reason = "it must stop";
        ApplicationInput event = chance(2) ? expected_event() : any_event();
        if (chance(12)) event = event::StopAsked{"it must stop"};
        if (chance(12)) event = event::LauncherOutlives{"b", "it failed"};
        const AlternativeName phase = name_of(machine_.run.phase);
        const ApplicationStep next = step(machine_.run, event, machine_.now, machine_.config);
        std::vector<AlternativeName> effects;
        for (const ApplicationEffect& effect : next.effects) effects.push_back(named(effect));
        table.add(phase, named(event), name_of(next.save ? next.save->phase : next.run.phase), effects);
        machine_ = before;
    }
    /// With the question of those that have one.
    template <class Variant>
    static AlternativeName named(const Variant& variant) {
        AlternativeName name = name_of(variant);
        std::visit(
            [&name](const auto& one) {
                if constexpr (requires { one.question; }) name.name += std::string(": ") + to_string(one.question);
            },
            variant);
        return name;
    }
    bool chance(std::uint64_t in) { return rng_.below(in) == 0; }
    template <class T>
    T one_of(const std::vector<T>& values) {
        return values[rng_.below(values.size())];
    }
    std::vector<std::uint64_t> numbers() {
        std::vector<std::uint64_t> numbers;
        for (std::uint64_t number = 1; number <= machine_.last_id; ++number)
            if (find_part(machine_.status(), part(number)) != nullptr) numbers.push_back(number);
        return numbers;
    }
    ApplicationInput plan(std::uint64_t number = 0) {
        const bool is_queued = chance(3);
        const std::vector<ZoneName> zones = is_queued || chance(2) ? std::vector<ZoneName>(4, ZoneName("b"))
                                                                   : std::vector<ZoneName>{"a", "a", "b", "b"};
        event::PlanMade made =
            machine_.plan(zones, !is_queued && chance(3) ? std::optional<Duration>(4s) : std::nullopt);
        made.choice.plan.queued = is_queued;
        made.plan = number;
        return made;
    }
    ApplicationInput answer(Question question, PartState good_state) {
        const std::vector<std::uint64_t> known = numbers();
        if (known.empty()) return event::Advance{};
        const std::uint64_t number = one_of(known);
        Result<PartStatus> words = machine_.good(number, chance(12) ? PartState::kExpired : good_state);
        words->expires_in = 60s;
        const ApplicationPart& asked = *find_part(machine_.status(), part(number));
        if (question == Question::kHold && machine_.status().start)
            words->starts_in = machine_.run.start - machine_.now.steady;
        if (asked.queued && asked.status.assignment.empty() && !chance(6)) {
            words->assignment.clear();
            words->queue.emplace();
        }
        if (chance(is_hostile_ ? 2 : 12))
            words = refusal(one_of(std::vector{
                ErrorCode::kDenied, is_hostile_ ? ErrorCode::kDenied : ErrorCode::kTimeout, ErrorCode::kNotFound}));
        return event::PartAnswered{question, part(number), machine_.now.steady, words};
    }
    ApplicationInput launcher() {
        using Proxies = event::LauncherSeen::Proxies;
        event::LauncherSeen seen{
            .runs = !chance(6),
            .proxies = one_of(std::vector{Proxies::kAwaited, Proxies::kAwaited, Proxies::kConnected}),
            .end = "it ended"};
        if (chance(2)) seen.asked.emplace();
        return seen;
    }
    ApplicationInput end_answer() {
        const auto& collecting = std::get<phase::CollectingEnd>(machine_.run.phase);
        if (collecting.settled.contains(collecting.asked))
            return event::ProfileAnswered{
                collecting.asked,
                ApplicationModel{"a.out", chance(2), *TaskGraph::make(std::vector<double>(4, 1.0), {}), {}}};
        Result<PartStatus> words = refusal(ErrorCode::kTimeout);
        if (!chance(3))
            words = PartStatus{.id = collecting.asked,
                               .state = one_of(std::vector{PartState::kRunning, PartState::kCompleted}),
                               .has_profile = chance(2)};
        return event::PartAnswered{Question::kEnd, collecting.asked, {}, words};
    }
    ApplicationInput end() {
        std::vector<State> states = {State::kFailed, State::kCancelled};
        if (machine_.state() == State::kRunning) states.push_back(State::kCompleted);
        const auto& concluding = std::get<phase::Concluding>(machine_.run.phase);
        if (concluding.found)
            return event::ProfileStored{chance(2) ? std::optional(ProfileId{make_id128(9, 0, 0)}) : std::nullopt};
        return event::EndFound{{.state = one_of(states), .reason = "it ended", .parts = machine_.status().parts}};
    }
    ApplicationInput results() {
        event::ResultsFetched fetched;
        if (chance(2)) fetched.results = StagedResults{.complete = true};
        for (const std::uint64_t number : numbers())
            if (fetched.results && chance(2)) fetched.complete.insert(part(number));
        return fetched;
    }
    ApplicationInput release_event() {
        const std::set<PartId>& missing = machine_.run.releases.missing;
        if (missing.empty()) return event::ReleaseDue{chance(2)};
        const PartId id = one_of(std::vector<PartId>(missing.begin(), missing.end()));
        if (chance(3)) return event::ReleaseAnswered{id, refusal(ErrorCode::kTimeout)};
        released_.insert(id);
        return event::ReleaseAnswered{id, unknown_};
    }
    ApplicationInput expected_event() {
        if (machine_.is_in<phase::Waiting>()) return chance(4) ? event::PlanBegun{1} : plan();
        if (machine_.is_in<phase::Planning>()) return plan(1);
        if (machine_.is_in<phase::Holding>()) return answer(Question::kHold, PartState::kHeld);
        if (machine_.is_in<phase::Committing>()) return answer(Question::kCommit, PartState::kCommitted);
        if (machine_.is_in<phase::AskingTurn>()) return answer(Question::kTurn, PartState::kCommitted);
        if (machine_.is_in<phase::CheckingReady>()) return answer(Question::kReady, PartState::kCommitted);
        if (machine_.is_in<phase::LaunchingParts>()) return answer(Question::kLaunch, PartState::kRunning);
        if (machine_.is_in<phase::AskingElsewhere>()) return chance(2) ? plan() : event::NoneElsewhere{};
        if (machine_.is_in<phase::AwaitingStart>() && chance(3)) return plan();
        if (machine_.is_in<phase::AwaitingTurn>() || machine_.is_in<phase::AwaitingStart>())
            return event::TimerFired{machine_.run.timers};
        if (machine_.is_in<phase::SendingFiles>())
            return is_hostile_ ? event::FilesSent{ZoneFailure{"b", "too large"}, true} : event::FilesSent{};
        if (machine_.is_in<phase::AwaitingLauncher>() || machine_.is_in<phase::AwaitingProxies>()) return launcher();
        if (machine_.is_in<phase::GivingUpLaunch>()) return chance(2) ? launcher() : event::LauncherRemoved{};
        if (machine_.is_in<phase::Started>() && chance(2)) return event::Advance{};
        if (machine_.is_in<phase::Started>() || machine_.is_in<phase::Watching>())
            return event::Watched{!chance(4), chance(2)};
        if (machine_.is_in<phase::CollectingEnd>()) return end_answer();
        if (machine_.is_in<phase::FetchingResults>()) return results();
        if (machine_.is_in<phase::Concluding>()) return end();
        return event::Advance{};
    }
    ApplicationInput any_event() {
        switch (rng_.below(21)) {
            case 0:
                return plan();
            case 1:
                if (chance(4)) return event::OffersWeighed{chance(2)};
                if (chance(4)) return event::MayOvertake{chance(2)};
                if (chance(4)) return event::ZonesAnswered{"capacity", {{"b", true, "4 of 4 processors are free"}}};
                if (chance(12)) return event::Cancelled{"root"};
                return event::NoPlan{"no zone is free", chance(5)};
            case 2:
                return event::NoneElsewhere{1s};
            case 3:
            case 4: {
                const Question question = one_of(std::vector{Question::kHold, Question::kCommit, Question::kTurn,
                                                             Question::kReady, Question::kLaunch});
                return answer(question,
                              one_of(std::vector{PartState::kHeld, PartState::kCommitted, PartState::kRunning}));
            }
            case 5:
                return event::PartAnswered{Question::kHold, part(1'000), {}, unknown_};
            case 6:
                return event::TimerFired{rng_.below(machine_.run.timers + 2)};
            case 7:
                return event::FilesSent{ZoneFailure{"b", "no room"}, chance(2)};
            case 8:
                return chance(4) ? ApplicationInput(event::LauncherFailed{"it does not start"}) : launcher();
            case 9:
                return event::LauncherRemoved{};
            case 10:
                return event::LaunchFailed{{"b", "it failed"}};
            case 11:
                return chance(6) ? ApplicationInput(event::StopAsked{"it must stop"}) : event::OwnerChecked{};
            case 12:
                return chance(4) ? ApplicationInput(event::Restarted{}) : event::OwnerChecked{};
            case 13: {
                const std::vector<std::uint64_t> known = numbers();
                if (known.empty()) return event::Watched{true};
                const std::uint64_t number = one_of(known);
                const Question question = one_of(std::vector{Question::kState, Question::kEnd});
                if (chance(6)) return event::PartAnswered{question, part(number), {}, refusal(ErrorCode::kConflict)};
                return event::PartAnswered{
                    question,
                    part(number),
                    {},
                    machine_.good(number,
                                  one_of(std::vector{PartState::kRunning, PartState::kFailed, PartState::kCompleted}))};
            }
            case 14:
                if (chance(3)) return results();
                if (chance(3)) return event::EndFound{{.parts = machine_.status().parts}};
                if (chance(3)) return event::ProfileAnswered{part(1), refusal(ErrorCode::kNotFound)};
                if (chance(2)) return event::ProfileStored{};
                return event::OutputMeasured{rng_.below(1'000), 1s};
            case 15:
                return chance(6) ? ApplicationInput(event::LauncherOutlives{"b", "it failed"}) : event::Watched{true};
            case 16:
            case 17:
            case 18:
                return release_event();
            default:
                return event::Advance{};
        }
    }

    /// What the last event must not have done.
    void follow(State before, const std::vector<ApplicationEffect>& effects) {
        const ApplicationStatus& now = machine_.status();
        if (before == State::kPlanned && now.state == State::kHeld)
            for (const ApplicationPart& fresh : now.parts)
                if (fresh.replaces) asked_.erase(*fresh.replaces);
        for (const ApplicationEffect& effect : effects) {
            EXPECT_TRUE(is_after_intent(effect, now)) << "effect " << effect.index() << " without a stored intent";
            if (!std::holds_alternative<effect::AskZones>(effect)) continue;
            for (const ApplicationPart& one : now.parts) asked_.insert(one.id);
        }
        for (const PartId& id : asked_) EXPECT_TRUE(is_known(id) || released_.contains(id)) << "a part was forgotten";
        EXPECT_TRUE(check_history(now).has_value());
        EXPECT_EQ(is_final(now.state), machine_.is_in<phase::Over>());
    }
    bool is_known(const PartId& id) {
        const auto is_it = [&id](const ApplicationPart& one) { return one.id == id; };
        return std::ranges::any_of(machine_.status().parts, is_it) ||
               std::ranges::any_of(machine_.status().releasing, is_it);
    }
    const Result<PartStatus> unknown_ = refusal(ErrorCode::kNotFound);
    Rng rng_;
    bool is_hostile_ = chance(2);  // zones deny most of what they are asked
    Machine machine_;
    std::set<PartId> asked_;     // for a hold, and not replaced since
    std::set<PartId> released_;  // as their zones answered
};

TEST(ApplicationStepProperty, NoPartIsForgottenAndIntentIsStoredFirst) {
    std::set<std::pair<State, State>> entered;
    for (std::uint64_t seed = 0; seed < 600 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        Walk(seed).run(entered);
    }
    for (const auto& row : kApplicationTransitions)
        EXPECT_TRUE(entered.contains({row.from, row.to})) << to_string(row.from) << " -> " << to_string(row.to);
}

#ifndef __SANITIZE_ADDRESS__  // takes minutes with it; property_application runs it without
TEST(ApplicationTable, IsInTheReadme) {
    MachineTable table;
    std::map<std::size_t, int> left;
    for (std::size_t phase = 0; phase < std::variant_size_v<Phase>; ++phase) left[phase] = 800;
    for (std::uint64_t seed = 0; seed < 3'000; ++seed) Walk(seed).run(table, left);
    EXPECT_EQ(table.count_phases(), std::variant_size_v<Phase>);
    EXPECT_EQ(table.count_events(), std::variant_size_v<ApplicationInput>);
    EXPECT_EQ(table.count_effects(), std::variant_size_v<ApplicationEffect>);
    expect_in_readme(table, "services/zone_scheduler/home");
}
#endif

}  // namespace
}  // namespace zbs::test
