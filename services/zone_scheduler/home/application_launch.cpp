// ApplicationService from `committed` to its end: launcher, parts, watch, stop, profile.
#include <algorithm>
#include <set>
#include <tuple>

#include "algorithms/model/task_graph.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/zone_scheduler/home/application_end.hpp"
#include "services/zone_scheduler/home/application_run.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"

namespace zbs {
namespace {

constexpr Duration kCoordinatorCheck = std::chrono::milliseconds{20};
constexpr Duration kCoordinatorDeadline = std::chrono::seconds{10};
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
/// Between two calls to a zone that does not answer; doubled each time.
constexpr Duration kLaunchRetry = std::chrono::milliseconds{200};
constexpr Duration kLaunchRetryMax = std::chrono::seconds{2};
constexpr int kMaxFailedLaunches = 3;             ///< then the application fails
constexpr std::size_t kMaxLauncherFiles = 1'000;  ///< of a launcher that has started nothing; it leaves a handful
/// Of a zone that answers, and has lost what it stored.
constexpr const char* kUnknownPart = "it no longer knows the part; was the zone restored from a backup?";
constexpr std::size_t kMaxLauncherOutput = 4 * 1024 * 1024;

ApplicationPart* find_part(ApplicationStatus& status, const PartId& id) {
    const auto at = std::ranges::find(status.parts, id, &ApplicationPart::id);
    return at == status.parts.end() ? nullptr : &*at;
}

/// For the reason of an end: the launcher's own connections say whether machines are lost, silence does not.
void record_silence(std::set<PartId>& silent, const PartId& id, const Result<PartStatus>& answer) {
    if (!answer && is_passing(answer.error()))
        silent.insert(id);
    else
        silent.erase(id);
}

/// The first line that says something, for a reason that fits on one line.
std::string first_line(const std::string& text) {
    std::size_t begin = text.find_first_not_of(" \n=");
    if (begin == std::string::npos) return {};
    return text.substr(begin, std::min(text.find('\n', begin), begin + 200) - begin);
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

void ApplicationService::start_coordinator(const std::shared_ptr<Run>& run) {
    if (run->app.status.state == ApplicationState::kCommitted) {
        ApplicationStatus changed = run->app.status;
        changed.launcher_step = launcher_step_id(run->app);
        if (!enter(run, std::move(changed), ApplicationState::kLaunching)) return;
    }
    if (is_srun(run->app.request.launcher)) {
        run->launching = true;
        return launch_parts(run, {});
    }
    StepSpec step = launcher_step(ports_.config, run->app);
    if (ports_.account_of) {
        Result<AccountName> account = ports_.account_of(run->app.owner);
        if (!account) return stop(run, account.error().message);
        step.account = *std::move(account);
    }
    run->deadline = ports_.clock.steady_now() + kCoordinatorDeadline;
    Result<void> started = ports_.executor.start(step);
    if (started) started = failpoint::reach(failpoint::Point::kHomeLauncherStarted);
    if (!started) return stop(run, "the MPI launcher could not be started: " + started.error().message);
    run->launching = true;
    await_coordinator(run);
}

/// Before all parts were started.
void ApplicationService::launcher_ended(const std::shared_ptr<Run>& run, const StepStatus& end) {
    if (is_gated(*run) && end.reason.starts_with(kStepStoppedReason)) {  // home restarted while it gave a launch up
        run->failed_zone = {};
        run->failed_reason = "the launch was given up";
        return end_launch(run);
    }
    const Result<std::string> fault =
        ports_.executor.read(run->app.status.launcher_step, std::string(own_files::kStderr), 0, kMaxOfErrors);
    std::string words = fault ? mpich::own_fault(*fault) : std::string{};
    if (words.empty() && fault) words = first_line(*fault);
    if (words.empty()) words = end.reason;
    stop(run, "the MPI launcher ended with " +
                  (is_signal(end.exit_code) ? "signal " + std::to_string(end.exit_code - 128)
                                            : "code " + std::to_string(end.exit_code)) +
                  (words.empty() ? "" : ": " + words));
}

void ApplicationService::await_coordinator(const std::shared_ptr<Run>& run) {
    if (is_final(run->app.status.state) || !run->must_stop.empty()) return;
    const StepId& step_id = run->app.status.launcher_step;
    const Result<std::string> text =
        ports_.executor.read(step_id, launcher_commands(run->app.request.launcher), 0, kMaxLauncherOutput);
    const Result<mpich::LaunchLines> lines =
        read_launcher(run->app, text ? std::string_view(*text) : std::string_view{});
    if (!lines) return stop(run, lines.error().message);
    const StepStatus status = ports_.executor.status(step_id);
    const bool is_running = status.state == StepStatus::State::kRunning;
    if (lines->done && (!is_gated(*run) || status.proxies == StepStatus::Proxies::kConnected ||
                        (is_running && status.proxies == StepStatus::Proxies::kAwaited)))
        return launch_parts(run, lines->options);
    if (!is_running) return launcher_ended(run, status);
    if (ports_.clock.steady_now() > run->deadline)
        return stop(run, "the MPI launcher did not ask for its proxies in time");
    later(run, kCoordinatorCheck, &ApplicationService::await_coordinator);
}

/// One call of home, repeated under the same ids until it is answered.
struct ApplicationService::PartLaunch {
    std::shared_ptr<Run> run;
    PartId part;
    LaunchRequest request;
    Duration until;  ///< steady time: end of the zone's launch window, as far as home knows
    Duration rest = kLaunchRetry;
};

void ApplicationService::launch_parts(const std::shared_ptr<Run>& run, const mpich::Options& options) {
    run->pending = static_cast<int>(run->app.status.parts.size());
    const std::vector<LaunchProxy> proxies = launch_proxies(run->app);
    const ApplicationRequest& asked = run->app.request;
    // The library's ranks meet at MPI_Init and at MPI_Finalize: all of them have it, or none.
    // Under Open MPI's launcher it records nothing: it ends ranks of MPICH, each of which would run alone.
    const bool can_profile = can_be_profiled(asked.launcher);
    const bool preload = (can_profile || asked.launcher == Launcher::kOpenMpi) &&
                         std::all_of(run->app.status.parts.begin(), run->app.status.parts.end(),
                                     [](const ApplicationPart& part) { return part.status.can_profile; });
    for (const ApplicationPart& part : run->app.status.parts) {
        LaunchRequest request{.token = part.status.token,
                              .operation = launch_operation(part.id),
                              .options = options,
                              .profile = preload && can_profile && asked.profile,
                              .preload = preload};
        request.launcher = asked.launcher;
        if (is_srun(asked.launcher)) request.program = program_of_ranks(asked);
        for (const LaunchProxy& proxy : proxies) {
            if (proxy.zone == part.zone) request.proxies.push_back({proxy.id, proxy.machine});
        }
        const auto promised = run->obligations.find(part.id);
        const Duration until = promised != run->obligations.end()
                                   ? promised->second.until
                                   : ports_.clock.steady_now() + ports_.config.launch_window;
        launch_part(std::make_shared<PartLaunch>(PartLaunch{run, part.id, std::move(request), until}));
    }
}

void ApplicationService::launch_part(const std::shared_ptr<PartLaunch>& launch) {
    const ApplicationPart* part = find_part(launch->run->app.status, launch->part);
    if (part == nullptr || launch->run->launch_given_up) return;
    ports_.transport.launch_part(zones_.address_of(part->zone), part->id, launch->request,
                                 [this, launch](const Result<PartStatus>& answer) { launch_answered(launch, answer); });
}

void ApplicationService::launch_answered(const std::shared_ptr<PartLaunch>& launch, const Result<PartStatus>& came) {
    const std::shared_ptr<Run>& run = launch->run;
    const Result<void> reached = failpoint::reach(failpoint::Point::kHomeLaunchAnswered);
    const Result<PartStatus> answer = reached ? came : Result<PartStatus>(reached.error());
    ApplicationPart* part = find_part(run->app.status, launch->part);
    if (run->app.status.state != ApplicationState::kLaunching || part == nullptr || run->launch_given_up) return;
    const bool is_stopping = !run->app.status.stop_reason.empty();
    if (!answer && is_passing(answer.error()) && ports_.clock.steady_now() < launch->until && !is_stopping) {
        ports_.clock.after(launch->rest,
                           [this, launch] { launch_part(launch); });  // same operation: nothing starts twice
        launch->rest = std::min(launch->rest * 2, kLaunchRetryMax);
        return;
    }
    if (answer) part->status.state = answer->state;
    const bool good = answer && (answer->state == PartState::kRunning || answer->state == PartState::kCompleted);
    record_answer(*run, ports_.clock.now(), part->zone, "launch", good,
                  answer ? std::string(to_string(answer->state)) + (answer->reason.empty() ? "" : ": " + answer->reason)
                         : answer.error().message);
    if (good)
        record_promise(run, part->id, {}, *answer);
    else
        assess(run, part->zone, part->id, answer);
    if (!good) return launch_failed(run, part->zone, answer ? answer->reason : answer.error().message);
    if (--run->pending > 0 || is_stopping) return;
    run->deadline = ports_.clock.steady_now() + ports_.config.launch_window;
    run->polled = ports_.clock.steady_now();
    await_proxies(run);
}

/// Whether no rank begins before all proxies have connected to the launcher.
bool ApplicationService::is_gated(const Run& run) { return run.app.request.launcher == Launcher::kMpich; }

/// Every zone says that it has started its part. The launcher learns by itself when all proxies are there.
void ApplicationService::await_proxies(const std::shared_ptr<Run>& run) {
    if (run->app.status.state != ApplicationState::kLaunching || !run->app.status.stop_reason.empty() ||
        run->launch_given_up)
        return;
    const StepStatus launcher = ports_.executor.status(run->app.status.launcher_step);
    if (!is_gated(*run) || launcher.proxies == StepStatus::Proxies::kConnected) {
        run->launched = true;
        return begin_to_run(run);
    }
    if (launcher.state != StepStatus::State::kRunning) return launcher_ended(run, launcher);
    const Duration now = ports_.clock.steady_now();
    if (now > run->deadline) {
        const std::string seconds = std::to_string(static_cast<int>(to_seconds(ports_.config.launch_window)));
        return launch_failed(
            run, suspect(*run),
            "it says that its part runs, but not all proxies have connected to the MPI launcher in " + seconds + " s");
    }
    if (now - run->polled >= ports_.config.poll_every) {
        run->polled = now;
        poll_parts(run);
    }
    later(run, kCoordinatorCheck, &ApplicationService::await_proxies);
}

/// The zone that most likely has not started what it says: the one that failed most starts before, else one of another
/// organisation.
ZoneName ApplicationService::suspect(const Run& run) const {
    const auto doubt = [this](const ApplicationPart& part) {
        const ServiceAddress address = zones_.address_of(part.zone);
        return std::tuple(backoff_.failures(part.zone), address.who.organisation != ports_.config.organisation,
                          part.zone != ports_.config.zone.name);
    };
    return std::ranges::max(run.app.status.parts, {}, doubt).zone;
}

/// No rank has begun as long as the launcher waits for proxies: it is ended, and then the application is planned again
/// without the zone. Other launchers start ranks at once, and the application fails.
void ApplicationService::launch_failed(const std::shared_ptr<Run>& run, const ZoneName& zone,
                                       const std::string& reason) {
    if (run->app.status.state != ApplicationState::kLaunching || run->launch_given_up) return;
    run->launch_given_up = true;
    run->failed_zone = zone;
    run->failed_reason = "it did not start its part: " + reason;
    for (ZoneBackoff* backoff : {&backoff_, &run->launch_backoff})
        backoff->record_failure(zone, ports_.clock.steady_now());
    if (!is_gated(*run) || (run->needs_all && run->launch_backoff.failures(zone) >= kMaxFailedLaunches))
        return stop(run, "zone " + zone + " did not start its part: " + reason);
    ports_.executor.stop(run->app.status.launcher_step, Duration{0});
    end_launch(run);
}

void ApplicationService::end_launch(const std::shared_ptr<Run>& run) {
    if (run->app.status.state != ApplicationState::kLaunching || !run->app.status.stop_reason.empty()) return;
    const StepStatus launcher = ports_.executor.status(run->app.status.launcher_step);
    if (launcher.proxies == StepStatus::Proxies::kConnected)  // just before it was stopped: ranks may have begun
        return stop(run, "zone " + run->failed_zone + ": " + run->failed_reason);
    if (launcher.state == StepStatus::State::kRunning)
        return later(run, kCoordinatorCheck, &ApplicationService::end_launch);
    static_cast<void>(ports_.executor.remove(run->app.status.launcher_step, kMaxLauncherFiles));
    plan_again(run, run->failed_zone, run->failed_reason);
}

/// Every zone has started its part. Where that cannot be stored now, `advance` comes back here.
void ApplicationService::begin_to_run(const std::shared_ptr<Run>& run) {
    if (run->app.status.state == ApplicationState::kLaunching && !enter(run, ApplicationState::kRunning)) return;
    watch(run);
}

void ApplicationService::watch(const std::shared_ptr<Run>& run) {
    if (is_final(run->app.status.state)) return;
    run->watching = true;
    run->launching = false;
    static_cast<void>(cancel_if_blocked(run));  // where it cannot be stored now, the next look does
    if (run->app.status.cancel_requested && run->app.status.stop_reason.empty()) stop(run, why_cancelled(run));
    const StepStatus status = ports_.executor.status(run->app.status.launcher_step);
    if (status.state != StepStatus::State::kRunning) {
        run->deadline =
            ports_.clock.steady_now() + (needs_own_zone(run->app.request.launcher) ? kOutputWait : kEndWait);
        run->next_asked = 0;
        if (!run->ended) run->ended = ports_.clock.now();
        return ask_how_it_ended(run);
    }
    poll_parts(run);
    end_launcher(run);
    stop_deserted_launcher(run);
    stop_at_output_limit(run);
    later(run, ports_.config.poll_every, &ApplicationService::watch);
}

/// A launcher that lost the connection over which a proxy would have reported its end waits until the walltime.
void ApplicationService::stop_deserted_launcher(const std::shared_ptr<Run>& run) {
    const std::vector<ApplicationPart>& parts = run->app.status.parts;
    const Duration now = ports_.clock.steady_now();
    if (!std::all_of(parts.begin(), parts.end(), [](const auto& part) { return is_final(part.status.state); }))
        run->deserted_since.reset();
    else if (!run->deserted_since)
        run->deserted_since = now;
    else if (now - *run->deserted_since >= kLauncherGrace)
        stop(run,
             "all its processes have ended, but a connection to the MPI launcher was lost, so how they ended is not "
             "known; output may be missing");
}

/// Output lies on the zone's own disk: one job must not fill it for all.
void ApplicationService::stop_at_output_limit(const std::shared_ptr<Run>& run) {
    const Duration begun = ports_.clock.steady_now();
    if (ports_.config.max_output_bytes == 0 || begun < run->weigh_at || !run->app.status.stop_reason.empty()) return;
    std::uint64_t bytes = 0;
    for (const StepId& step : output_steps(run->app)) {
        for (const Executor::File& file : ports_.executor.list(step, {}))
            if (file.name.starts_with(own_files::kOut) || file.name.starts_with(own_files::kErr)) bytes += file.bytes;
    }
    // A folder of very many files takes its time, and others wait for it.
    run->weigh_at =
        ports_.clock.steady_now() + std::max(kWeighEvery, kWeighShare * (ports_.clock.steady_now() - begun));
    if (bytes <= ports_.config.max_output_bytes) return;
    stop(run, "its ranks have written more than the " + std::to_string(ports_.config.max_output_bytes >> 20) +
                  " MiB of output that zone " + ports_.config.zone.name +
                  " keeps of one job; write results into files, or less");
}

/// A part that failed takes the application with it; a part that is silent does not.
void ApplicationService::poll_parts(const std::shared_ptr<Run>& run) {
    for (const ApplicationPart& part : run->app.status.parts) {
        if (run->asked.contains(part.id) || is_final(part.status.state)) continue;
        run->asked.insert(part.id);
        ports_.transport.part_status(
            zones_.address_of(part.zone), part.id,
            [this, run, zone = part.zone, id = part.id](Result<PartStatus> answer) {
                run->asked.erase(id);
                record_silence(run->silent, id, answer);
                assess(run, zone, id, answer);
                const bool is_unknown = !answer && answer.error().code == ErrorCode::kNotFound;
                if ((!answer && !is_unknown) || is_final(run->app.status.state)) return;
                for (ApplicationPart& known : run->app.status.parts) {
                    if (known.id != id) continue;
                    if (is_unknown) {  // its processes may go on there, and nothing can be asked of them
                        PartStatus gone = known.status;
                        gone.state = PartState::kFailed;
                        gone.reason = kUnknownPart;
                        answer = std::move(gone);
                    }
                    if (known.status.state != answer->state)
                        record_answer(*run, ports_.clock.now(), known.zone, "status",
                                      answer->state == PartState::kCompleted,
                                      std::string(to_string(answer->state)) +
                                          (answer->reason.empty() ? "" : ": " + answer->reason));
                    known.status.state = answer->state;
                    known.status.reason = answer->reason;
                    known.status.first_end = answer->first_end;
                    known.status.has_profile = answer->has_profile;
                    known.status.work = answer->work;
                    const bool lost = answer->state == PartState::kFailed || answer->state == PartState::kReleased ||
                                      answer->state == PartState::kExpired;
                    if (lost && is_gated(*run) && run->app.status.state == ApplicationState::kLaunching) {
                        launch_failed(run, zone, answer->reason);
                        return;
                    }
                    // While the coordinator ends by itself the parts end too, some with a code; its word comes first.
                    // MPICH's mpiexec may never end after the proxy of a rank that exited early has ended.
                    // At the walltime each zone ends its ranks itself; others may have time to save still.
                    // After MPI_Finalize of a rank that ended badly the others may have files to write.
                    if ((lost || answer->first_end) && !answer->reason.starts_with(kWalltimeReason) &&
                        run->app.status.stop_reason.empty()) {
                        const bool has_time = answer->first_end && lets_others_end(*answer->first_end);
                        const Duration grace = has_time ? run->app.request.grace : Duration{0};
                        ports_.clock.after(std::max(grace, ports_.config.poll_every * 2), [this, run, zone = known.zone,
                                                                                           reason = answer->reason] {
                            if (ports_.executor.status(run->app.status.launcher_step).state !=
                                StepStatus::State::kRunning)
                                return;
                            const std::optional<RankEnd> first = first_end(run->app);
                            stop(run, first ? describe(*first, place_of_rank(run->app, first->rank))
                                      : ends_application(reason) || reason.starts_with(kStoppedReason)
                                          ? reason
                                          : "zone " + zone + " lost its part: " + reason);
                        });
                    }
                }
            });
    }
}

void ApplicationService::stop(const std::shared_ptr<Run>& run, const std::string& reason) {
    if (is_final(run->app.status.state) || !run->app.status.stop_reason.empty()) return;
    if (run->must_stop.empty()) run->must_stop = reason;  // where it cannot be stored now, `advance` comes back here
    ApplicationStatus changed = run->app.status;
    changed.stop_reason = run->must_stop;
    if (!save(run, std::move(changed))) return;
    ports_.log.info("application_stopping", {{"application", to_string(run->app.request.id)}, {"reason", reason}});
    stop_everything(run);
}

void ApplicationService::stop_everything(const std::shared_ptr<Run>& run) {
    // The launcher ends all ranks at once when it is stopped, and by itself when they have ended.
    const bool has_time = run->app.status.cancel_requested && run->app.status.state == ApplicationState::kRunning &&
                          !ports_.is_blocked(run->app.owner);
    run->launcher_until = ports_.clock.steady_now() + (has_time ? run->app.request.grace + kEndSlack : Duration{0});
    for (const ApplicationPart& part : run->app.status.parts) stop_part(run, part.zone, part.id);
    end_launcher(run);
    if (!run->watching) watch(run);
}

/// A zone that is away for a while signals its ranks when it is back, if the launcher still runs then.
void ApplicationService::stop_part(const std::shared_ptr<Run>& run, const ZoneName& zone, const PartId& id) {
    ports_.transport.release_part(zones_.address_of(zone), id, run->app.status.stop_reason.substr(0, kMaxReason),
                                  [this, run, zone, id](const Result<PartStatus>& answer) {
                                      if (answer || !is_passing(answer.error())) return;
                                      ports_.clock.after(ports_.config.poll_every, [this, run, zone, id] {
                                          const bool is_over = !run->launcher_until || is_final(run->app.status.state);
                                          if (!is_over && ports_.clock.steady_now() < *run->launcher_until)
                                              stop_part(run, zone, id);
                                      });
                                  });
}

/// Of an application that is being stopped: once no part runs any more, or the time of all is over.
void ApplicationService::end_launcher(const std::shared_ptr<Run>& run) {
    if (!run->launcher_until) return;
    const std::vector<ApplicationPart>& parts = run->app.status.parts;
    const bool has_ended =
        std::all_of(parts.begin(), parts.end(), [](const auto& part) { return is_final(part.status.state); });
    if (!has_ended && ports_.clock.steady_now() < *run->launcher_until && !ports_.is_blocked(run->app.owner)) return;
    run->launcher_until.reset();
    if (ports_.executor.status(run->app.status.launcher_step).state != StepStatus::State::kExited)
        ports_.executor.stop(run->app.status.launcher_step, kStopGrace);
}

/// After the end of the coordinator: the zone of rank 0 has the model of a clean run; after an unclean one every zone
/// may have what its own ranks counted, and knows why they ended. Asks one part after the other; a part that still ends
/// is asked again for a while.
void ApplicationService::ask_how_it_ended(const std::shared_ptr<Run>& run) {
    const ApplicationStatus& status = run->app.status;
    if (is_final(status.state)) return;
    std::vector<const ApplicationPart*> order;
    for (const ApplicationPart& part : status.parts) order.push_back(&part);
    std::sort(order.begin(), order.end(),
              [](const ApplicationPart* a, const ApplicationPart* b) { return a->ranks.front() < b->ranks.front(); });
    const StepStatus launcher = ports_.executor.status(status.launcher_step);
    // Where the walltime of one zone is over first, the launcher may end with 0.
    const bool near_walltime =
        ports_.clock.now() - status.history.back().at > run->app.request.walltime - kWalltimeNear;
    const bool has_folders = !run->app.request.staging.empty();  // a zone ends a job whose folder is over its bound
    // After a SIGTERM of somebody else it also ends with 0. A complete profile proves that all ranks finalized.
    const bool is_unproven = !run->app.request.profile;
    const bool is_left_alone = status.stop_reason.empty() || status.cancel_requested;
    const bool unclean = is_left_alone && (launcher.state != StepStatus::State::kExited || launcher.exit_code != 0 ||
                                           near_walltime || has_folders || is_unproven);
    const bool late = ports_.clock.steady_now() >= run->deadline;
    // A part's end is reported once the output of its ranks has come home.
    const bool output = leaves_output_in_parts(run->app.request.launcher) && !late;
    const bool profile = run->app.request.profile && !(run->profile && run->profile->complete);
    const bool wanted = profile || (unclean && !late) || output;
    // Of a cancel only whether the walltime came before it.
    if (!wanted || run->next_asked >= order.size() || (status.cancel_requested && !near_walltime))
        return bring_results(run);
    const ApplicationPart& part = *order[run->next_asked];
    ports_.transport.part_status(
        zones_.address_of(part.zone), part.id,
        [this, run, zone = part.zone, id = part.id](const Result<PartStatus>& answer) {
            record_silence(run->silent, id, answer);
            for (ApplicationPart& known : run->app.status.parts) {
                if (known.id == id && answer) {
                    known.status.state = answer->state;
                    known.status.reason = answer->reason;
                    known.status.exit_code = answer->exit_code;
                    known.status.first_end = answer->first_end;
                }
            }
            const bool settled = answer ? is_final(answer->state) : !is_passing(answer.error());
            if (!settled && ports_.clock.steady_now() < run->deadline)
                return later(run, ports_.config.poll_every / 2, &ApplicationService::ask_how_it_ended);
            ++run->next_asked;
            if (!run->app.request.profile || !answer || !answer->has_profile) return ask_how_it_ended(run);
            ports_.transport.part_profile(zones_.address_of(zone), id, [this, run](Result<ApplicationModel> model) {
                if (model && model->graph.task_count() == run->app.request.ranks) {
                    run->profile =
                        model->complete || !run->profile ? *std::move(model) : merge_partial(*run->profile, *model);
                }
                ask_how_it_ended(run);
            });
        });
}

void ApplicationService::finish(const std::shared_ptr<Run>& run) {
    if (is_final(run->app.status.state)) return;
    run->watching = false;
    ApplicationStatus changed = run->app.status;
    ApplicationEnd end = find_end(ports_.config, ports_.executor, run->app, run->silent,
                                  {.stopped = changed.stop_reason.empty() ? run->must_stop : changed.stop_reason,
                                   .cancelled = changed.cancel_requested ? why_cancelled(run) : ""});
    if (run->profile) changed.profile = store_profile(run, end.state);
    for (const ApplicationPart& part : changed.parts)
        if (!is_final(part.status.state) || run->brought.contains(part.id)) changed.releasing.push_back(part);
    changed.parts = std::move(end.parts);
    changed.exit_code = end.exit_code;
    if (run->results) changed.results = run->results;
    if (!enter(run, std::move(changed), end.state, end.reason)) return;
    if (end.state == ApplicationState::kCompleted) record_kept(run);
    release(run);
}

/// Its id; none where it could not be stored.
std::optional<ProfileId> ApplicationService::store_profile(const std::shared_ptr<Run>& run, ApplicationState end) {
    const StateChange& last = run->app.status.history.back();
    // Only a run that ended by itself gives the time that the program takes.
    const bool timed =
        end == ApplicationState::kCompleted && !run->end_unknown && last.state == ApplicationState::kRunning;
    const Profile profile = profiles_.of_run(
        ProfileId{ports_.ids.fresh(run->app.owner)}, run->app, *std::exchange(run->profile, std::nullopt),
        timed ? std::optional(std::max(Duration{1}, run->ended.value_or(ports_.clock.now()) - last.at)) : std::nullopt);
    if (auto ok = ports_.store.insert(profile); !ok) {
        ports_.log.warn("profile_not_stored",
                        {{"application", to_string(run->app.request.id)}, {"reason", ok.error().message}});
        return std::nullopt;
    }
    return profile.id;
}

}  // namespace zbs
