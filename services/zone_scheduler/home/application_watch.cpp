#include "services/zone_scheduler/home/application_watch.hpp"

#include <algorithm>
#include <utility>

#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/steps/lost_machine.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/zone_scheduler/home/application_end.hpp"
#include "services/zone_scheduler/home/result_transfer.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {
namespace {

constexpr Duration kStopGrace = std::chrono::seconds{1};
/// A run this close to its walltime may have been ended by it.
constexpr Duration kWalltimeNear = std::chrono::seconds{10};
constexpr Duration kEndWait = std::chrono::seconds{10};
/// The same where output comes home with the parts, from machines with agents.
constexpr Duration kOutputWait = std::chrono::minutes{2};
/// From the end of the last part to that of the launcher, which each proxy notifies over a connection of its own.
constexpr Duration kLauncherGrace = std::chrono::minutes{1};
constexpr Duration kWeighEvery = std::chrono::seconds{2};
constexpr int kWeighShare = 50;  ///< one part in so many of the time is spent on it at most
/// Of a zone that answers, and has lost what it stored.
constexpr const char* kUnknownPart = "it no longer knows the part; was the zone restored from a backup?";
constexpr Duration kLongPause = std::chrono::seconds{1};

/// For the reason of an end: the launcher's own connections say whether machines are lost, silence does not.
void record_silence(std::set<PartId>& silent, const PartId& id, const Result<PartStatus>& answer) {
    if (!answer && is_passing(answer.error()))
        silent.insert(id);
    else
        silent.erase(id);
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

void ApplicationWatch::watch(const std::shared_ptr<ApplicationRun>& run) {
    if (is_final(run->app.status.state)) return;
    if (std::holds_alternative<phase::Started>(run->phase)) run->phase = phase::Watching{};
    apply_(run, event::OwnerChecked{});  // where it cannot be stored now, the next look does
    if (run->app.status.cancel_requested && run->app.status.stop_reason.empty())
        stop(run, why_cancelled(run->app, ports_.is_blocked(run->app.owner)));
    auto* unfinished = std::get_if<phase::Unfinished>(&run->phase);
    if (unfinished == nullptr && !std::holds_alternative<phase::Watching>(run->phase)) return;
    const StepStatus status = ports_.executor.status(run->app.status.launcher_step);
    if (status.state != StepStatus::State::kRunning) {
        phase::Ending ending =
            unfinished != nullptr ? std::move(unfinished->end) : phase::Ending{.ended = ports_.clock.now()};
        ending.until = ports_.clock.steady_now() + (needs_own_zone(run->app.request.launcher) ? kOutputWait : kEndWait);
        ending.next_asked = 0;
        run->phase = std::move(ending);
        return ask_how_it_ended(run);
    }
    poll_parts(run);
    end_launcher(run);
    stop_deserted_launcher(run);
    stop_at_output_limit(run);
    ports_.clock.after(ports_.config.poll_every, [this, run] { watch(run); });
}

/// A launcher that lost the connection over which a proxy would have reported its end waits until the walltime.
void ApplicationWatch::stop_deserted_launcher(const std::shared_ptr<ApplicationRun>& run) {
    const std::vector<ApplicationPart>& parts = run->app.status.parts;
    const Duration now = ports_.clock.steady_now();
    auto* watching = std::get_if<phase::Watching>(&run->phase);
    if (watching == nullptr) return;
    std::optional<Duration>& deserted_since = watching->deserted_since;
    if (!std::all_of(parts.begin(), parts.end(), [](const auto& part) { return is_final(part.status.state); }))
        deserted_since.reset();
    else if (!deserted_since)
        deserted_since = now;
    else if (now - *deserted_since >= kLauncherGrace)
        stop(run,
             "all its processes have ended, but a connection to the MPI launcher was lost, so how they ended is not "
             "known; output may be missing");
}

/// Output lies on the zone's own disk: one job must not fill it for all.
void ApplicationWatch::stop_at_output_limit(const std::shared_ptr<ApplicationRun>& run) {
    const Duration begun = ports_.clock.steady_now();
    auto* watching = std::get_if<phase::Watching>(&run->phase);
    if (watching == nullptr || ports_.config.max_output_bytes == 0 || begun < watching->weigh_at ||
        !run->app.status.stop_reason.empty())
        return;
    std::uint64_t bytes = 0;
    for (const StepId& step : output_steps(run->app)) {
        for (const Executor::File& file : ports_.executor.list(step, {}))
            if (file.name.starts_with(own_files::kOut) || file.name.starts_with(own_files::kErr)) bytes += file.bytes;
    }
    // A folder of very many files takes its time, and others wait for it.
    watching->weigh_at =
        ports_.clock.steady_now() + std::max(kWeighEvery, kWeighShare * (ports_.clock.steady_now() - begun));
    if (bytes <= ports_.config.max_output_bytes) return;
    stop(run, "its ranks have written more than the " + std::to_string(ports_.config.max_output_bytes >> 20) +
                  " MiB of output that zone " + ports_.config.zone.name +
                  " keeps of one job; write results into files, or less");
}

/// A part that failed takes the application with it; a part that is silent does not.
void ApplicationWatch::poll_parts(const std::shared_ptr<ApplicationRun>& run) {
    for (const ApplicationPart& part : run->app.status.parts) {
        if (is_final(part.status.state) || !run->polled.insert(part.id).second) continue;
        ports_.transport.part_status(
            zones_.address_of(part.zone), part.id,
            [this, run, zone = part.zone, id = part.id](const Result<PartStatus>& answer) {
                run->polled.erase(id);
                record_silence(run->silent, id, answer);
                const Moment now{.wall = ports_.clock.now(), .steady = ports_.clock.steady_now()};
                if (const auto broken = assess(*run, zone, id, answer, now)) calls_.penalise(run, *broken);
                const bool is_unknown = !answer && answer.error().code == ErrorCode::kNotFound;
                ApplicationPart* known = find_part(run->app.status, id);
                if ((!answer && !is_unknown) || is_final(run->app.status.state) || known == nullptr) return;
                PartStatus status = answer ? *answer : known->status;
                if (is_unknown) {  // its processes may go on there, and nothing can be asked of them
                    status.state = PartState::kFailed;
                    status.reason = kUnknownPart;
                }
                part_polled(run, *known, std::move(status));
            });
    }
}

void ApplicationWatch::part_polled(const std::shared_ptr<ApplicationRun>& run, ApplicationPart& known, PartStatus now) {
    if (known.status.state != now.state)
        record_answer(*run, ports_.clock.now(), known.zone, "status", now.state == PartState::kCompleted,
                      std::string(to_string(now.state)) + (now.reason.empty() ? "" : ": " + now.reason));
    known.status.state = now.state;
    known.status.reason = now.reason;
    known.status.first_end = now.first_end;
    known.status.has_profile = now.has_profile;
    known.status.work = now.work;
    const bool lost =
        now.state == PartState::kFailed || now.state == PartState::kReleased || now.state == PartState::kExpired;
    if (lost && is_gated(run->app) && run->app.status.state == ApplicationState::kLaunching)
        return apply_(run, event::LaunchFailed{{known.zone, now.reason}});
    // While the coordinator ends by itself the parts end too, some with a code; its word comes first.
    // MPICH's mpiexec may never end after the proxy of a rank that exited early has ended.
    // At the walltime each zone ends its ranks itself; others may have time to save still.
    if ((lost || now.first_end) && !now.reason.starts_with(kWalltimeReason) && run->app.status.stop_reason.empty())
        stop_unless_it_ends(run, known.zone, now);
}

/// After MPI_Finalize of a rank that ended badly the others may have files to write.
void ApplicationWatch::stop_unless_it_ends(const std::shared_ptr<ApplicationRun>& run, const ZoneName& zone,
                                           const PartStatus& end) {
    const bool has_time = end.first_end && lets_others_end(*end.first_end);
    const Duration grace = has_time ? run->app.request.grace : Duration{0};
    ports_.clock.after(std::max(grace, ports_.config.poll_every * 2), [this, run, zone, reason = end.reason] {
        if (ports_.executor.status(run->app.status.launcher_step).state != StepStatus::State::kRunning) return;
        const std::optional<RankEnd> first = first_end(run->app);
        stop(run, first ? describe(*first, place_of_rank(run->app, first->rank))
                  : ends_application(reason) || reason.starts_with(kStoppedReason)
                      ? reason
                      : "zone " + zone + " lost its part: " + reason);
    });
}

void ApplicationWatch::stop_parts(const std::shared_ptr<ApplicationRun>& run, Duration launcher_until) {
    run->launcher_until = launcher_until;
    for (const ApplicationPart& part : std::vector<ApplicationPart>(run->app.status.parts))
        calls_.stop(run, part.zone, part.id);
    end_launcher(run);
}

/// Of an application that is being stopped: once no part runs any more, or the time of all is over.
void ApplicationWatch::end_launcher(const std::shared_ptr<ApplicationRun>& run) {
    if (!run->launcher_until) return;
    const std::vector<ApplicationPart>& parts = run->app.status.parts;
    const bool has_ended =
        std::all_of(parts.begin(), parts.end(), [](const auto& part) { return is_final(part.status.state); });
    if (!has_ended && ports_.clock.steady_now() < *run->launcher_until && !ports_.is_blocked(run->app.owner)) return;
    run->launcher_until.reset();
    if (ports_.executor.status(run->app.status.launcher_step).state != StepStatus::State::kExited)
        ports_.executor.stop(run->app.status.launcher_step, kStopGrace);
}

/// Of a run whose launcher has ended: whether the zones still know something that home wants.
bool ApplicationWatch::wants_answers(const ApplicationRun& run) const {
    const ApplicationStatus& status = run.app.status;
    const auto& ending = std::get<phase::Ending>(run.phase);
    const StepStatus launcher = ports_.executor.status(status.launcher_step);
    // Where the walltime of one zone is over first, the launcher may end with 0.
    const bool near_walltime = ports_.clock.now() - status.history.back().at > run.app.request.walltime - kWalltimeNear;
    const bool has_folders = !run.app.request.staging.empty();  // a zone ends a job whose folder is over its bound
    // After a SIGTERM of somebody else it also ends with 0. A complete profile proves that all ranks finalized.
    const bool is_unproven = !run.app.request.profile;
    const bool is_left_alone = status.stop_reason.empty() || status.cancel_requested;
    const bool unclean = is_left_alone && (launcher.state != StepStatus::State::kExited || launcher.exit_code != 0 ||
                                           near_walltime || has_folders || is_unproven);
    const bool late = ports_.clock.steady_now() >= ending.until;
    // A part's end is reported once the output of its ranks has come home.
    const bool output = leaves_output_in_parts(run.app.request.launcher) && !late;
    const bool profile = run.app.request.profile && !(ending.profile && ending.profile->complete);
    // Of a cancel only whether the walltime came before it.
    return (profile || (unclean && !late) || output) && (!status.cancel_requested || near_walltime);
}

/// After the end of the launcher: the zone of rank 0 has the model of a clean run; after an unclean one every zone
/// may have what its own ranks counted, and knows why they ended. Asks one part after the other; a part that still ends
/// is asked again for a while.
void ApplicationWatch::ask_how_it_ended(const std::shared_ptr<ApplicationRun>& run) {
    auto* ending = std::get_if<phase::Ending>(&run->phase);
    if (ending == nullptr) return;
    std::vector<const ApplicationPart*> order;
    for (const ApplicationPart& part : run->app.status.parts) order.push_back(&part);
    std::ranges::sort(order, {}, [](const ApplicationPart* part) { return part->ranks.front(); });
    if (ending->next_asked >= order.size() || !wants_answers(*run)) return bring_results(run);
    const ApplicationPart& asked = *order[ending->next_asked];
    ports_.transport.part_status(
        zones_.address_of(asked.zone), asked.id,
        [this, run, zone = asked.zone, id = asked.id](const Result<PartStatus>& answer) {
            auto* now = std::get_if<phase::Ending>(&run->phase);
            if (now == nullptr) return;
            record_silence(run->silent, id, answer);
            if (ApplicationPart* part = find_part(run->app.status, id); part != nullptr && answer) {
                part->status.state = answer->state;
                part->status.reason = answer->reason;
                part->status.exit_code = answer->exit_code;
                part->status.first_end = answer->first_end;
            }
            const bool settled = answer ? is_final(answer->state) : !is_passing(answer.error());
            if (!settled && ports_.clock.steady_now() < now->until)
                return static_cast<void>(
                    ports_.clock.after(ports_.config.poll_every / 2, [this, run] { ask_how_it_ended(run); }));
            ++now->next_asked;
            if (!run->app.request.profile || !answer || !answer->has_profile) return ask_how_it_ended(run);
            ask_profile(run, zone, id);
        });
}

void ApplicationWatch::ask_profile(const std::shared_ptr<ApplicationRun>& run, const ZoneName& zone, const PartId& id) {
    ports_.transport.part_profile(zones_.address_of(zone), id, [this, run](Result<ApplicationModel> model) {
        auto* ending = std::get_if<phase::Ending>(&run->phase);
        if (ending != nullptr && model && model->graph.task_count() == run->app.request.ranks)
            ending->profile =
                model->complete || !ending->profile ? *std::move(model) : merge_partial(*ending->profile, *model);
        ask_how_it_ended(run);
    });
}

/// Whether results are brought home at all. A cancelled program may have saved its work in its grace.
bool ApplicationWatch::takes_results(const std::shared_ptr<ApplicationRun>& run) {
    apply_(run, event::OwnerChecked{});
    return !ports_.is_blocked(run->app.owner) &&
           (!run->app.status.cancel_requested || run->app.status.state == ApplicationState::kRunning);
}

void ApplicationWatch::bring_results(const std::shared_ptr<ApplicationRun>& run) {
    auto* ending = std::get_if<phase::Ending>(&run->phase);
    if (ending == nullptr) return;
    if (run->app.request.staging.results.empty() || ending->results || ports_.files == nullptr || !takes_results(run))
        return finish(run);
    const auto begun = ports_.files->depot().list(results_shelf(run->app.request.id));
    ending->end_unknown = !begun || !begun->empty();
    const auto ended = [this, run](std::optional<StagedResults> results, const std::set<PartId>& brought) {
        if (results && !failpoint::reach(failpoint::Point::kFetchResultsBrought))
            return static_cast<void>(ports_.clock.after(kLongPause, [this, run] { bring_results(run); }));
        if (auto* now = std::get_if<phase::Ending>(&run->phase)) {
            now->results = std::move(results);
            now->brought = brought;
        }
        finish(run);
    };
    std::make_shared<ResultTransfer>(ports_, zones_, run,
                                     ResultTransfer::Callbacks{[this, run] { return takes_results(run); }, ended})
        ->begin();
}

void ApplicationWatch::finish(const std::shared_ptr<ApplicationRun>& run) {
    auto* ending = std::get_if<phase::Ending>(&run->phase);
    if (ending == nullptr) return;
    ApplicationStatus changed = run->app.status;
    ApplicationEnd end = find_end(
        ports_.config, ports_.executor, run->app, run->silent,
        {.stopped = changed.stop_reason.empty() ? run->must_stop : changed.stop_reason,
         .cancelled = changed.cancel_requested ? why_cancelled(run->app, ports_.is_blocked(run->app.owner)) : ""});
    if (ending->profile) changed.profile = store_profile(*run, *ending, end.state);
    ending->profile.reset();
    for (const ApplicationPart& part : changed.parts)
        if (!is_final(part.status.state) || ending->brought.contains(part.id)) changed.releasing.push_back(part);
    changed.parts = std::move(end.parts);
    changed.exit_code = end.exit_code;
    if (ending->results) changed.results = ending->results;
    apply_(run, event::Ended{std::move(changed), end.state, end.reason});
}

/// Its id; none where it could not be stored.
std::optional<ProfileId> ApplicationWatch::store_profile(const ApplicationRun& run, const phase::Ending& ending,
                                                         ApplicationState end) {
    const StateChange& last = run.app.status.history.back();
    // Only a run that ended by itself gives the time that the program takes.
    const bool timed =
        end == ApplicationState::kCompleted && !ending.end_unknown && last.state == ApplicationState::kRunning;
    const Profile profile =
        profiles_.of_run(ProfileId{ports_.ids.fresh(run.app.owner)}, run.app, *ending.profile,
                         timed ? std::optional(std::max(Duration{1}, ending.ended - last.at)) : std::nullopt);
    if (auto ok = ports_.store.insert(profile); !ok) {
        ports_.log.warn("profile_not_stored",
                        {{"application", to_string(run.app.request.id)}, {"reason", ok.error().message}});
        return std::nullopt;
    }
    return profile.id;
}

}  // namespace zbs
