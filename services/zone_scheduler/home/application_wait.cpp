// The machine of an application that is committed: its turn in a queue, its files, its reserved start.
#include "services/zone_scheduler/home/application_steps.hpp"

#include <algorithm>

namespace zbs {
namespace {

constexpr Duration kCheckStart = std::chrono::seconds{1};
constexpr Duration kCheckAgain = std::chrono::milliseconds{500};
/// How often a zone is asked about its queue: of the time that is left, within bounds that leave most of the launch
/// window.
constexpr int kCheckShare = 10;
constexpr int kWindowShare = 6;
constexpr Duration kAskElsewhere = std::chrono::seconds{10};

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

}  // namespace

void WaitSteps::on(const event::NoneElsewhere& none) {
    const auto* asking = std::get_if<phase::AskingElsewhere>(&run_.phase);
    if (asking == nullptr) return;
    QueueTurn turn = asking->turn;
    turn.elsewhere_at += none.rest;
    if (!is_to_end()) return ask_turn(turn);
    run_.phase = phase::Committed{turn};
    add(effect::Advance{});
}

void WaitSteps::begin(const QueueTurn& turn) {
    if (waits_in_queue(status_)) return await_turn(turn);
    if (!is_staged()) {
        run_.phase = phase::SendingFiles{};
        return add(effect::SendFiles{});
    }
    if (status_.start) return await_start(std::min(run_.start - now_.steady, kCheckStart));
    RunSteps(*this).begin_launch();
}

void WaitSteps::await_turn(const QueueTurn& turn) {
    const ApplicationPart& part = status_.parts.front();
    Duration after = config_.poll_every;
    if (part.status.queue && turn.was_asked) {
        const Duration longest = config_.launch_window / kWindowShare;
        after = std::clamp(part.status.queue->start_in.value_or(longest) / kCheckShare, config_.poll_every, longest);
    }
    run_.phase = phase::AwaitingTurn{turn, set_timer(after, true)};
}

void WaitSteps::ask_turn(const QueueTurn& turn) {
    run_.phase = phase::AskingTurn{turn};
    add(effect::AskZones{Question::kTurn});
}

void WaitSteps::turn_answered(ApplicationPart& part, const Result<PartStatus>& answer) {
    const auto* asking = std::get_if<phase::AskingTurn>(&run_.phase);
    if (asking == nullptr) return;
    const QueueTurn turn = asking->turn;
    run_.phase = phase::Committed{turn};
    if (is_to_end()) return add(effect::Advance{});
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
        return PlanSteps(*this).plan_again({part.zone, words});
    }
    if (!answer->queue && !answer->ready) return await_turn(turn);
    if (!take_turn(status_, part, *answer, now_.wall)) {
        const std::string words = "its processors are not for the ranks asked for";
        record(part, "queue", false, words);
        return PlanSteps(*this).plan_again({part.zone, words});
    }
    record(part, "queue", true, answer->queue ? words_of(*answer->queue) : "gives it processors");
    add(effect::Advance{});
}

void WaitSteps::await_start(Duration delay, bool may_overtake) {
    run_.phase = phase::AwaitingStart{set_timer(delay, false), may_overtake};
}

void WaitSteps::on(const event::TimerFired& fired) {
    const auto* turn_awaited = std::get_if<phase::AwaitingTurn>(&run_.phase);
    const auto* start_awaited = std::get_if<phase::AwaitingStart>(&run_.phase);
    if (turn_awaited != nullptr && turn_awaited->timer == fired.timer) {
        QueueTurn turn = turn_awaited->turn;
        run_.phase = phase::Committed{turn};
        if (is_to_end() || !waits_in_queue(status_)) return add(effect::Advance{});
        if (!turn.was_asked) turn.elsewhere_at = now_.steady;
        turn.was_asked = true;
        if (now_.steady - turn.elsewhere_at < kAskElsewhere) return ask_turn(turn);
        turn.elsewhere_at = now_.steady;
        run_.phase = phase::AskingElsewhere{turn};
        add(effect::AskElsewhere{});
    } else if (start_awaited != nullptr && start_awaited->timer == fired.timer) {
        if (is_to_end()) {
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
void WaitSteps::ready_answered(ApplicationPart& part, const Result<PartStatus>& answer) {
    auto* checking = std::get_if<phase::CheckingReady>(&run_.phase);
    if (checking == nullptr || checking->answers.missing.erase(part.id) == 0) return;
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
        checking->answers.failure = {part.zone, "the reserved start slips: " + words};
    }
    if (!checking->answers.missing.empty()) return;
    const std::optional<ZoneFailure> failure = checking->answers.failure;
    run_.phase = phase::Committed{};
    if (is_to_end()) return add(effect::Advance{});
    if (!failure) return RunSteps(*this).begin_launch();
    if (now_.steady < run_.start + config_.launch_window / kSlipShare) return await_start(kCheckAgain);
    PlanSteps(*this).plan_again(*failure);
}

void WaitSteps::on(const event::FilesSent& sent) {
    if (!is_one_of<phase::SendingFiles>(run_.phase)) return;
    run_.phase = phase::Committed{};
    if (sent.is_denial && sent.failure) run_.denied_by.insert(sent.failure->zone);
    run_.was_denied |= sent.is_denial;
    if (sent.failure) return PlanSteps(*this).plan_again(*sent.failure);
    if (!is_to_end()) run_.staged.merge(all_parts());
    add(effect::Advance{});
}

bool WaitSteps::is_staged() const {
    return std::ranges::all_of(status_.parts, [&](const ApplicationPart& part) {
        return !needs_files(config_, run_.app.request, part) || run_.staged.contains(part.id);
    });
}

}  // namespace zbs
