// The machine of an application from its launch to the end of its launcher.
#include "services/zone_scheduler/home/application_steps.hpp"

#include <algorithm>

#include "services/common/messages/steps/lost_machine.hpp"
#include "services/zone_scheduler/home/application_end.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"

namespace zbs {
namespace {

constexpr int kMaxFailedLaunches = 3;  ///< of one zone; then the application fails
/// Of those in which one of several zones may be the one that did not start its part.
constexpr int kMaxSuspicions = 6;
/// The launcher has all proxies before the first rank begins; so long after a zone has reported the end of a rank it
/// shows them for certain.
constexpr Duration kShowsProxies = std::chrono::seconds{1};
constexpr Duration kCheckLauncher = std::chrono::milliseconds{20};
constexpr Duration kLauncherDeadline = std::chrono::seconds{10};
constexpr int kMaxSilentLaunchers = 3;  ///< in a row; the host may be busy
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

bool have_ended(const ApplicationStatus& status) {
    return std::ranges::all_of(status.parts, [](const ApplicationPart& part) { return is_final(part.status.state); });
}

}  // namespace

void RunSteps::begin_launch() {
    ApplicationStatus changed = status_;
    changed.launcher_step = launcher_step_id(run_.app);
    enter(std::move(changed), ApplicationState::kLaunching, {}, phase::Launching{});
    add(effect::Advance{});
}

void RunSteps::start_launcher() {
    if (is_srun(run_.app.request.launcher)) return launch_parts({});
    run_.phase = phase::AwaitingLauncher{now_.steady + kLauncherDeadline};
    add(effect::StartLauncher{});
    add(effect::CheckLauncher{});
}

void RunSteps::on(const event::LauncherFailed& failed) {
    if (is_one_of<phase::AwaitingLauncher>(run_.phase)) stop(failed.reason);
}

void RunSteps::on(const event::LauncherSeen& seen) {
    using Proxies = event::LauncherSeen::Proxies;
    if (!run_.must_stop.empty()) return;
    if (is_one_of<phase::GivingUpLaunch>(run_.phase)) return giving_up(seen);
    const bool is_connected = !is_gated(run_.app) || seen.proxies == Proxies::kConnected;
    if (const auto* launcher = std::get_if<phase::AwaitingLauncher>(&run_.phase)) {
        if (seen.asked && (is_connected || (seen.runs && seen.proxies == Proxies::kAwaited)))
            return launch_parts(*seen.asked);
        if (!seen.runs) return launcher_ended(seen);
        if (now_.steady > launcher->until) return launcher_silent();
        add(effect::CheckLauncher{kCheckLauncher});
    } else if (auto* proxies = std::get_if<phase::AwaitingProxies>(&run_.phase)) {
        if (is_connected) {
            run_.phase = phase::Started{};
            return begin_to_run();
        }
        if (!seen.runs) return launcher_ended(seen);
        if (proxies->early_end && now_.steady - proxies->early_end_at >= kShowsProxies)
            return launch_failed(ZoneFailure(*proxies->early_end));
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

/// No rank has begun, so the application is planned again; the zones let it go when their launch windows end.
void RunSteps::launcher_silent() {
    const std::string reason = "the MPI launcher did not ask for its proxies in " +
                               std::to_string(static_cast<int>(to_seconds(kLauncherDeadline))) + " s";
    const ZoneName none;
    run_.launch_backoff.record_failure(none, now_.steady);
    const int times = run_.launch_backoff.failures(none);
    if (times >= kMaxSilentLaunchers) return stop(reason + ", " + std::to_string(times) + " times");
    run_.phase = phase::GivingUpLaunch{{none, reason}};
    add(effect::StopLauncher{Duration{0}});
    add(effect::CheckLauncher{});
}

/// Before all parts were started.
void RunSteps::launcher_ended(const event::LauncherSeen& seen) {
    if (!is_gated(run_.app) || !seen.was_stopped) return stop(seen.end);
    run_.phase = phase::GivingUpLaunch{{{}, "the launch was given up"}};  // before home restarted
    giving_up(seen);
}

void RunSteps::giving_up(const event::LauncherSeen& seen) {
    const ZoneFailure& failure = std::get<phase::GivingUpLaunch>(run_.phase).failure;
    // Just before it was stopped: ranks may have begun.
    if (seen.proxies == event::LauncherSeen::Proxies::kConnected)
        return stop((failure.zone.empty() ? "" : "zone " + failure.zone + ": ") + failure.reason);
    if (seen.runs) return add(effect::CheckLauncher{kCheckLauncher});
    add(effect::RemoveLauncher{});
}

void RunSteps::on(const event::LauncherRemoved&) {
    const auto* given_up = std::get_if<phase::GivingUpLaunch>(&run_.phase);
    if (given_up != nullptr && run_.must_stop.empty()) PlanSteps(*this).plan_again(ZoneFailure(given_up->failure));
}

void RunSteps::launch_parts(const std::vector<std::pair<std::string, std::string>>& options) {
    phase::LaunchingParts launching{options, {}};
    for (const ApplicationPart& part : status_.parts) {
        // A zone that promises for longer does not keep the others waiting for longer.
        const auto promised = run_.obligations.find(part.id);
        const Duration most = now_.steady + config_.launch_window;
        const Duration until = promised != run_.obligations.end() ? std::min(promised->second.until, most) : most;
        launching.missing[part.id] = {until, kLaunchRetry};
        add(effect::AskZone{Question::kLaunch, part.id});
    }
    run_.phase = std::move(launching);
}

void RunSteps::launch_answered(ApplicationPart& part, const Result<PartStatus>& answer) {
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

void RunSteps::on(const event::LaunchFailed& failed) {
    if (is_one_of<phase::LaunchingParts, phase::AwaitingProxies>(run_.phase))
        launch_failed(failed.failure, failed.is_suspicion);
}

/// No rank has begun as long as the launcher waits for proxies: it is ended, and then the application is planned again
/// without the zone. Other launchers start ranks at once, and the application fails.
void RunSteps::launch_failed(const ZoneFailure& failure, bool is_suspicion) {
    const std::string reason = failure.reason.empty() ? "it gives no reason" : failure.reason;
    run_.phase = phase::GivingUpLaunch{{failure.zone, "it did not start its part: " + reason}};
    run_.launch_backoff.record_failure(failure.zone, now_.steady, is_suspicion);
    add(effect::RecordLaunchFailure{failure.zone});
    const bool is_last =
        run_.needs_all && (is_suspicion ? run_.launch_backoff.suspicions() >= kMaxSuspicions
                                        : run_.launch_backoff.proven(failure.zone) >= kMaxFailedLaunches);
    if (!is_gated(run_.app) || is_last)
        return stop("zone " + failure.zone + (is_suspicion ? ", or another one of its zones," : "") +
                    " did not start its part: " + reason);
    add(effect::StopLauncher{Duration{0}});
    add(effect::CheckLauncher{});
}

/// Every zone has started its part.
void RunSteps::begin_to_run() {
    if (status_.state == ApplicationState::kLaunching) enter(status_, ApplicationState::kRunning, {}, phase::Started{});
    add(effect::Watch{});
}

/// A part that failed takes the application with it; a part that is silent does not.
void RunSteps::state_answered(ApplicationPart& part, const Result<PartStatus>& polled) {
    record_silence(part, polled);
    if (status_.state < ApplicationState::kLaunching || is_final(status_.state)) return;
    judge(part, polled);
    const bool is_unknown = !polled && polled.error().code == ErrorCode::kNotFound;
    if (!polled && !is_unknown) return;
    PartStatus answer = polled ? *polled : part.status;
    if (answer.first_end && !std::ranges::binary_search(part.ranks, answer.first_end->rank)) answer.first_end.reset();
    if (is_unknown) {  // its processes may go on there, and nothing can be asked of them
        answer.state = PartState::kFailed;
        answer.reason = kUnknownPart;
    }
    if (part.status.state != answer.state)
        record(part, "status", answer.state == PartState::kCompleted, state_and_reason(answer));
    part.status.state = answer.state;
    part.status.reason = answer.reason;
    part.status.first_end = answer.first_end;
    part.status.has_profile = answer.has_profile;
    part.status.work = answer.work;
    const bool lost = is_final(answer.state) && answer.state != PartState::kCompleted;
    if (lost && is_gated(run_.app) && status_.state == ApplicationState::kLaunching)
        return on(event::LaunchFailed{{part.zone, answer.reason}});
    if (answer.first_end && is_gated(run_.app) &&
        is_one_of<phase::LaunchingParts, phase::AwaitingProxies, phase::GivingUpLaunch>(run_.phase))
        return ended_early(part, *answer.first_end);
    // While the launcher ends by itself the parts end too, some with a code; its word comes first.
    // MPICH's mpiexec may never end after the proxy of a rank that exited early has ended.
    // At the walltime each zone ends its ranks itself; others may have time to save still.
    if ((!lost && !answer.first_end) || answer.reason.starts_with(kWalltimeReason) || !status_.stop_reason.empty())
        return;
    // After MPI_Finalize of a rank that ended badly the others may have files to write.
    const bool has_time = answer.first_end && lets_others_end(*answer.first_end);
    const Duration grace = has_time ? run_.app.request.grace : Duration{0};
    add(effect::AwaitLauncher{std::max(grace, config_.poll_every * 2), part.zone, answer.reason});
}

/// The launcher may have its proxies since it was looked at. Where it has not, no rank has begun, and the zone lies.
void RunSteps::ended_early(const ApplicationPart& part, const RankEnd& end) {
    auto* const proxies = std::get_if<phase::AwaitingProxies>(&run_.phase);
    if (proxies == nullptr || proxies->early_end) return;
    proxies->early_end = {part.zone,
                          "it says that rank " + std::to_string(end.rank) + " has ended, and none has begun"};
    proxies->early_end_at = now_.steady;
}

void RunSteps::poll_parts() {
    for (const ApplicationPart& part : status_.parts)
        if (!is_final(part.status.state) && run_.polled.insert(part.id).second)
            add(effect::AskZone{Question::kState, part.id});
}

void RunSteps::on(const event::LauncherOutlives& part) {
    const std::optional<RankEnd> first = first_end(run_.app);
    if (first) return stop(describe(*first, place_of_rank(run_.app, first->rank)));
    const bool is_reason = ends_application(part.reason) || part.reason.starts_with(kStoppedReason);
    stop(is_reason ? part.reason : "zone " + part.zone + " lost its part: " + part.reason);
}

void RunSteps::on(const event::Watched& launcher) {
    const bool is_stored = status_.state == ApplicationState::kRunning;  // that it has started
    if (is_stored && is_one_of<phase::Started>(run_.phase)) run_.phase = phase::Watching{};
    auto* watching = std::get_if<phase::Watching>(&run_.phase);
    if (watching == nullptr) return;
    if (!launcher.runs) {
        const Duration wait = needs_own_zone(run_.app.request.launcher) ? kOutputWait : kEndWait;
        run_.phase = phase::CollectingEnd{{.ended = now_.wall, .is_clean = launcher.is_clean}, now_.steady + wait};
        return EndSteps(*this).collect();
    }
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
void RunSteps::on(const event::OutputMeasured& output) {
    auto* watching = std::get_if<phase::Watching>(&run_.phase);
    if (watching == nullptr) return;
    // A folder of very many files takes its time, and others wait for it.
    watching->weigh_at = now_.steady + std::max(kWeighEvery, kWeighShare * output.took);
    if (output.bytes <= config_.max_output_bytes) return;
    stop("its ranks have written more than the " + std::to_string(config_.max_output_bytes >> 20) +
         " MiB of output that zone " + config_.zone.name + " keeps of one job; write results into files, or less");
}

/// Where it cannot be stored now, `must_stop` stays.
void RunSteps::stop(const std::string& reason) {
    if (status_.state < ApplicationState::kLaunching || is_final(status_.state) || !status_.stop_reason.empty()) return;
    if (run_.must_stop.empty()) run_.must_stop = reason;
    ApplicationStatus changed = status_;
    changed.stop_reason = run_.must_stop;
    stop_parts(changed);
    save(std::move(changed));
    if (is_one_of<phase::Watching>(run_.phase) || has_launcher_ended(run_.phase)) return;
    out_.save->phase = phase::Watching{};
    add(effect::Watch{});
}

/// The launcher ends all ranks at once when it is stopped, and by itself when they have ended.
void RunSteps::stop_parts(const ApplicationStatus& status) {
    const bool has_time = status.cancel_requested && status.state == ApplicationState::kRunning && !now_.is_blocked;
    run_.launcher_until = now_.steady + (has_time ? run_.app.request.grace + kEndSlack : Duration{0});
    add(effect::StopParts{});
    end_launcher();
}

/// Of an application that is being stopped: once no part runs any more, or the time of all is over.
void RunSteps::end_launcher() {
    if (!run_.launcher_until || (!have_ended(status_) && now_.steady < *run_.launcher_until && !now_.is_blocked))
        return;
    run_.launcher_until.reset();
    add(effect::StopLauncher{kStopGrace});
}

}  // namespace zbs
