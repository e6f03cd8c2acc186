// The machine of an application from its launcher to the proxies of all parts, or to the end of that launch.
#include "services/zone_scheduler/home/application_stepper.hpp"

#include <algorithm>

#include "services/zone_scheduler/launch/launchers.hpp"

namespace zbs {
namespace {

constexpr int kMaxFailedLaunches = 3;  ///< then the application fails
constexpr Duration kCheckLauncher = std::chrono::milliseconds{20};
constexpr Duration kLauncherDeadline = std::chrono::seconds{10};
/// Between two calls to a zone that does not answer; doubled each time.
constexpr Duration kLaunchRetry = std::chrono::milliseconds{200};
constexpr Duration kLaunchRetryMax = std::chrono::seconds{2};

}  // namespace

void Stepper::begin_launch() {
    ApplicationStatus changed = status_;
    changed.launcher_step = launcher_step_id(run_.app);
    enter(std::move(changed), ApplicationState::kLaunching, {}, phase::Launching{});
    add(effect::Advance{});
}

void Stepper::start_launcher() {
    if (is_srun(run_.app.request.launcher)) return launch_parts({});
    run_.phase = phase::AwaitingLauncher{now_.steady + kLauncherDeadline};
    add(effect::StartLauncher{});
    add(effect::CheckLauncher{});
}

void Stepper::on(const event::LauncherFailed& failed) {
    if (is_one_of<phase::AwaitingLauncher>(run_.phase)) stop(failed.reason);
}

void Stepper::on(const event::LauncherSeen& seen) {
    using Proxies = event::LauncherSeen::Proxies;
    if (!run_.must_stop.empty()) return;
    if (is_one_of<phase::GivingUpLaunch>(run_.phase)) return giving_up(seen);
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
    const auto* given_up = std::get_if<phase::GivingUpLaunch>(&run_.phase);
    if (given_up != nullptr && run_.must_stop.empty()) plan_again(ZoneFailure(given_up->failure));
}

void Stepper::launch_parts(const std::vector<std::pair<std::string, std::string>>& options) {
    phase::LaunchingParts launching{options, {}};
    for (const ApplicationPart& part : status_.parts) {
        const auto promised = run_.obligations.find(part.id);
        const Duration until =
            promised != run_.obligations.end() ? promised->second.until : now_.steady + config_.launch_window;
        launching.missing[part.id] = {until, kLaunchRetry};
        add(effect::AskZone{Question::kLaunch, part.id});
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
            add(effect::AskZone{Question::kLaunch, part.id, call.rest});
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

}  // namespace zbs
