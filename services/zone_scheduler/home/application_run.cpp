// The machine of an application from its first rank to its end.
#include "services/zone_scheduler/home/application_stepper.hpp"

#include <algorithm>

#include "services/common/messages/steps/lost_machine.hpp"
#include "services/zone_scheduler/home/application_end.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"

namespace zbs {
namespace {

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

/// Every zone has started its part.
void Stepper::begin_to_run() {
    if (status_.state == ApplicationState::kLaunching) enter(status_, ApplicationState::kRunning, {}, phase::Started{});
    add(effect::Watch{});
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

void Stepper::poll_parts() {
    for (const ApplicationPart& part : status_.parts)
        if (!is_final(part.status.state) && run_.polled.insert(part.id).second) add(effect::PollPart{part.id});
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

void Stepper::on(const event::Ended& ended) {
    auto* ending = std::get_if<phase::Ending>(&run_.phase);
    if (ending == nullptr) return;
    run_.phase = phase::Unfinished{phase::Ending(std::move(*ending))};
    enter(ended.changed, ended.state, ended.reason, phase::Over{});
    if (ended.state == ApplicationState::kCompleted) add(effect::RecordKept{});
    add(effect::Release{});
}

}  // namespace zbs
