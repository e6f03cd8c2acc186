// The machine of an application until all zones have committed their parts: a plan, holds, commits.
#include "services/zone_scheduler/home/application_steps.hpp"

#include <algorithm>

namespace zbs {
namespace {

constexpr int kMaxDenials = 5;
/// How long a zone is not asked for an earlier start after it has refused one it had offered: doubled each time.
constexpr Duration kFirstBackoff = std::chrono::seconds{1};
constexpr int kMaxBackoffs = 8;
constexpr const char* kWaitsInQueue = "waiting in the queue of its zone";

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

/// A peer is attacker-controlled.
bool is_complete(const ApplicationPart& part, const PartStatus& answer) {
    return is_assignment_of(answer.assignment, part.ranks, part.overcommit);
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
        const auto verdict = std::ranges::find(plan.zones, zone, &ZoneVerdict::zone);
        if (verdict != plan.zones.end()) part.overcommit = verdict->overcommit;
        const auto old = std::ranges::find(reserved, zone, &ApplicationPart::zone);
        if (old != reserved.end()) part.replaces = old->id;
        parts.push_back(std::move(part));
    }
    return parts;
}

/// A zone that takes no new work keeps the start that it promised, but gives no earlier one.
std::string why_it_awaits_start(const Moment& now) {
    return "waiting for processors: a common start is reserved" +
           (now.resting.empty() ? ", and taken earlier where something ends early"
                                : now.resting + "; an earlier start has to wait for that");
}

}  // namespace

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

void PlanSteps::on(const event::MayOvertake& found) {
    if (auto* waiting = std::get_if<phase::Waiting>(&run_.phase)) waiting->may_overtake = found.may;
    if (auto* awaiting = std::get_if<phase::AwaitingStart>(&run_.phase)) awaiting->may_overtake = found.may;
}

/// What was held under a plan is unknown: it is given back and planned afresh.
void PlanSteps::on(const event::Restarted&) {
    if (is_one_of<phase::Planned>(run_.phase)) plan_again({{}, "the home zone restarted"});
}

void PlanSteps::on(const event::PlanBegun& begun) {
    const auto* waiting = std::get_if<phase::Waiting>(&run_.phase);
    if (waiting == nullptr) return;
    run_.phase = phase::Planning{begun.plan, waiting->may_overtake};
    ApplicationStatus changed = status_;
    changed.reason = "its plan is being made";
    save(std::move(changed));
}

void PlanSteps::on(const event::NoPlan& none) {
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
        reason = why_it_awaits_start(now_);
    }
    if (reason == status_.reason || !is_one_of<phase::Waiting, phase::AwaitingStart>(run_.phase)) return;
    ApplicationStatus changed = status_;
    changed.reason = reason;
    save(std::move(changed));
}

void PlanSteps::on(const event::PlanMade& made) {
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

void PlanSteps::hold_answered(ApplicationPart& held, const event::PartAnswered& came) {
    auto* holding = std::get_if<phase::Holding>(&run_.phase);
    if (holding == nullptr || holding->answers.missing.erase(held.id) == 0) return;
    const Result<PartStatus>& answer = came.answer;
    const bool waits = answer && held.queued && answer->queue;
    const bool fits = answer && answer->id == held.id && answer->state == PartState::kHeld &&
                      (waits ? answer->assignment.empty() : is_complete(held, *answer));
    const auto start = status_.start ? std::optional(run_.start) : std::nullopt;
    const std::string off =
        fits ? start_fault(*answer, {start, came.asked, now_.steady}, config_.launch_window / kSlipShare)
             : "its hold does not fit the request";
    const bool good = fits && off.empty();
    const std::string words =
        !answer         ? answer.error().message
        : good && waits ? "takes it into its queue"
        : good          ? "holds " + std::to_string(processors_for(held.ranks.size(), held.overcommit)) + " processors"
                        : off;
    record(held, "hold", good, words);
    if (!answer && answer.error().code == ErrorCode::kRejected)
        holding->plan.refused.insert(held.id);
    else
        holding->plan.refused.erase(held.id);
    if (good) {
        held.status = *answer;
        promise(held, came.asked, *answer);
    } else {
        holding->answers.failure = {held.zone, words};
        const bool is_denied = !answer && is_denial(answer.error());
        if (is_denied || (!answer && is_passing(answer.error()))) add(effect::RecheckPeer{held.zone});
        if (holding->plan.swap) {
            ApplicationRun::Backoff& backoff = run_.backoffs[held.zone];
            backoff.times = std::min(backoff.times + 1, kMaxBackoffs);
            backoff.until = now_.steady + kFirstBackoff * (1 << backoff.times);
        }
        if (is_denied) run_.denied_by.insert(held.zone);
        run_.was_denied |= is_denied;
    }
    if (!holding->answers.missing.empty()) return;
    const std::optional<ZoneFailure> failure = holding->answers.failure;
    all_held(phase::Planned(std::move(holding->plan)), failure);
}

/// All zones have answered. Where the outcome cannot be stored now they are asked again.
void PlanSteps::all_held(phase::Planned plan, const std::optional<ZoneFailure>& failure) {
    plan.by_cycle = false;
    if (failure && plan.swap && plan.swap->place && !is_to_end()) {
        const ApplicationStatus place = *plan.swap->place;
        run_.phase = std::move(plan);
        return wait_on(place);
    }
    plan.swap.reset();
    run_.phase = std::move(plan);
    if (is_to_end()) return add(effect::Advance{});
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
void PlanSteps::wait_on(const ApplicationStatus& place) {
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
void PlanSteps::release_held(ApplicationStatus& changed) {
    release_parts(changed);
    if (const auto* planned = std::get_if<phase::Planned>(&run_.phase))
        std::erase_if(changed.releasing,
                      [&](const ApplicationPart& part) { return planned->refused.contains(part.id); });
}

void PlanSteps::plan_again(const ZoneFailure& failure) {
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

void PlanSteps::commit_answered(ApplicationPart& part, const event::PartAnswered& came) {
    auto* committing = std::get_if<phase::Committing>(&run_.phase);
    if (committing == nullptr || committing->answers.missing.erase(part.id) == 0) return;
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
        committing->answers.failure = {part.zone, words};
        judge(part, answer);
    }
    if (!committing->answers.missing.empty()) return;
    const std::optional<ZoneFailure> failure = committing->answers.failure;
    run_.phase = phase::Held{};
    if (is_to_end()) return add(effect::Advance{});
    if (failure) return plan_again(*failure);
    const bool is_queued = waits_in_queue(status_);
    if (status_.start || is_queued) run_.series = {};  // reserved: what comes now is a new series of plans
    enter(status_, ApplicationState::kCommitted,
          is_queued       ? kWaitsInQueue
          : status_.start ? why_it_awaits_start(now_)
                          : "",
          phase::Committed{});
    add(effect::Advance{});
}

}  // namespace zbs
