#include "services/zone_scheduler/home/application.hpp"

#include <algorithm>
#include <type_traits>

#include "services/common/messages/states.hpp"
#include "services/common/messages/steps/lost_machine.hpp"
#include "services/zone_scheduler/home/application_end.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"

namespace zbs {
namespace {

constexpr int kMaxDenials = 5;
constexpr int kMaxFailedLaunches = 3;  ///< then the application fails
/// How long a zone is not asked for an earlier start after it has refused one it had offered: doubled each time.
constexpr Duration kFirstBackoff = std::chrono::seconds{1};
constexpr int kMaxBackoffs = 8;
/// The most that starts of zones may lie apart: clocks run at different speeds, and messages take time.
constexpr Duration kClockDrift = std::chrono::seconds{1};
/// How long after its start a reservation may still become ready, of the time that zones keep it for a launch.
constexpr int kSlipShare = 3;
constexpr Duration kCheckStart = std::chrono::seconds{1};
constexpr Duration kCheckAgain = std::chrono::milliseconds{500};
/// How often a zone is asked about its queue: of the time that is left, within bounds that leave most of the launch
/// window.
constexpr int kCheckShare = 10;
constexpr int kWindowShare = 6;
constexpr Duration kAskElsewhere = std::chrono::seconds{10};
constexpr Duration kCheckLauncher = std::chrono::milliseconds{20};
constexpr Duration kLauncherDeadline = std::chrono::seconds{10};
/// Between two calls to a zone that does not answer; doubled each time.
constexpr Duration kLaunchRetry = std::chrono::milliseconds{200};
constexpr Duration kLaunchRetryMax = std::chrono::seconds{2};
constexpr Duration kStopGrace = std::chrono::seconds{1};
/// From the end of the launcher to the answers of the zones.
constexpr Duration kEndWait = std::chrono::seconds{10};
/// The same where output comes home with the parts, from machines with agents.
constexpr Duration kOutputWait = std::chrono::minutes{2};
/// From the end of the last part to that of the launcher, which each proxy notifies over a connection of its own.
constexpr Duration kLauncherGrace = std::chrono::minutes{1};
constexpr Duration kWeighEvery = std::chrono::seconds{2};
constexpr int kWeighShare = 50;  ///< one part in so many of the time is spent on it at most
/// Of a zone that answers, and has lost what it stored.
constexpr const char* kUnknownPart = "it no longer knows the part; was the zone restored from a backup?";
constexpr const char* kWaitsInQueue = "waiting in the queue of its zone";

template <class... Phases>
bool is_one_of(const Phase& phase) {
    return (std::holds_alternative<Phases>(phase) || ...);
}

/// Whether outstanding answers say how it goes on.
bool is_asking(const Phase& phase) {
    return is_one_of<phase::Holding, phase::Committing, phase::AskingTurn, phase::AskingElsewhere, phase::SendingFiles,
                     phase::CheckingReady>(phase);
}

/// Whether the zone will not take this part of this user, however often it is asked: no right, no delegation.
bool is_denial(const Error& error) {
    return error.code == ErrorCode::kDenied || error.code == ErrorCode::kUnauthenticated ||
           error.code == ErrorCode::kInvalidArgument;
}

/// Steady times: the common start, none where it is at once; when the hold was asked for, when the answer came.
struct HoldTimes {
    std::optional<Duration> start;
    Duration asked{}, answered{};
};

/// The fault of the start that the zone promised; empty where it has none. The zone sent the time left until then at
/// some moment between question and answer. A difference larger than that interval means another start than the
/// requested one; a difference that a late answer may explain must not be more than the launch can wait.
std::string start_fault(const PartStatus& held, const HoldTimes& times, Duration launch_can_wait) {
    if (!times.start)
        return held.starts_in == Duration{0} ? "" : "its hold is for a later start, and it was asked for one at once";
    const Duration late = times.asked + held.starts_in - *times.start;
    const Duration early = *times.start - times.answered - held.starts_in;
    const Duration surely = std::max(late, early);
    const auto seconds = [](Duration d) { return std::to_string(to_seconds(d)) + " s"; };
    if (surely > kClockDrift)
        return "its hold is for another start than the common one, " + seconds(surely) +
               (late > early ? " later" : " earlier");
    if (surely + (times.answered - times.asked) > launch_can_wait)
        return "it took " + seconds(times.answered - times.asked) +
               " to hold, so when its part starts is not known well enough";
    return {};
}

/// A peer is attacker-controlled: exactly our ranks, in order, no two on one processor.
bool is_complete(const ApplicationPart& part, const PartStatus& answer) {
    std::set<std::pair<std::string_view, std::int32_t>> places;
    for (const RankPlace& place : answer.assignment) places.emplace(place.machine, place.processor);
    return places.size() == part.ranks.size() &&
           std::equal(part.ranks.begin(), part.ranks.end(), answer.assignment.begin(), answer.assignment.end(),
                      [](TaskIndex rank, const RankPlace& place) { return rank == place.rank; });
}

/// Copies what a zone says of a part that was queued: its place, or the processors that it has got. False where these
/// are not for just its ranks.
bool take_turn(ApplicationStatus& status, ApplicationPart& part, const PartStatus& answer, Time now) {
    part.status.queue = answer.queue;
    status.queue_start.reset();
    if (answer.queue && answer.queue->start_in) status.queue_start = now + *answer.queue->start_in;
    if (answer.queue) return true;
    if (!is_complete(part, answer)) return false;
    part.status.assignment = answer.assignment;
    part.status.can_profile = answer.can_profile;
    return true;
}

std::string words_of(const QueueOutlook& outlook) {
    std::string text = "waits in its queue";
    if (outlook.place) text += " at place " + std::to_string(*outlook.place);
    if (outlook.waits_for == "reservation")
        text += "; the processors that are free are reserved from a time on before it could end";
    else if (outlook.waits_for == "right")
        text += "; its user may not have as many processors now";
    else if (outlook.waits_for == "turn")
        text += "; others are before it, or too few processors are free";
    return text;
}

std::string state_and_reason(const PartStatus& part) {
    return to_string(part.state) + (part.reason.empty() ? std::string() : ": " + part.reason);
}

bool have_ended(const ApplicationStatus& status) {
    return std::ranges::all_of(status.parts, [](const ApplicationPart& part) { return is_final(part.status.state); });
}

void release_parts(ApplicationStatus& status) {
    status.releasing.insert(status.releasing.end(), status.parts.begin(), status.parts.end());
    status.parts.clear();
}

/// The parts of a plan. Each takes the place of the one that `reserved` has in the same zone, if any.
std::vector<ApplicationPart> parts_of(const ApplicationPlan& plan, const std::vector<PartId>& ids,
                                      const std::vector<ApplicationPart>& reserved) {
    std::map<ZoneName, ApplicationPart> by_zone;
    for (std::size_t rank = 0; rank < plan.zone_of_rank.size(); ++rank)
        by_zone[plan.zone_of_rank[rank]].ranks.push_back(static_cast<TaskIndex>(rank));
    ZBS_EXPECTS(by_zone.size() == ids.size());
    std::vector<ApplicationPart> parts;
    for (auto& [zone, part] : by_zone) {
        part.zone = zone;
        part.id = part.status.id = ids[parts.size()];
        part.queued = plan.queued;
        const auto old = std::ranges::find(reserved, zone, &ApplicationPart::zone);
        if (old != reserved.end()) part.replaces = old->id;
        parts.push_back(std::move(part));
    }
    return parts;
}

/// One event on its way through the machine.
class Stepper {
  public:
    Stepper(ApplicationRun run, const Moment& now, const ZoneConfig& config)
        : out_{std::move(run)}, run_(out_.run), status_(run_.app.status), now_(now), config_(config) {}
    Stepper(const Stepper&) = delete;
    Stepper& operator=(const Stepper&) = delete;
    ApplicationStep result() { return std::move(out_); }

    void on(const event::Advance&);
    void on(const event::NoPlan& none);
    void on(const event::PlanBegun& begun);
    void on(const event::PlanMade& made);
    void on(const event::NoneElsewhere& none);
    void on(const event::PartAnswered& came);
    void on(const event::TimerFired& fired);
    void on(const event::FilesSent& sent);
    void on(const event::LauncherFailed& failed);
    void on(const event::LauncherSeen& seen);
    void on(const event::LauncherRemoved&);
    void on(const event::LaunchFailed& failed);
    void on(const event::StopAsked& asked) { stop(asked.reason); }
    void on(const event::PartPolled& polled);
    void on(const event::Watched& launcher);
    void on(const event::OutputMeasured& output);
    void on(const event::LauncherOutlives& part);
    void on(const event::Restarted&);
    void on(const event::OwnerChecked&) { static_cast<void>(cancel_if_blocked()); }
    void on(const event::Ended& ended);

  private:
    bool cancel_if_blocked();
    void begin();
    void begin_committed(const QueueTurn& turn);
    void begin_launch();
    void begin_to_run();
    void hold_answered(phase::Holding& holding, ApplicationPart& part, const event::PartAnswered& came);
    void all_held(phase::Planned plan, const std::optional<ZoneFailure>& failure);
    void commit_answered(phase::Committing& committing, ApplicationPart& part, const event::PartAnswered& came);
    void turn_answered(QueueTurn turn, ApplicationPart& part, const Result<PartStatus>& answer);
    void ready_answered(phase::CheckingReady& checking, ApplicationPart& part, const Result<PartStatus>& answer);
    void launch_answered(ApplicationPart& part, const Result<PartStatus>& answer);
    void await_turn(const QueueTurn& turn);
    void ask_turn(const QueueTurn& turn);
    void await_start(Duration delay, bool may_overtake = false);
    void release_held(ApplicationStatus& changed);
    void wait_on(const ApplicationStatus& place);
    void plan_again(const ZoneFailure& failure);
    void launch_parts(const std::vector<std::pair<std::string, std::string>>& options);
    void launch_failed(const ZoneFailure& failure);
    void launcher_ended(const event::LauncherSeen& seen);
    void giving_up(const event::LauncherSeen& seen);
    void stop(const std::string& reason);
    void stop_parts(const ApplicationStatus& status);
    void poll_parts();
    void end_launcher();
    std::string why_it_awaits_start() const;
    bool is_staged() const;

    template <class AnEffect>
    void add(AnEffect effect) {
        out_.effects.emplace_back(std::move(effect));
    }
    void record(const ApplicationPart& part, const char* what, bool ok, const std::string& answer) {
        record_answer(run_, now_.wall, part.zone, what, ok, answer);
    }
    void judge(const ApplicationPart& part, const Result<PartStatus>& answer) {
        if (auto penalty = assess(run_, part.zone, part.id, answer, now_)) add(*std::move(penalty));
    }
    void promise(const ApplicationPart& part, Duration asked, const PartStatus& answer) {
        record_promise(run_, part.id, asked, answer, now_);
    }
    std::set<PartId> all_parts() const {
        ZBS_EXPECTS(!status_.parts.empty());  // entering `planned` stores them in the same write
        std::set<PartId> ids;
        for (const ApplicationPart& part : status_.parts) ids.insert(part.id);
        return ids;
    }
    std::uint64_t set_timer(Duration after, bool is_spread) {
        add(effect::SetTimer{++run_.timers, after, is_spread});
        return run_.timers;
    }
    void save(ApplicationStatus changed) { out_.save = {std::move(changed), run_.phase, run_.series}; }
    void enter(ApplicationStatus changed, ApplicationState state, const std::string& reason, Phase phase) {
        ZBS_EXPECTS(allowed(status_.state, state));
        changed.state = state;
        changed.reason = reason;
        changed.history.push_back({state, now_.wall});
        if (changed.history.size() > kMaxHistory) changed.history.erase(changed.history.begin() + 1);
        out_.save = {std::move(changed), std::move(phase), run_.series};
    }

    ApplicationStep out_;
    ApplicationRun& run_;
    ApplicationStatus& status_;
    const Moment& now_;
    const ZoneConfig& config_;
};

/// The next step by the stored state.
void Stepper::on(const event::Advance&) {
    // What is to be replaced stays until the new parts are held.
    if (!status_.releasing.empty() && !is_swapping(run_.phase)) add(effect::Release{.is_new = false});
    if (is_final(status_.state) || is_asking(run_.phase)) return;
    if (cancel_if_blocked()) return add(effect::Advance{});
    if (status_.cancel_requested && status_.state < ApplicationState::kLaunching) {
        ApplicationStatus changed = status_;
        release_parts(changed);
        enter(std::move(changed), ApplicationState::kCancelled, why_cancelled(run_.app, now_.is_blocked),
              phase::Over{});
        return add(effect::Release{});
    }
    // Stopping was under way before a restart or a fault of the store: nothing more is started, all requests are sent
    // again.
    if (!status_.stop_reason.empty() && !is_one_of<phase::Watching, phase::Ending, phase::Unfinished>(run_.phase)) {
        run_.phase = phase::Watching{};
        stop_parts(status_);
        return add(effect::Watch{});
    }
    if (!run_.must_stop.empty() && status_.stop_reason.empty()) return stop(run_.must_stop);
    begin();
}

/// Who was revoked or blocked has nothing running or waiting any more.
bool Stepper::cancel_if_blocked() {
    if (!now_.is_blocked || status_.cancel_requested || is_final(status_.state)) return false;
    ApplicationStatus changed = status_;
    changed.cancel_requested = true;
    save(std::move(changed));
    return true;
}

/// What was held under a plan is unknown: it is given back and planned afresh.
void Stepper::on(const event::Restarted&) {
    if (is_one_of<phase::Planned>(run_.phase)) plan_again({{}, "the home zone restarted"});
}

/// Phases that wait for an answer or a timer go on with that.
void Stepper::begin() {
    if (is_one_of<phase::Waiting>(run_.phase)) return add(effect::AwaitPlanning{});
    if (auto* planned = std::get_if<phase::Planned>(&run_.phase)) {
        run_.phase = phase::Holding{std::move(*planned), {all_parts(), {}}};
        return add(effect::AskZones{Question::kHold});
    }
    if (is_one_of<phase::Held>(run_.phase)) {
        run_.phase = phase::Committing{{all_parts(), {}}};
        return add(effect::AskZones{Question::kCommit});
    }
    if (const auto* committed = std::get_if<phase::Committed>(&run_.phase))
        return begin_committed(QueueTurn(committed->turn));
    if (is_one_of<phase::Launching>(run_.phase)) {
        if (is_srun(run_.app.request.launcher)) return launch_parts({});
        run_.phase = phase::AwaitingLauncher{now_.steady + kLauncherDeadline};
        add(effect::StartLauncher{});
        return add(effect::CheckLauncher{});
    }
    if (is_one_of<phase::GivingUpLaunch>(run_.phase)) return add(effect::CheckLauncher{});
    if (is_one_of<phase::Started>(run_.phase)) return begin_to_run();
    if (is_one_of<phase::Unfinished>(run_.phase)) return add(effect::Watch{});
}

void Stepper::begin_committed(const QueueTurn& turn) {
    if (waits_in_queue(status_)) return await_turn(turn);
    if (!is_staged()) {
        run_.phase = phase::SendingFiles{};
        return add(effect::SendFiles{});
    }
    if (status_.start) return await_start(std::min(run_.start - now_.steady, kCheckStart));
    begin_launch();
}

void Stepper::on(const event::PlanBegun& begun) {
    const auto* waiting = std::get_if<phase::Waiting>(&run_.phase);
    if (waiting == nullptr) return;
    run_.phase = phase::Planning{begun.plan, waiting->may_overtake};
    ApplicationStatus changed = status_;
    changed.reason = "its plan is being made";
    save(std::move(changed));
}

void Stepper::on(const event::NoPlan& none) {
    if (const auto* planning = std::get_if<phase::Planning>(&run_.phase))
        run_.phase = phase::Waiting{planning->may_overtake};
    std::string reason = none.reason;
    if (auto* waiting = std::get_if<phase::Waiting>(&run_.phase)) {
        waiting->may_overtake = false;
        if (none.is_final) {
            enter(status_, ApplicationState::kRejected, reason, phase::Over{});
            return add(effect::Release{});
        }
        run_.series = {};  // a zone that refused may have processors by then
    } else if (auto* awaiting = std::get_if<phase::AwaitingStart>(&run_.phase)) {
        awaiting->may_overtake = false;
        reason = why_it_awaits_start();
    }
    if (reason == status_.reason || !is_one_of<phase::Waiting, phase::AwaitingStart>(run_.phase)) return;
    ApplicationStatus changed = status_;
    changed.reason = reason;
    save(std::move(changed));
}

void Stepper::on(const event::PlanMade& made) {
    phase::Planned planned{made.model};
    const auto* planning = std::get_if<phase::Planning>(&run_.phase);
    if (planning != nullptr && planning->plan != made.plan) return;
    if (planning != nullptr) run_.phase = phase::Waiting{planning->may_overtake};
    if (is_one_of<phase::AwaitingStart>(run_.phase)) {
        planned.swap = Swap{};
    } else if (const auto* asking = std::get_if<phase::AskingElsewhere>(&run_.phase)) {
        planned.swap = Swap{status_};
        run_.phase = phase::Committed{QueueTurn(asking->turn)};
    } else if (!is_one_of<phase::Waiting>(run_.phase)) {
        return;
    }
    // At its place in a queue it keeps what it was promised.
    const bool keeps_place = planned.swap && planned.swap->place;
    planned.by_cycle = !keeps_place;
    if (!keeps_place) run_.obligations.clear();
    ApplicationStatus changed = status_;
    changed.parts = parts_of(made.choice.plan, made.ids, status_.parts);
    changed.releasing.insert(changed.releasing.end(), status_.parts.begin(), status_.parts.end());
    changed.plan = made.choice.plan;
    changed.plan->round = run_.series.round;
    changed.start.reset();
    if (made.choice.start_in) {
        run_.start = now_.steady + *made.choice.start_in;
        changed.start = now_.wall + *made.choice.start_in;
    }
    enter(std::move(changed), ApplicationState::kPlanned, {}, std::move(planned));
    add(effect::Advance{});
}

void Stepper::on(const event::NoneElsewhere& none) {
    const auto* asking = std::get_if<phase::AskingElsewhere>(&run_.phase);
    if (asking == nullptr) return;
    QueueTurn turn = asking->turn;
    turn.elsewhere_at += none.rest;
    if (!status_.cancel_requested) return ask_turn(turn);
    run_.phase = phase::Committed{turn};
    add(effect::Advance{});
}

void Stepper::on(const event::PartAnswered& came) {
    ApplicationPart* part = find_part(status_, came.part);
    if (part == nullptr) return;
    auto* holding = std::get_if<phase::Holding>(&run_.phase);
    auto* committing = std::get_if<phase::Committing>(&run_.phase);
    auto* asking = std::get_if<phase::AskingTurn>(&run_.phase);
    auto* checking = std::get_if<phase::CheckingReady>(&run_.phase);
    if (holding != nullptr && came.question == Question::kHold) hold_answered(*holding, *part, came);
    if (committing != nullptr && came.question == Question::kCommit) commit_answered(*committing, *part, came);
    if (asking != nullptr && came.question == Question::kTurn)
        turn_answered(QueueTurn(asking->turn), *part, came.answer);
    if (checking != nullptr && came.question == Question::kReady) ready_answered(*checking, *part, came.answer);
    if (came.question == Question::kLaunch) launch_answered(*part, came.answer);
}

void Stepper::hold_answered(phase::Holding& holding, ApplicationPart& held, const event::PartAnswered& came) {
    if (holding.answers.missing.erase(held.id) == 0) return;
    const Result<PartStatus>& answer = came.answer;
    const bool waits = answer && held.queued && answer->queue;
    const bool fits = answer && answer->id == held.id && answer->state == PartState::kHeld &&
                      (waits ? answer->assignment.empty() : is_complete(held, *answer));
    const auto start = status_.start ? std::optional(run_.start) : std::nullopt;
    const std::string off =
        fits ? start_fault(*answer, {start, came.asked, now_.steady}, config_.launch_window / kSlipShare)
             : "its hold does not fit the request";
    const bool good = fits && off.empty();
    const std::string words = !answer         ? answer.error().message
                              : good && waits ? "takes it into its queue"
                              : good          ? "holds " + std::to_string(held.ranks.size()) + " processors"
                                              : off;
    record(held, "hold", good, words);
    if (!answer && answer.error().code == ErrorCode::kRejected)
        holding.plan.refused.insert(held.id);
    else
        holding.plan.refused.erase(held.id);
    if (good) {
        held.status = *answer;
        promise(held, came.asked, *answer);
    } else {
        holding.answers.failure = {held.zone, words};
        const bool is_denied = !answer && is_denial(answer.error());
        if (is_denied || (!answer && is_passing(answer.error()))) add(effect::RecheckPeer{held.zone});
        if (holding.plan.swap) {
            ApplicationRun::Backoff& backoff = run_.backoffs[held.zone];
            backoff.times = std::min(backoff.times + 1, kMaxBackoffs);
            backoff.until = now_.steady + kFirstBackoff * (1 << backoff.times);
        }
        run_.was_denied |= is_denied;
    }
    if (!holding.answers.missing.empty()) return;
    const std::optional<ZoneFailure> failure = holding.answers.failure;
    all_held(phase::Planned(std::move(holding.plan)), failure);
}

/// All zones have answered. Where the outcome cannot be stored now they are asked again.
void Stepper::all_held(phase::Planned plan, const std::optional<ZoneFailure>& failure) {
    plan.by_cycle = false;
    if (failure && plan.swap && plan.swap->place && !status_.cancel_requested) {
        const ApplicationStatus place = *plan.swap->place;
        run_.phase = std::move(plan);
        return wait_on(place);
    }
    plan.swap.reset();
    run_.phase = std::move(plan);
    if (status_.cancel_requested) return add(effect::Advance{});
    if (failure) return plan_again(*failure);
    ApplicationStatus changed = status_;
    std::erase_if(changed.releasing, [&](const ApplicationPart& old) {  // with the hold of the new part
        return std::ranges::any_of(changed.parts, [&](const auto& fresh) { return fresh.replaces == old.id; });
    });
    enter(std::move(changed), ApplicationState::kHeld, {}, phase::Held{});
    add(effect::Release{});  // of zones that are needed no more
    add(effect::Advance{});
}

/// The zone that could have started it refuses: it has not left its place, and waits on.
void Stepper::wait_on(const ApplicationStatus& place) {
    ApplicationStatus changed = status_;
    std::erase_if(changed.releasing, [&place](const ApplicationPart& part) {
        return std::ranges::any_of(place.parts, [&part](const auto& kept) { return kept.id == part.id; });
    });
    release_held(changed);
    changed.parts = place.parts;
    changed.plan = place.plan;
    changed.start = place.start;
    run_.was_denied = false;
    enter(std::move(changed), ApplicationState::kCommitted, kWaitsInQueue, phase::Committed{});
    add(effect::Release{});
    add(effect::Advance{});
}

/// Not of zones that have refused: each call is on record there.
void Stepper::release_held(ApplicationStatus& changed) {
    release_parts(changed);
    if (const auto* planned = std::get_if<phase::Planned>(&run_.phase))
        std::erase_if(changed.releasing,
                      [&](const ApplicationPart& part) { return planned->refused.contains(part.id); });
}

void Stepper::plan_again(const ZoneFailure& failure) {
    ApplicationStatus changed = status_;
    release_held(changed);
    changed.start.reset();
    const std::string what = (failure.zone.empty() ? "" : "zone " + failure.zone + ": ") + failure.reason;
    if (std::exchange(run_.was_denied, false)) ++run_.denials;
    if (run_.denials >= kMaxDenials && allowed(status_.state, ApplicationState::kRejected)) {
        enter(std::move(changed), ApplicationState::kRejected,
              "no plan held in " + std::to_string(run_.series.round) + " rounds; the last one failed because " + what,
              phase::Over{});
        return add(effect::Release{});
    }
    enter(std::move(changed), ApplicationState::kAccepted, "planning again: " + what, phase::Waiting{});
    ++out_.save->series.round;
    if (!failure.zone.empty()) out_.save->series.excluded.insert(failure.zone);
    add(effect::Release{});
    add(effect::AwaitPlanningLater{out_.save->series.round});
}

void Stepper::commit_answered(phase::Committing& committing, ApplicationPart& part, const event::PartAnswered& came) {
    if (committing.answers.missing.erase(part.id) == 0) return;
    const Result<PartStatus>& answer = came.answer;
    bool good = answer && answer->state == PartState::kCommitted;
    if (good && part.queued && part.status.assignment.empty()) good = take_turn(status_, part, *answer, now_.wall);
    const std::string words = !answer ? answer.error().message
                              : good  ? "committed"
                                      : "it let the hold go: " + answer->reason;
    record(part, "commit", good, words);
    if (good) {
        promise(part, came.asked, *answer);
        part.status.state = answer->state;
        part.status.expires_in = Duration{0};
    } else {
        committing.answers.failure = {part.zone, words};
        judge(part, answer);
    }
    if (!committing.answers.missing.empty()) return;
    const std::optional<ZoneFailure> failure = committing.answers.failure;
    run_.phase = phase::Held{};
    if (status_.cancel_requested) return add(effect::Advance{});
    if (failure) return plan_again(*failure);
    const bool is_queued = waits_in_queue(status_);
    if (status_.start || is_queued) run_.series = {};  // reserved: what comes now is a new series of plans
    enter(status_, ApplicationState::kCommitted,
          is_queued       ? kWaitsInQueue
          : status_.start ? why_it_awaits_start()
                          : "",
          phase::Committed{});
    add(effect::Advance{});
}

void Stepper::await_turn(const QueueTurn& turn) {
    const ApplicationPart& part = status_.parts.front();
    Duration after = config_.poll_every;
    if (part.status.queue && turn.was_asked) {
        const Duration longest = config_.launch_window / kWindowShare;
        after = std::clamp(part.status.queue->start_in.value_or(longest) / kCheckShare, config_.poll_every, longest);
    }
    run_.phase = phase::AwaitingTurn{turn, set_timer(after, true)};
}

void Stepper::ask_turn(const QueueTurn& turn) {
    run_.phase = phase::AskingTurn{turn};
    add(effect::AskZones{Question::kTurn});
}

void Stepper::turn_answered(QueueTurn turn, ApplicationPart& part, const Result<PartStatus>& answer) {
    run_.phase = phase::Committed{turn};
    if (status_.cancel_requested) return add(effect::Advance{});
    if (!answer && is_passing(answer.error())) {
        record(part, "queue", false, answer.error().message);
        return await_turn(turn);  // silence loses no place in a queue
    }
    if (!answer || answer->state != PartState::kCommitted) {
        const std::string words = answer
                                      ? std::string("the part is ") + to_string(answer->state) + ": " + answer->reason
                                      : answer.error().message;
        record(part, "queue", false, words);
        judge(part, answer);
        return plan_again({part.zone, words});
    }
    if (!answer->queue && !answer->ready) return await_turn(turn);
    if (!take_turn(status_, part, *answer, now_.wall)) {
        const std::string words = "its processors are not for the ranks asked for";
        record(part, "queue", false, words);
        return plan_again({part.zone, words});
    }
    record(part, "queue", true, answer->queue ? words_of(*answer->queue) : "gives it processors");
    add(effect::Advance{});
}

void Stepper::await_start(Duration delay, bool may_overtake) {
    run_.phase = phase::AwaitingStart{set_timer(delay, false), may_overtake};
}

void Stepper::on(const event::TimerFired& fired) {
    const auto* turn_awaited = std::get_if<phase::AwaitingTurn>(&run_.phase);
    const auto* start_awaited = std::get_if<phase::AwaitingStart>(&run_.phase);
    if (turn_awaited != nullptr && turn_awaited->timer == fired.timer) {
        QueueTurn turn = turn_awaited->turn;
        run_.phase = phase::Committed{turn};
        if (status_.cancel_requested || !waits_in_queue(status_)) return add(effect::Advance{});
        if (!turn.was_asked) turn.elsewhere_at = now_.steady;
        turn.was_asked = true;
        if (now_.steady - turn.elsewhere_at < kAskElsewhere) return ask_turn(turn);
        turn.elsewhere_at = now_.steady;
        run_.phase = phase::AskingElsewhere{turn};
        add(effect::AskElsewhere{});
    } else if (start_awaited != nullptr && start_awaited->timer == fired.timer) {
        if (status_.cancel_requested) {
            run_.phase = phase::Committed{};
            add(effect::Advance{});
        } else if (now_.steady >= run_.start) {
            run_.phase = phase::CheckingReady{{all_parts(), {}}};
            add(effect::AskZones{Question::kReady});
        } else {
            await_start(std::min(run_.start - now_.steady, kCheckStart), start_awaited->may_overtake);
            add(effect::BeginCycle{kCheckStart});  // which may start it now
        }
    }
}

/// At the start: every zone must still have the part, and its processors free of what ran there before. Where one has
/// not within a third of the launch window, the start has slipped: everything is given back and planned again.
void Stepper::ready_answered(phase::CheckingReady& checking, ApplicationPart& part, const Result<PartStatus>& answer) {
    if (checking.answers.missing.erase(part.id) == 0) return;
    const bool committed = answer && answer->state == PartState::kCommitted;
    const bool in_time = committed && answer->starts_in <= kClockDrift;
    const bool ready = in_time && answer->ready;
    const std::string words = !answer ? answer.error().message
                              : !committed
                                  ? std::string("the part is ") + to_string(answer->state) + ": " + answer->reason
                              : ready    ? "ready"
                              : !in_time ? "by its clock the start is later"
                                         : "what ran on its processors before has not ended";
    record(part, "ready", ready, words);
    if (!ready) {
        judge(part, answer);
        checking.answers.failure = {part.zone, "the reserved start slips: " + words};
    }
    if (!checking.answers.missing.empty()) return;
    const std::optional<ZoneFailure> failure = checking.answers.failure;
    run_.phase = phase::Committed{};
    if (status_.cancel_requested) return add(effect::Advance{});
    if (!failure) return begin_launch();
    if (now_.steady < run_.start + config_.launch_window / kSlipShare) return await_start(kCheckAgain);
    plan_again(*failure);
}

void Stepper::on(const event::FilesSent& sent) {
    if (!is_one_of<phase::SendingFiles>(run_.phase)) return;
    run_.phase = phase::Committed{};
    run_.was_denied |= sent.is_denial;
    if (sent.failure) return plan_again(*sent.failure);
    if (!status_.cancel_requested) run_.staged.merge(all_parts());
    add(effect::Advance{});
}

void Stepper::begin_launch() {
    ApplicationStatus changed = status_;
    changed.launcher_step = launcher_step_id(run_.app);
    enter(std::move(changed), ApplicationState::kLaunching, {}, phase::Launching{});
    add(effect::Advance{});
}

void Stepper::on(const event::LauncherFailed& failed) {
    if (is_one_of<phase::AwaitingLauncher>(run_.phase)) stop(failed.reason);
}

void Stepper::on(const event::LauncherSeen& seen) {
    using Proxies = event::LauncherSeen::Proxies;
    if (is_one_of<phase::GivingUpLaunch>(run_.phase)) return giving_up(seen);
    if (!run_.must_stop.empty()) return;
    const bool is_connected = !is_gated(run_.app) || seen.proxies == Proxies::kConnected;
    if (const auto* launcher = std::get_if<phase::AwaitingLauncher>(&run_.phase)) {
        if (seen.asked && (is_connected || (seen.runs && seen.proxies == Proxies::kAwaited)))
            return launch_parts(*seen.asked);
        if (!seen.runs) return launcher_ended(seen);
        if (now_.steady > launcher->until) return stop("the MPI launcher did not ask for its proxies in time");
        add(effect::CheckLauncher{kCheckLauncher});
    } else if (auto* proxies = std::get_if<phase::AwaitingProxies>(&run_.phase)) {
        if (is_connected) {
            run_.phase = phase::Started{};
            return begin_to_run();
        }
        if (!seen.runs) return launcher_ended(seen);
        if (now_.steady > proxies->until)
            return add(effect::FindSuspect{
                "it says that its part runs, but not all proxies have connected to the MPI launcher in " +
                std::to_string(static_cast<int>(to_seconds(config_.launch_window))) + " s"});
        if (now_.steady - proxies->polled >= config_.poll_every) {
            proxies->polled = now_.steady;
            poll_parts();
        }
        add(effect::CheckLauncher{kCheckLauncher});
    }
}

/// Before all parts were started.
void Stepper::launcher_ended(const event::LauncherSeen& seen) {
    if (!is_gated(run_.app) || !seen.was_stopped) return stop(seen.end);
    run_.phase = phase::GivingUpLaunch{{{}, "the launch was given up"}};  // before home restarted
    giving_up(seen);
}

void Stepper::giving_up(const event::LauncherSeen& seen) {
    const ZoneFailure& failure = std::get<phase::GivingUpLaunch>(run_.phase).failure;
    // Just before it was stopped: ranks may have begun.
    if (seen.proxies == event::LauncherSeen::Proxies::kConnected)
        return stop("zone " + failure.zone + ": " + failure.reason);
    if (seen.runs) return add(effect::CheckLauncher{kCheckLauncher});
    add(effect::RemoveLauncher{});
}

void Stepper::on(const event::LauncherRemoved&) {
    if (const auto* given_up = std::get_if<phase::GivingUpLaunch>(&run_.phase))
        plan_again(ZoneFailure(given_up->failure));
}

void Stepper::launch_parts(const std::vector<std::pair<std::string, std::string>>& options) {
    phase::LaunchingParts launching{options, {}};
    for (const ApplicationPart& part : status_.parts) {
        const auto promised = run_.obligations.find(part.id);
        const Duration until =
            promised != run_.obligations.end() ? promised->second.until : now_.steady + config_.launch_window;
        launching.missing[part.id] = {until, kLaunchRetry};
        add(effect::LaunchPart{part.id});
    }
    run_.phase = std::move(launching);
}

void Stepper::launch_answered(ApplicationPart& part, const Result<PartStatus>& answer) {
    auto* launching = std::get_if<phase::LaunchingParts>(&run_.phase);
    const bool is_stopping = is_one_of<phase::Watching>(run_.phase) && status_.state == ApplicationState::kLaunching;
    if (!is_stopping && (launching == nullptr || !launching->missing.contains(part.id))) return;
    if (launching != nullptr && !answer && is_passing(answer.error())) {
        phase::LaunchingParts::Call& call = launching->missing.at(part.id);
        if (now_.steady < call.until) {
            add(effect::LaunchPart{part.id, call.rest});
            call.rest = std::min(call.rest * 2, kLaunchRetryMax);
            return;
        }
    }
    if (answer) part.status.state = answer->state;
    const bool good = answer && (answer->state == PartState::kRunning || answer->state == PartState::kCompleted);
    record(part, "launch", good, answer ? state_and_reason(*answer) : answer.error().message);
    if (good)
        promise(part, {}, *answer);
    else
        judge(part, answer);
    if (is_stopping) return;
    if (!good) return launch_failed({part.zone, answer ? answer->reason : answer.error().message});
    launching->missing.erase(part.id);
    if (!launching->missing.empty()) return;
    run_.phase = phase::AwaitingProxies{now_.steady + config_.launch_window, now_.steady};
    add(effect::CheckLauncher{});
}

void Stepper::on(const event::LaunchFailed& failed) {
    if (is_one_of<phase::LaunchingParts, phase::AwaitingProxies>(run_.phase)) launch_failed(failed.failure);
}

/// No rank has begun as long as the launcher waits for proxies: it is ended, and then the application is planned again
/// without the zone. Other launchers start ranks at once, and the application fails.
void Stepper::launch_failed(const ZoneFailure& failure) {
    run_.phase = phase::GivingUpLaunch{{failure.zone, "it did not start its part: " + failure.reason}};
    run_.launch_backoff.record_failure(failure.zone, now_.steady);
    add(effect::RecordLaunchFailure{failure.zone});
    const bool is_last = run_.needs_all && run_.launch_backoff.failures(failure.zone) >= kMaxFailedLaunches;
    if (!is_gated(run_.app) || is_last)
        return stop("zone " + failure.zone + " did not start its part: " + failure.reason);
    add(effect::StopLauncher{Duration{0}});
    add(effect::CheckLauncher{});
}

/// Every zone has started its part.
void Stepper::begin_to_run() {
    if (status_.state == ApplicationState::kLaunching) enter(status_, ApplicationState::kRunning, {}, phase::Started{});
    add(effect::Watch{});
}

/// Where it cannot be stored now, `must_stop` stays.
void Stepper::stop(const std::string& reason) {
    if (status_.state < ApplicationState::kLaunching || is_final(status_.state) || !status_.stop_reason.empty()) return;
    if (run_.must_stop.empty()) run_.must_stop = reason;
    ApplicationStatus changed = status_;
    changed.stop_reason = run_.must_stop;
    stop_parts(changed);
    const bool is_watched = is_one_of<phase::Watching, phase::Ending>(run_.phase);
    save(std::move(changed));
    if (is_watched) return;
    if (!is_one_of<phase::Unfinished>(run_.phase)) out_.save->phase = phase::Watching{};
    add(effect::Watch{});
}

void Stepper::on(const event::Ended& ended) {
    auto* ending = std::get_if<phase::Ending>(&run_.phase);
    if (ending == nullptr) return;
    run_.phase = phase::Unfinished{phase::Ending(std::move(*ending))};
    enter(ended.changed, ended.state, ended.reason, phase::Over{});
    if (ended.state == ApplicationState::kCompleted) add(effect::RecordKept{});
    add(effect::Release{});
}

/// The launcher ends all ranks at once when it is stopped, and by itself when they have ended.
void Stepper::stop_parts(const ApplicationStatus& status) {
    const bool has_time = status.cancel_requested && status.state == ApplicationState::kRunning && !now_.is_blocked;
    run_.launcher_until = now_.steady + (has_time ? run_.app.request.grace + kEndSlack : Duration{0});
    add(effect::StopParts{});
    end_launcher();
}

/// Of an application that is being stopped: once no part runs any more, or the time of all is over.
void Stepper::end_launcher() {
    if (!run_.launcher_until || (!have_ended(status_) && now_.steady < *run_.launcher_until && !now_.is_blocked))
        return;
    run_.launcher_until.reset();
    add(effect::StopLauncher{kStopGrace});
}

void Stepper::poll_parts() {
    for (const ApplicationPart& part : status_.parts)
        if (!is_final(part.status.state) && run_.polled.insert(part.id).second) add(effect::PollPart{part.id});
}

/// A part that failed takes the application with it; a part that is silent does not.
void Stepper::on(const event::PartPolled& polled) {
    run_.polled.erase(polled.part);
    record_silence(run_, polled.part, polled.answer);
    ApplicationPart* part = find_part(status_, polled.part);
    if (part == nullptr || is_final(status_.state)) return;
    judge(*part, polled.answer);
    const bool is_unknown = !polled.answer && polled.answer.error().code == ErrorCode::kNotFound;
    if (!polled.answer && !is_unknown) return;
    PartStatus answer = polled.answer ? *polled.answer : part->status;
    if (is_unknown) {  // its processes may go on there, and nothing can be asked of them
        answer.state = PartState::kFailed;
        answer.reason = kUnknownPart;
    }
    if (part->status.state != answer.state)
        record(*part, "status", answer.state == PartState::kCompleted, state_and_reason(answer));
    part->status.state = answer.state;
    part->status.reason = answer.reason;
    part->status.first_end = answer.first_end;
    part->status.has_profile = answer.has_profile;
    part->status.work = answer.work;
    const bool lost = is_final(answer.state) && answer.state != PartState::kCompleted;
    if (lost && is_gated(run_.app) && status_.state == ApplicationState::kLaunching)
        return on(event::LaunchFailed{{part->zone, answer.reason}});
    // While the launcher ends by itself the parts end too, some with a code; its word comes first.
    // MPICH's mpiexec may never end after the proxy of a rank that exited early has ended.
    // At the walltime each zone ends its ranks itself; others may have time to save still.
    if ((!lost && !answer.first_end) || answer.reason.starts_with(kWalltimeReason) || !status_.stop_reason.empty())
        return;
    // After MPI_Finalize of a rank that ended badly the others may have files to write.
    const bool has_time = answer.first_end && lets_others_end(*answer.first_end);
    const Duration grace = has_time ? run_.app.request.grace : Duration{0};
    add(effect::AwaitLauncher{std::max(grace, config_.poll_every * 2), part->zone, answer.reason});
}

void Stepper::on(const event::LauncherOutlives& part) {
    const std::optional<RankEnd> first = first_end(run_.app);
    if (first) return stop(describe(*first, place_of_rank(run_.app, first->rank)));
    const bool is_reason = ends_application(part.reason) || part.reason.starts_with(kStoppedReason);
    stop(is_reason ? part.reason : "zone " + part.zone + " lost its part: " + part.reason);
}

void Stepper::on(const event::Watched& launcher) {
    if (is_one_of<phase::Started>(run_.phase)) run_.phase = phase::Watching{};
    auto* watching = std::get_if<phase::Watching>(&run_.phase);
    auto* unfinished = std::get_if<phase::Unfinished>(&run_.phase);
    if (watching == nullptr && unfinished == nullptr) return;
    if (!launcher.runs) {
        phase::Ending ending = unfinished != nullptr ? std::move(unfinished->end) : phase::Ending{.ended = now_.wall};
        ending.until = now_.steady + (needs_own_zone(run_.app.request.launcher) ? kOutputWait : kEndWait);
        ending.next_asked = 0;
        run_.phase = std::move(ending);
        return add(effect::CollectEnd{});
    }
    if (watching == nullptr) return;
    if (status_.cancel_requested && status_.stop_reason.empty()) return stop(why_cancelled(run_.app, now_.is_blocked));
    if (!have_ended(status_))
        watching->deserted_since.reset();
    else if (!watching->deserted_since)
        watching->deserted_since = now_.steady;
    else if (now_.steady - *watching->deserted_since >= kLauncherGrace && status_.stop_reason.empty())
        // A launcher that lost the connection over which a proxy would have reported its end waits until the walltime.
        return stop(
            "all its processes have ended, but a connection to the MPI launcher was lost, so how they ended is "
            "not known; output may be missing");
    poll_parts();
    if (!status_.stop_reason.empty()) return end_launcher();
    if (config_.max_output_bytes > 0 && now_.steady >= watching->weigh_at) add(effect::MeasureOutput{});
}

/// Output lies on the zone's own disk: one job must not fill it for all.
void Stepper::on(const event::OutputMeasured& output) {
    auto* watching = std::get_if<phase::Watching>(&run_.phase);
    if (watching == nullptr) return;
    // A folder of very many files takes its time, and others wait for it.
    watching->weigh_at = now_.steady + std::max(kWeighEvery, kWeighShare * output.took);
    if (output.bytes <= config_.max_output_bytes) return;
    stop("its ranks have written more than the " + std::to_string(config_.max_output_bytes >> 20) +
         " MiB of output that zone " + config_.zone.name + " keeps of one job; write results into files, or less");
}

/// A zone that takes no new work keeps the start that it promised, but gives no earlier one.
std::string Stepper::why_it_awaits_start() const {
    return "waiting for processors: a common start is reserved" +
           (now_.resting.empty() ? ", and taken earlier where something ends early"
                                 : now_.resting + "; an earlier start has to wait for that");
}

bool Stepper::is_staged() const {
    return std::ranges::all_of(status_.parts, [&](const ApplicationPart& part) {
        return !needs_files(config_, run_.app.request, part) || run_.staged.contains(part.id);
    });
}

}  // namespace

ApplicationStep step(ApplicationRun run, const ApplicationInput& event, const Moment& now, const ZoneConfig& config) {
    Stepper stepper(std::move(run), now, config);
    std::visit([&stepper](const auto& one) { stepper.on(one); }, event);
    return stepper.result();
}

Phase phase_after_restart(ApplicationState state) {
    switch (state) {
        case ApplicationState::kAccepted:
            return phase::Waiting{};
        case ApplicationState::kPlanned:
            return phase::Planned{};
        case ApplicationState::kHeld:
            return phase::Held{};
        case ApplicationState::kCommitted:
            return phase::Committed{};
        case ApplicationState::kLaunching:
            return phase::Launching{};
        case ApplicationState::kRunning:
            return phase::Started{};
        default:
            return phase::Over{};
    }
}

bool is_swapping(const Phase& phase) {
    if (const auto* planned = std::get_if<phase::Planned>(&phase)) return planned->swap.has_value();
    const auto* holding = std::get_if<phase::Holding>(&phase);
    return holding != nullptr && holding->plan.swap;
}

bool has_turn(const Phase& phase) {
    if (const auto* planned = std::get_if<phase::Planned>(&phase)) return planned->by_cycle;
    const auto* holding = std::get_if<phase::Holding>(&phase);
    return holding != nullptr && holding->plan.by_cycle;
}

std::string why_cancelled(const Application& app, bool is_blocked) {
    if (is_blocked) return "its owner was revoked or blocked";
    const std::string& other = app.status.cancelled_by;
    return "cancelled by " + (other.empty() ? std::string("its owner") : "the zone's operator '" + other + "'");
}

void record_answer(ApplicationRun& run, Time at, const ZoneName& zone, const char* what, bool ok,
                   const std::string& answer) {
    add_event(
        run.app.status.events,
        {.at = at, .last = {}, .round = run.series.round, .zone = zone, .what = what, .answer = answer, .ok = ok});
}

void record_silence(ApplicationRun& run, const PartId& id, const Result<PartStatus>& answer) {
    if (!answer && is_passing(answer.error()))
        run.silent.insert(id);
    else
        run.silent.erase(id);
}

bool waits_in_queue(const ApplicationStatus& status) {
    return std::ranges::any_of(
        status.parts, [](const ApplicationPart& part) { return part.queued && part.status.assignment.empty(); });
}

bool needs_files(const ZoneConfig& config, const ApplicationRequest& request, const ApplicationPart& part) {
    const std::string& shared = config.staging.shared_file_system;
    return !request.staging.empty() && (request.staging.always || shared.empty() || part.status.file_system != shared);
}

ApplicationPart* find_part(ApplicationStatus& status, const PartId& id) {
    const auto at = std::ranges::find(status.parts, id, &ApplicationPart::id);
    return at == status.parts.end() ? nullptr : &*at;
}

}  // namespace zbs
