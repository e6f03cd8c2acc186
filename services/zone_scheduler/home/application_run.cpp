// The machine of an application from its first rank to its end.
#include "services/zone_scheduler/home/application_stepper.hpp"

#include <algorithm>

#include "services/common/messages/steps/lost_machine.hpp"
#include "services/zone_scheduler/home/application_end.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"

namespace zbs {
namespace {

/// A run this close to its walltime may have been ended by it.
constexpr Duration kWalltimeNear = std::chrono::seconds{10};
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

/// Adds what `part` knows to `sum`: partial models of one run hold disjoint rows.
ApplicationModel merge_partial(const ApplicationModel& sum, const ApplicationModel& part) {
    if (sum.graph.task_count() != part.graph.task_count()) return sum;
    std::vector<double> compute(sum.graph.compute().begin(), sum.graph.compute().end());
    for (std::size_t r = 0; r < compute.size(); ++r) compute[r] = std::max(compute[r], part.graph.compute()[r]);
    std::map<std::pair<TaskIndex, TaskIndex>, TaskEdge> edges;
    for (const ApplicationModel* model : {&sum, &part}) {
        for (const TaskEdge& e : model->graph.edges()) {
            TaskEdge& edge = edges.try_emplace({e.u, e.v}, TaskEdge{e.u, e.v, 0, 0}).first->second;
            edge.bytes += e.bytes;
            edge.messages += e.messages;
        }
    }
    std::vector<TaskEdge> list;
    for (const auto& [pair, edge] : edges) list.push_back(edge);
    Result<TaskGraph> graph = TaskGraph::make(std::move(compute), std::move(list));
    ZBS_EXPECTS(graph.has_value());
    ApplicationModel merged{sum.program, false, *std::move(graph), sum.unseen};
    for (const auto& [function, calls] : part.unseen) merged.unseen[function] += calls;
    return merged;
}

}  // namespace

/// Every zone has started its part.
void Stepper::begin_to_run() {
    if (status_.state == ApplicationState::kLaunching) enter(status_, ApplicationState::kRunning, {}, phase::Started{});
    add(effect::Watch{});
}

/// A part that failed takes the application with it; a part that is silent does not.
void Stepper::state_answered(ApplicationPart& part, const Result<PartStatus>& polled) {
    record_silence(run_, part.id, polled);
    if (is_final(status_.state)) return;
    judge(part, polled);
    const bool is_unknown = !polled && polled.error().code == ErrorCode::kNotFound;
    if (!polled && !is_unknown) return;
    PartStatus answer = polled ? *polled : part.status;
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

void Stepper::poll_parts() {
    for (const ApplicationPart& part : status_.parts)
        if (!is_final(part.status.state) && run_.polled.insert(part.id).second)
            add(effect::AskZone{Question::kState, part.id});
}

void Stepper::on(const event::LauncherOutlives& part) {
    const std::optional<RankEnd> first = first_end(run_.app);
    if (first) return stop(describe(*first, place_of_rank(run_.app, first->rank)));
    const bool is_reason = ends_application(part.reason) || part.reason.starts_with(kStoppedReason);
    stop(is_reason ? part.reason : "zone " + part.zone + " lost its part: " + part.reason);
}

void Stepper::on(const event::Watched& launcher) {
    const bool is_stored = status_.state == ApplicationState::kRunning;  // that it has started
    if (is_stored && is_one_of<phase::Started>(run_.phase)) run_.phase = phase::Watching{};
    auto* watching = std::get_if<phase::Watching>(&run_.phase);
    if (watching == nullptr) return;
    if (!launcher.runs) {
        const Duration wait = needs_own_zone(run_.app.request.launcher) ? kOutputWait : kEndWait;
        run_.phase = phase::CollectingEnd{{.ended = now_.wall, .is_clean = launcher.is_clean}, now_.steady + wait};
        return collect();
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
    save(std::move(changed));
    if (is_one_of<phase::Watching>(run_.phase) || has_launcher_ended(run_.phase)) return;
    out_.save->phase = phase::Watching{};
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

/// The zone of rank 0 has the model of a clean run; after an unclean one every zone may have what its own ranks
/// counted, and knows why they ended. A part that still ends is asked again for a while.
void Stepper::collect(Duration after) {
    auto& collecting = std::get<phase::CollectingEnd>(run_.phase);
    // A zone that is silent would use up the time of those that answer.
    const auto order = [this](const ApplicationPart& part) {
        return std::pair(run_.silent.contains(part.id), part.ranks.front());
    };
    const ApplicationPart* next = nullptr;
    for (const ApplicationPart& part : status_.parts)
        if (!collecting.settled.contains(part.id) && (next == nullptr || order(part) < order(*next))) next = &part;
    if (next != nullptr && wants_answers(collecting)) {
        collecting.asked = next->id;
        return add(effect::AskZone{Question::kEnd, next->id, after});
    }
    RunEnd end = std::move(collecting.end);
    if (run_.app.request.staging.results.empty()) return conclude(std::move(end));
    run_.phase = phase::FetchingResults{std::move(end)};
    add(effect::FetchResults{});
}

/// Whether the zones still know something that home wants.
bool Stepper::wants_answers(const phase::CollectingEnd& collecting) const {
    const ApplicationRequest& request = run_.app.request;
    // Where the walltime of one zone is over first, the launcher may end with 0.
    const bool near_walltime = now_.wall - status_.history.back().at > request.walltime - kWalltimeNear;
    const bool has_folders = !request.staging.empty();  // a zone ends a job whose folder is over its bound
    // After a SIGTERM of somebody else it also ends with 0. A complete profile proves that all ranks finalized.
    const bool is_unproven = !request.profile;
    const bool is_left_alone = status_.stop_reason.empty() || status_.cancel_requested;
    const bool unclean = is_left_alone && (!collecting.end.is_clean || near_walltime || has_folders || is_unproven);
    const bool late = now_.steady >= collecting.until;
    // A part's end is reported once the output of its ranks has come home.
    const bool output = leaves_output_in_parts(request.launcher) && !late;
    const bool profile = request.profile && !(collecting.end.profile && collecting.end.profile->complete);
    // Of a cancel only whether the walltime came before it.
    return (profile || (unclean && !late) || output) && (!status_.cancel_requested || near_walltime);
}

void Stepper::end_answered(phase::CollectingEnd& collecting, ApplicationPart& part, const Result<PartStatus>& answer) {
    if (collecting.asked != part.id || collecting.settled.contains(part.id)) return;
    record_silence(run_, part.id, answer);
    if (answer) {
        part.status.state = answer->state;
        part.status.reason = answer->reason;
        part.status.exit_code = answer->exit_code;
        part.status.first_end = answer->first_end;
    }
    const bool is_settled = answer ? is_final(answer->state) : !is_passing(answer.error());
    if (!is_settled && now_.steady < collecting.until) return collect(config_.poll_every / 2);
    collecting.settled.insert(part.id);
    if (run_.app.request.profile && answer && answer->has_profile) return add(effect::AskProfile{part.id});
    collect();
}

void Stepper::on(const event::ProfileAnswered& came) {
    auto* collecting = std::get_if<phase::CollectingEnd>(&run_.phase);
    if (collecting == nullptr || collecting->asked != came.part || !collecting->settled.contains(came.part)) return;
    std::optional<ApplicationModel>& profile = collecting->end.profile;
    if (came.answer && came.answer->graph.task_count() == run_.app.request.ranks)
        profile = came.answer->complete || !profile ? *came.answer : merge_partial(*profile, *came.answer);
    collect();
}

void Stepper::on(const event::ResultsFetched& fetched) {
    auto* fetching = std::get_if<phase::FetchingResults>(&run_.phase);
    if (fetching == nullptr) return;
    RunEnd end = std::move(fetching->end);
    end.results = fetched.results;
    end.fetched = fetched.complete;
    end.is_older = fetched.is_older;
    conclude(std::move(end));
}

void Stepper::conclude(RunEnd end) {
    run_.phase = phase::Concluding{std::move(end)};
    add(effect::FindEnd{{.stopped = status_.stop_reason.empty() ? run_.must_stop : status_.stop_reason,
                         .cancelled = status_.cancel_requested ? why_cancelled(run_.app, now_.is_blocked) : ""}});
}

void Stepper::on(const event::EndFound& found) {
    auto* concluding = std::get_if<phase::Concluding>(&run_.phase);
    if (concluding == nullptr) return;
    const RunEnd& end = concluding->end;
    if (!end.profile || end.stored_profile) return store_end(end, found.end);
    concluding->found = found.end;
    // Only a run that ended by itself gives the time that the program takes.
    const StateChange& last = status_.history.back();
    const bool is_timed =
        found.end.state == ApplicationState::kCompleted && !end.is_older && last.state == ApplicationState::kRunning;
    add(effect::StoreProfile{is_timed ? std::optional(std::max(Duration{1}, end.ended - last.at)) : std::nullopt});
}

void Stepper::on(const event::ProfileStored& stored) {
    auto* concluding = std::get_if<phase::Concluding>(&run_.phase);
    if (concluding == nullptr || !concluding->found) return;
    concluding->end.stored_profile = stored.id;
    store_end(concluding->end, *std::exchange(concluding->found, std::nullopt));
}

void Stepper::store_end(const RunEnd& end, const ApplicationEnd& found) {
    ApplicationStatus changed = status_;
    for (const ApplicationPart& part : changed.parts)
        if (!is_final(part.status.state) || end.fetched.contains(part.id)) changed.releasing.push_back(part);
    changed.parts = found.parts;
    changed.exit_code = found.exit_code;
    if (end.stored_profile) changed.profile = end.stored_profile;
    if (end.results) changed.results = end.results;
    enter(std::move(changed), found.state, found.reason, phase::Over{});
    if (found.state == ApplicationState::kCompleted) add(effect::RecordKept{});
    add(effect::Release{});
}

}  // namespace zbs
