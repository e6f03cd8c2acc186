#include "services/zone_scheduler/home/application_watch.hpp"

#include <algorithm>
#include <utility>

#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/zone_scheduler/home/application_end.hpp"
#include "services/zone_scheduler/home/result_transfer.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {
namespace {

/// A run this close to its walltime may have been ended by it.
constexpr Duration kWalltimeNear = std::chrono::seconds{10};
constexpr Duration kLongPause = std::chrono::seconds{1};

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
    apply_(run, event::OwnerChecked{});  // where it cannot be stored now, the next look does
    const StepStatus launcher = ports_.executor.status(run->app.status.launcher_step);
    apply_(run, event::Watched{launcher.state == StepStatus::State::kRunning});
    if (std::holds_alternative<phase::Watching>(run->phase))
        ports_.clock.after(ports_.config.poll_every, [this, run] { watch(run); });
}

void ApplicationWatch::measure_output(const std::shared_ptr<ApplicationRun>& run) {
    const Duration begun = ports_.clock.steady_now();
    std::uint64_t bytes = 0;
    for (const StepId& step : output_steps(run->app)) {
        for (const Executor::File& file : ports_.executor.list(step, {}))
            if (file.name.starts_with(own_files::kOut) || file.name.starts_with(own_files::kErr)) bytes += file.bytes;
    }
    apply_(run, event::OutputMeasured{bytes, ports_.clock.steady_now() - begun});
}

void ApplicationWatch::await_launcher(const std::shared_ptr<ApplicationRun>& run, const effect::AwaitLauncher& end) {
    ports_.clock.after(end.after, [this, run, end] {
        if (ports_.executor.status(run->app.status.launcher_step).state == StepStatus::State::kRunning)
            apply_(run, event::LauncherOutlives{end.zone, end.reason});
    });
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
    // A zone that is silent would use up the time of those that answer.
    std::ranges::sort(order, {}, [&run](const ApplicationPart* part) {
        return std::pair(run->silent.contains(part->id), part->ranks.front());
    });
    if (ending->next_asked >= order.size() || !wants_answers(*run)) return bring_results(run);
    const ApplicationPart& asked = *order[ending->next_asked];
    ports_.transport.part_status(
        zones_.address_of(asked.zone), asked.id,
        [this, run, zone = asked.zone, id = asked.id](const Result<PartStatus>& answer) {
            auto* now = std::get_if<phase::Ending>(&run->phase);
            if (now == nullptr) return;
            record_silence(*run, id, answer);
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
    if (run->app.request.staging.results.empty() || ports_.files == nullptr || !takes_results(run)) return finish(run);
    auto* ending = std::get_if<phase::Ending>(&run->phase);
    if (ending == nullptr) return;
    if (ending->results) return finish(run);
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
