#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "services/common/messages/states.hpp"
#include "services/zone_scheduler/home/application.hpp"

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
        status() = std::move(next.save->status);
        run.phase = std::move(next.save->phase);
        run.series = std::move(next.save->series);
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
    EXPECT_TRUE(has<effect::LaunchPart>(machine.apply(seen)));
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
    EXPECT_TRUE(has<effect::LaunchPart>(machine.answer(Question::kLaunch, 2, refusal(ErrorCode::kTimeout))));
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

TEST(ApplicationStepTest, ALaunchThatFailsAfterRanksMayHaveBegunStopsAll) {
    Machine machine = launched();
    machine.apply(event::LaunchFailed{{"b", "it failed"}});
    const auto effects =
        machine.apply(event::LauncherSeen{.runs = true, .proxies = event::LauncherSeen::Proxies::kConnected});
    EXPECT_EQ(machine.status().stop_reason, "zone b: it did not start its part: it failed");
    EXPECT_TRUE(has<effect::StopParts>(effects));
    EXPECT_TRUE(machine.is_in<phase::Watching>());
}

TEST(ApplicationStepTest, AnotherLauncherHasRanksAtOnceSoItsLaunchFails) {
    Machine machine = Machine::with_parts(State::kLaunching, Launcher::kSrunPmi2);
    EXPECT_TRUE(has<effect::LaunchPart>(machine.apply(event::Advance{})));
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
    EXPECT_TRUE(has<effect::PollPart>(machine.apply(event::Watched{true})));
    EXPECT_FALSE(has<effect::PollPart>(machine.apply(event::Watched{true}))) << "both answers are outstanding";
    PartStatus failed = machine.good(2, PartState::kFailed);
    failed.reason = "its machine is away";
    EXPECT_TRUE(has<effect::AwaitLauncher>(machine.apply(event::PartPolled{part(2), failed})));
    EXPECT_EQ(machine.status().stop_reason, "");
    EXPECT_TRUE(has<effect::StopParts>(machine.apply(event::LauncherOutlives{"b", failed.reason})));
    EXPECT_EQ(machine.status().stop_reason, "zone b lost its part: its machine is away");
}

TEST(ApplicationStepTest, APartThatItsZoneDoesNotKnowHasFailedAndOneThatIsSilentHasNot) {
    Machine machine = Machine::with_parts(State::kRunning);
    machine.apply(event::Watched{true});
    machine.apply(event::PartPolled{part(1), refusal(ErrorCode::kTimeout)});
    EXPECT_EQ(machine.status().parts[0].status.state, PartState::kHeld);
    machine.apply(event::PartPolled{part(2), refusal(ErrorCode::kNotFound)});
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

TEST(ApplicationStepTest, AnEndThatCannotBeStoredIsCollectedAgain) {
    Machine machine = Machine::with_parts(State::kRunning);
    EXPECT_TRUE(has<effect::CollectEnd>(machine.apply(event::Watched{false})));
    const Time ended = std::get<phase::Ending>(machine.run.phase).ended;
    machine.store_fails = true;
    machine.apply(event::Ended{machine.status(), State::kCompleted, {}});
    EXPECT_TRUE(machine.is_in<phase::Unfinished>());
    machine.store_fails = false;
    machine.now.wall += 5s;
    EXPECT_TRUE(has<effect::Watch>(machine.apply(event::Advance{})));
    EXPECT_TRUE(has<effect::CollectEnd>(machine.apply(event::Watched{false})));
    EXPECT_EQ(std::get<phase::Ending>(machine.run.phase).ended, ended);
    EXPECT_TRUE(has<effect::RecordKept>(machine.apply(event::Ended{machine.status(), State::kCompleted, {}})));
    EXPECT_EQ(machine.state(), State::kCompleted);
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
    if (const auto* ask = std::get_if<effect::AskZones>(&effect))
        return stored.state == (ask->question == Question::kHold     ? State::kPlanned
                                : ask->question == Question::kCommit ? State::kHeld
                                                                     : State::kCommitted);
    if (is(effect::StartLauncher{}) || is(effect::LaunchPart{}))
        return stored.state == State::kLaunching && !stored.launcher_step.empty() && stored.stop_reason.empty();
    if (is(effect::SendFiles{})) return stored.state == State::kCommitted;
    if (is(effect::Watch{})) return stored.state == State::kRunning || !stored.stop_reason.empty();
    if (is(effect::StopParts{})) return !stored.stop_reason.empty();
    return !is(effect::RecordKept{}) || stored.state == State::kCompleted;
}

/// Random events, most of them such as the phase awaits.
class Walk {
  public:
    explicit Walk(std::uint64_t seed)
        : rng_(seed),
          machine_(State::kAccepted, one_of(std::vector{Launcher::kMpich, Launcher::kMpich, Launcher::kSrunPmi2})) {
        if (chance(3)) machine_.run.app.request.staging.inputs.push_back({.name = "in", .digest = "d", .size = 1});
    }
    void run(std::set<std::pair<State, State>>& entered) {
        for (int i = 0; i < 300; ++i) {
            machine_.now.steady += Duration{static_cast<std::int64_t>(rng_.below(3'000'000))};
            machine_.store_fails = chance(is_hostile_ ? 3 : 8);
            if (chance(150)) machine_.status().cancel_requested = true;
            const State before = machine_.state();
            const auto effects = machine_.apply(chance(3) ? any_event() : expected_event());
            follow(before, effects);
            if (chance(3)) release_some();
        }
        entered.merge(machine_.entered);
    }

  private:
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
    ApplicationInput end() {
        std::vector<State> states = {State::kFailed, State::kCancelled};
        if (machine_.state() == State::kRunning) states.push_back(State::kCompleted);
        return event::Ended{machine_.status(), one_of(states), "it ended"};
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
        if (machine_.is_in<phase::Started>() || machine_.is_in<phase::Watching>()) return event::Watched{!chance(4)};
        if (machine_.is_in<phase::Ending>()) return end();
        if (machine_.is_in<phase::Unfinished>()) return event::Watched{};
        return event::Advance{};
    }
    ApplicationInput any_event() {
        switch (rng_.below(18)) {
            case 0:
                return plan();
            case 1:
                return event::NoPlan{"no zone is free", chance(5)};
            case 2:
                return event::NoneElsewhere{1s};
            case 3:
            case 4:
                return answer(one_of(std::vector{Question::kHold, Question::kCommit, Question::kTurn, Question::kReady,
                                                 Question::kLaunch}),
                              one_of(std::vector{PartState::kHeld, PartState::kCommitted, PartState::kRunning}));
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
                return event::PartPolled{
                    part(number), machine_.good(number, one_of(std::vector{PartState::kRunning, PartState::kFailed,
                                                                           PartState::kCompleted}))};
            }
            case 14:
                return event::OutputMeasured{rng_.below(1'000), 1s};
            case 15:
                return chance(6) ? ApplicationInput(event::LauncherOutlives{"b", "it failed"}) : event::Watched{true};
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
            EXPECT_TRUE(is_after_intent(effect, now)) << "an effect without a stored intent";
            if (!std::holds_alternative<effect::AskZones>(effect)) continue;
            for (const ApplicationPart& one : now.parts) asked_.insert(one.id);
        }
        for (const PartId& id : asked_) EXPECT_TRUE(is_known(id)) << "a part was forgotten";
        EXPECT_TRUE(check_history(now).has_value());
        EXPECT_EQ(is_final(now.state), machine_.is_in<phase::Over>());
    }
    bool is_known(const PartId& id) {
        const auto is_it = [&id](const ApplicationPart& one) { return one.id == id; };
        return std::ranges::any_of(machine_.status().parts, is_it) ||
               std::ranges::any_of(machine_.status().releasing, is_it);
    }
    /// Zones confirm that some of the parts are released.
    void release_some() {
        if (is_swapping(machine_.run.phase)) return;
        std::erase_if(machine_.status().releasing, [&](const ApplicationPart& one) {
            const bool is_gone = chance(2);
            if (is_gone) asked_.erase(one.id);
            return is_gone;
        });
    }

    const Result<PartStatus> unknown_ = refusal(ErrorCode::kNotFound);
    Rng rng_;
    const bool is_hostile_ = chance(2);  // zones deny most of what they are asked
    Machine machine_;
    std::set<PartId> asked_;  // and not known to be released
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

}  // namespace
}  // namespace zbs::test
