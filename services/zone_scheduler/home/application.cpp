#include "services/zone_scheduler/home/application.hpp"

#include <algorithm>

#include "services/zone_scheduler/home/application_steps.hpp"

namespace zbs {
namespace {

constexpr Duration kReleaseRetryMax = std::chrono::seconds{30};

/// Whether outstanding answers say how it goes on.
bool is_asking(const Phase& phase) {
    return is_one_of<phase::Holding, phase::Committing, phase::AskingTurn, phase::AskingElsewhere, phase::SendingFiles,
                     phase::CheckingReady>(phase);
}

/// Null where no plan is to be held.
const phase::Planned* planned_of(const Phase& phase) {
    const auto* holding = std::get_if<phase::Holding>(&phase);
    return holding != nullptr ? &holding->plan : std::get_if<phase::Planned>(&phase);
}

/// What any phase may meet.
class CommonSteps : Steps {
  public:
    explicit CommonSteps(const Steps& event) : Steps(event) {}
    void on(const event::Advance&);
    void on(const event::Cancelled& cancelled);
    void on(const event::ZonesAnswered& came) {
        for (const auto& [zone, ok, words] : came.answers) record(zone, came.what, ok, words);
    }
    void on(const event::OwnerChecked&) { static_cast<void>(cancel_if_blocked()); }
    void on(const event::PartAnswered& came);
    void on(const event::ReleaseDue& due);
    void on(const event::ReleaseAnswered& came);

  private:
    bool cancel_if_blocked();
    void cancel(const std::string& by);
    void begin();
};

/// The next step by the stored state.
void CommonSteps::on(const event::Advance&) {
    // What is to be replaced stays until the new parts are held.
    if (!status_.releasing.empty() && !is_swapping(run_.phase)) add(effect::Release{{.is_new = false}});
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
    if (!status_.stop_reason.empty() && !has_launcher_ended(run_.phase) && !is_one_of<phase::Watching>(run_.phase)) {
        run_.phase = phase::Watching{};
        RunSteps(*this).stop_parts(status_);
        return add(effect::Watch{});
    }
    if (!run_.must_stop.empty() && status_.stop_reason.empty() && !is_one_of<phase::Concluding>(run_.phase))
        return RunSteps(*this).stop(run_.must_stop);
    begin();
}

void CommonSteps::on(const event::Cancelled& cancelled) {
    if (!status_.cancel_requested && !is_final(status_.state)) cancel(cancelled.by);
}

void CommonSteps::cancel(const std::string& by) {
    ApplicationStatus changed = status_;
    changed.cancel_requested = true;
    changed.cancelled_by = by;
    save(std::move(changed));
}

/// Who was revoked or blocked has nothing running or waiting any more.
bool CommonSteps::cancel_if_blocked() {
    if (!now_.is_blocked || status_.cancel_requested || is_final(status_.state)) return false;
    cancel({});
    return true;
}

/// Phases that wait for an answer or a timer go on with that.
void CommonSteps::begin() {
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
        return WaitSteps(*this).begin(QueueTurn(committed->turn));
    if (is_one_of<phase::Launching>(run_.phase)) return RunSteps(*this).start_launcher();
    if (is_one_of<phase::GivingUpLaunch>(run_.phase)) return add(effect::CheckLauncher{});
    if (is_one_of<phase::Started>(run_.phase)) return RunSteps(*this).begin_to_run();
    if (auto* concluding = std::get_if<phase::Concluding>(&run_.phase))
        return EndSteps(*this).conclude(RunEnd(std::move(concluding->end)));
}

void CommonSteps::on(const event::PartAnswered& came) {
    if (came.question == Question::kState) run_.polled.erase(came.part);
    ApplicationPart* part = find_part(status_, came.part);
    if (part == nullptr) return;
    switch (came.question) {
        case Question::kHold:
            return PlanSteps(*this).hold_answered(*part, came);
        case Question::kCommit:
            return PlanSteps(*this).commit_answered(*part, came);
        case Question::kTurn:
            return WaitSteps(*this).turn_answered(*part, came.answer);
        case Question::kReady:
            return WaitSteps(*this).ready_answered(*part, came.answer);
        case Question::kLaunch:
            return RunSteps(*this).launch_answered(*part, came.answer);
        case Question::kState:
            return RunSteps(*this).state_answered(*part, came.answer);
        case Question::kEnd:
            return EndSteps(*this).end_answered(*part, came.answer);
    }
}

/// What is to be replaced is among them, and stays until the new parts are held.
void CommonSteps::on(const event::ReleaseDue& due) {
    ApplicationRun::Releases& releases = run_.releases;
    if (is_swapping(run_.phase) || !releases.missing.empty() || (!due.is_new && now_.steady < releases.until)) return;
    releases.gone.clear();
    for (const ApplicationPart& part : status_.releasing)
        if (releases.missing.insert(part.id).second) add(effect::ReleasePart{part.id});
}

/// A zone that is away keeps its part until it receives the request or until the part ends by itself.
void CommonSteps::on(const event::ReleaseAnswered& came) {
    ApplicationRun::Releases& releases = run_.releases;
    if (releases.missing.erase(came.part) == 0) return;
    const Result<PartStatus>& answer = came.answer;
    const bool is_unknown = !answer && answer.error().code == ErrorCode::kNotFound;
    const auto released = std::ranges::find(status_.releasing, came.part, &ApplicationPart::id);
    if (released != status_.releasing.end())
        record(*released, "release", answer || is_unknown,
               answer       ? to_string(answer->state)
               : is_unknown ? "has no such part"
                            : answer.error().message);
    if (is_unknown || (answer && is_final(answer->state))) releases.gone.insert(came.part);
    if (ApplicationPart* shown = find_part(status_, came.part); shown != nullptr && answer)
        shown->status.state = answer->state;  // stored with the next change below
    if (!releases.missing.empty()) return;
    if (releases.gone.empty()) {
        releases.rest = std::min(releases.rest * 2, kReleaseRetryMax);
        releases.until = now_.steady + releases.rest;
        return add(effect::Release{{.is_new = false}, releases.rest});
    }
    releases.rest = kReleaseRetry;
    ApplicationStatus changed = status_;
    std::erase_if(changed.releasing, [&](const ApplicationPart& part) { return releases.gone.contains(part.id); });
    const bool is_done = changed.releasing.empty();
    save(std::move(changed));
    add(effect::BeginCycle{});  // for what they leave
    if (!is_done) add(effect::Release{{.is_new = false}, kReleaseRetry});
}

template <class Group, class Event>
concept Takes = requires(Group group, const Event& event) {
    group.on(event);
};

/// To the only group that takes it.
template <class... Groups, class Event>
void hand_out(const Steps& steps, const Event& event) {
    static_assert((static_cast<int>(Takes<Groups, Event>) + ...) == 1);
    const auto offer = [&event]<class Group>(Group group) {
        if constexpr (Takes<Group, Event>) group.on(event);
    };
    (offer(Groups(steps)), ...);
}

}  // namespace

ApplicationStep step(ApplicationRun run, const ApplicationInput& event, const Moment& now, const ZoneConfig& config) {
    ApplicationStep out{std::move(run)};
    const Steps steps(out, now, config);
    std::visit([&](const auto& one) { hand_out<CommonSteps, PlanSteps, WaitSteps, RunSteps, EndSteps>(steps, one); },
               event);
    return out;
}

void keep(ApplicationRun& run, ApplicationStep::Save stored) {
    run.app.status = std::move(stored.status);
    run.phase = std::move(stored.phase);
    run.series = std::move(stored.series);
}

void Steps::record(const ZoneName& zone, const std::string& what, bool ok, const std::string& answer) {
    add_event(status_.events, {.at = now_.wall,
                               .last = {},
                               .round = run_.series.round,
                               .zone = zone,
                               .what = what,
                               .answer = answer,
                               .ok = ok});
}

std::set<PartId> Steps::all_parts() const {
    ZBS_EXPECTS(!status_.parts.empty());  // entering `planned` stores them in the same write
    std::set<PartId> ids;
    for (const ApplicationPart& part : status_.parts) ids.insert(part.id);
    return ids;
}

void Steps::enter(ApplicationStatus changed, ApplicationState state, const std::string& reason, Phase phase) {
    ZBS_EXPECTS(allowed(status_.state, state));
    changed.state = state;
    changed.reason = reason;
    changed.history.push_back({state, now_.wall});
    if (changed.history.size() > kMaxHistory) changed.history.erase(changed.history.begin() + 1);
    out_.save = {std::move(changed), std::move(phase), run_.series};
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
    const phase::Planned* planned = planned_of(phase);
    return planned != nullptr && planned->swap;
}

bool may_overtake(const Phase& phase) {
    if (const auto* waiting = std::get_if<phase::Waiting>(&phase)) return waiting->may_overtake;
    const auto* awaiting = std::get_if<phase::AwaitingStart>(&phase);
    return awaiting == nullptr || awaiting->may_overtake;
}

bool has_turn(const Phase& phase) {
    const phase::Planned* planned = planned_of(phase);
    return planned != nullptr && planned->by_cycle;
}

std::string why_cancelled(const Application& app, bool is_blocked) {
    if (is_blocked) return "its owner was revoked or blocked";
    const std::string& other = app.status.cancelled_by;
    return "cancelled by " + (other.empty() ? std::string("its owner") : "the zone's operator '" + other + "'");
}

void release_parts(ApplicationStatus& status) {
    status.releasing.insert(status.releasing.end(), status.parts.begin(), status.parts.end());
    status.parts.clear();
}

std::string state_and_reason(const PartStatus& part) {
    return to_string(part.state) + (part.reason.empty() ? std::string() : ": " + part.reason);
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
