// The machine of an application whose launcher has ended.
#include "services/zone_scheduler/home/application_steps.hpp"

#include <algorithm>

#include "services/zone_scheduler/launch/launchers.hpp"

namespace zbs {
namespace {

/// A run this close to its walltime may have been ended by it.
constexpr Duration kWalltimeNear = std::chrono::seconds{10};

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

/// The zone of rank 0 has the model of a clean run; after an unclean one every zone may have what its own ranks
/// counted, and knows why they ended. A part that still ends is asked again for a while.
void EndSteps::collect(Duration after) {
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
bool EndSteps::wants_answers(const phase::CollectingEnd& collecting) const {
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

void EndSteps::end_answered(ApplicationPart& part, const Result<PartStatus>& answer) {
    auto* collecting = std::get_if<phase::CollectingEnd>(&run_.phase);
    if (collecting == nullptr || collecting->asked != part.id || collecting->settled.contains(part.id)) return;
    record_silence(part, answer);
    if (answer) {
        part.status.state = answer->state;
        part.status.reason = answer->reason;
        part.status.exit_code = answer->exit_code;
        part.status.first_end = answer->first_end;
    }
    const bool is_settled = answer ? is_final(answer->state) : !is_passing(answer.error());
    if (!is_settled && now_.steady < collecting->until) return collect(config_.poll_every / 2);
    collecting->settled.insert(part.id);
    if (run_.app.request.profile && answer && answer->has_profile) return add(effect::AskProfile{part.id});
    collect();
}

void EndSteps::on(const event::ProfileAnswered& came) {
    auto* collecting = std::get_if<phase::CollectingEnd>(&run_.phase);
    if (collecting == nullptr || collecting->asked != came.part || !collecting->settled.contains(came.part)) return;
    std::optional<ApplicationModel>& profile = collecting->end.profile;
    if (came.answer && came.answer->graph.task_count() == run_.app.request.ranks)
        profile = came.answer->complete || !profile ? *came.answer : merge_partial(*profile, *came.answer);
    collect();
}

void EndSteps::on(const event::ResultsFetched& fetched) {
    auto* fetching = std::get_if<phase::FetchingResults>(&run_.phase);
    if (fetching == nullptr) return;
    RunEnd end = std::move(fetching->end);
    end.results = fetched.results;
    end.fetched = fetched.complete;
    end.is_older = fetched.is_older;
    conclude(std::move(end));
}

void EndSteps::conclude(RunEnd end) {
    run_.phase = phase::Concluding{std::move(end)};
    add(effect::FindEnd{{.stopped = status_.stop_reason.empty() ? run_.must_stop : status_.stop_reason,
                         .cancelled = status_.cancel_requested ? why_cancelled(run_.app, now_.is_blocked) : ""}});
}

void EndSteps::on(const event::EndFound& found) {
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

void EndSteps::on(const event::ProfileStored& stored) {
    auto* concluding = std::get_if<phase::Concluding>(&run_.phase);
    if (concluding == nullptr || !concluding->found) return;
    concluding->end.stored_profile = stored.id;
    store_end(concluding->end, *std::exchange(concluding->found, std::nullopt));
}

void EndSteps::store_end(const RunEnd& end, const ApplicationEnd& found) {
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
