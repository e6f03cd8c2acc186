#include "services/zone_scheduler/domain/application_service.hpp"

#include <algorithm>

#include "algorithms/model/task_graph.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/domain/peer_service.hpp"

namespace zbs {
namespace {

constexpr Duration kWaitForProcessors = std::chrono::seconds{1};
constexpr Duration kStoreRetry = std::chrono::seconds{1};
constexpr Duration kCoordinatorLook = std::chrono::milliseconds{20};
constexpr Duration kCoordinatorDeadline = std::chrono::seconds{10};
constexpr Duration kStopGrace = std::chrono::seconds{2};
constexpr Duration kProfileWait = std::chrono::seconds{4};
constexpr Duration kReleaseRetry = std::chrono::seconds{1};
constexpr Duration kReleaseRetryMax = std::chrono::seconds{30};
constexpr int kLaunchTries = 3;
constexpr std::size_t kMaxReason = 1'000;
constexpr std::size_t kMaxLauncherOutput = 4 * 1024 * 1024;

bool is_passing(const Error& error) {
    return error.code == ErrorCode::kTimeout || error.code == ErrorCode::kUnavailable;
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
    return {sum.program, false, *std::move(graph)};
}

}  // namespace

/// One application at work. What is not in `app` can be lost without harm.
struct ApplicationService::Run {
    Application app;
    std::optional<ApplicationModel> model;
    std::set<std::string> excluded;  // zones that refused in this series of plans
    int round = 1;
    int pending = 0;  // answers outstanding in this phase
    std::string failed_zone, failed_reason;
    std::map<PartId, int> tries;
    Duration deadline{};    // steady time
    bool busy = false;      // a phase with outstanding answers is under way
    bool watching = false;  // the loop watch -> collect_profile -> finish is under way
    bool releasing = false;
    Duration release_retry = kReleaseRetry;
    std::set<PartId> asked;      // part_status outstanding
    std::size_t profile_at = 0;  // next part to ask for a profile
    std::optional<ApplicationModel> profile;
};

ApplicationService::ApplicationService(const ZoneConfig& config, Clock& clock, IdSource& ids, ZoneStore& store,
                                       Executor& executor, ZoneTransport& transport, PeerService& peers, Log& log)
    : config_(config),
      clock_(clock),
      ids_(ids),
      store_(store),
      executor_(executor),
      transport_(transport),
      peers_(peers),
      log_(log),
      jitter_(static_cast<std::uint64_t>(to_microseconds(clock.now())) ^ std::hash<std::string>{}(config.zone.name)) {}

Result<void> ApplicationService::resume() {
    Result<std::vector<Application>> known = store_.load_applications();
    if (!known) return known.error();
    for (Application& application : *known) {
        auto run = std::make_shared<Run>();
        run->app = std::move(application);
        runs_.emplace(run->app.request.id, run);
        const ApplicationState state = run->app.status.state;
        if (!is_final(state))
            log_.info("application_resumed",
                      {{"application", to_string(run->app.request.id)}, {"state", to_string(state)}});
        if (state == ApplicationState::kPlanned) {
            // What was held under this plan is unknown: give it back and plan afresh.
            plan_again(run, {}, "the home zone restarted");
        } else if (!is_final(state) || !run->app.status.releasing.empty()) {
            later(run, Duration{0}, &ApplicationService::advance);
        }
    }
    return {};
}

Result<Application> ApplicationService::submit(const Caller& caller, const ApplicationRequest& request) {
    if (caller.kind == CallerKind::kAnonymous)
        return Error{ErrorCode::kUnauthenticated, "say who you are: no identity came with the call", {}};
    if (!caller.is_user_of(config_.organisation)) {
        return Error{
            ErrorCode::kDenied, "only users of organisation '" + config_.organisation + "' may submit here", {}};
    }
    if (!is_plan_mapper(request.mapper)) return invalid("must be one of hier, block, round_robin, random", "/mapper");
    for (std::size_t i = 0; i < request.argv.size(); ++i) {
        if (request.argv[i] == ":")
            return invalid("':' alone separates programs for mpiexec and would start another one",
                           "/argv/" + std::to_string(i));
    }
    if (const auto at = runs_.find(request.id); at != runs_.end()) {
        const Application& known = at->second->app;
        if (known.owner == caller && known.request == request) return known;
        return Error{ErrorCode::kIdReused,
                     "id " + to_string(request.id) + " was used for another request; make a new id", "/id"};
    }
    const auto unfinished = std::count_if(runs_.begin(), runs_.end(), [&](const auto& item) {
        return item.second->app.owner == caller && !is_final(item.second->app.status.state);
    });
    if (unfinished >= limits::kMaxUnfinishedPerUser) {
        return Error{ErrorCode::kTooManyRequests,
                     "you have " + std::to_string(unfinished) + " unfinished applications; wait for some to end",
                     {}};
    }
    auto run = std::make_shared<Run>();
    run->app = {caller, request, {}};
    run->app.status.history.push_back({ApplicationState::kAccepted, clock_.now()});
    if (auto ok = store_.insert(run->app); !ok) return ok.error();
    runs_.emplace(request.id, run);
    log_.info("application_accepted", {{"application", to_string(request.id)},
                                       {"owner", to_uri(caller)},
                                       {"ranks", std::to_string(request.ranks)},
                                       {"program", request.argv[0]}});
    later(run, Duration{0}, &ApplicationService::advance);
    return run->app;
}

void ApplicationService::later(const std::shared_ptr<Run>& run, Duration delay, Step step) {
    clock_.after(delay, [this, run, step] { (this->*step)(run); });
}

bool ApplicationService::save(const std::shared_ptr<Run>& run, ApplicationStatus changed) {
    if (auto ok = store_.update(run->app.request.id, changed); !ok) {
        log_.warn("store_failed", {{"application", to_string(run->app.request.id)}, {"reason", ok.error().message}});
        later(run, kStoreRetry, &ApplicationService::advance);
        return false;
    }
    run->app.status = std::move(changed);
    return true;
}

ApplicationStatus ApplicationService::status_of(const std::shared_ptr<Run>& run) { return run->app.status; }

bool ApplicationService::enter(const std::shared_ptr<Run>& run, ApplicationStatus changed, ApplicationState state,
                               const std::string& reason) {
    changed.state = state;
    changed.reason = reason;
    changed.history.push_back({state, clock_.now()});
    if (changed.history.size() > 200) changed.history.erase(changed.history.begin() + 1);
    if (!save(run, std::move(changed))) return false;
    log_.info("application_state",
              {{"application", to_string(run->app.request.id)}, {"state", to_string(state)}, {"reason", reason}});
    return true;
}

/// Looks at the stored state and takes the next step: called after every change, after a fault and after a restart.
void ApplicationService::advance(const std::shared_ptr<Run>& run) {
    const ApplicationStatus& status = run->app.status;
    if (is_final(status.state)) return release(run);
    if (run->busy) return;
    if (status.cancel_requested && status.state < ApplicationState::kLaunching) {
        ApplicationStatus changed = status;
        changed.releasing.insert(changed.releasing.end(), changed.parts.begin(), changed.parts.end());
        changed.parts.clear();
        if (enter(run, std::move(changed), ApplicationState::kCancelled, "cancelled by its owner")) release(run);
        return;
    }
    // Stopping was under way before a restart or a fault of the store: nothing more is started, everything is told
    // again.
    if (!status.stop_reason.empty() && !run->watching) return stop_everything(run);
    switch (status.state) {
        case ApplicationState::kAccepted:
            return plan(run);
        case ApplicationState::kPlanned:
            return hold(run);
        case ApplicationState::kHeld:
            return commit(run);
        case ApplicationState::kCommitted:
        case ApplicationState::kLaunching:
            return run->watching ? void() : start_coordinator(run);
        case ApplicationState::kRunning:
            return run->watching ? void() : watch(run);
        default:
            return;
    }
}

ApplicationService::ModelChoice ApplicationService::choose_model(const Caller& owner,
                                                                 const ApplicationRequest& request) {
    if (request.model) return {request.model, "request"};
    if (!request.use_profile) return {};
    Result<std::optional<Profile>> stored = store_.find_profile(owner, request.argv[0], request.ranks);
    if (!stored) {
        log_.warn("profile_unreadable", {{"program", request.argv[0]}, {"reason", stored.error().message}});
        return {};
    }
    if (!*stored) return {};
    return {(*stored)->model, to_string((*stored)->id)};
}

void ApplicationService::collect_offers(const Caller& owner, const ApplicationRequest& request,
                                        const std::set<std::string>& excluded,
                                        std::function<void(std::vector<Offer>)> done) {
    struct Collection {
        std::vector<Offer> offers;
        std::size_t pending = 1;
        std::function<void(std::vector<Offer>)> done;
    };
    auto collection = std::make_shared<Collection>();
    collection->done = std::move(done);
    const auto wanted = [&](const std::string& zone) {
        return request.zones.empty() ||
               std::find(request.zones.begin(), request.zones.end(), zone) != request.zones.end();
    };
    std::vector<std::pair<std::string, std::string>> ask = {{config_.zone.name, config_.url}};
    std::vector<std::string> names = {config_.zone.name};
    for (const Peer& peer : peers_.peers()) {
        names.push_back(peer.zone);
        if (peer.they_accept_us == PeeringState::kAccepted)
            ask.emplace_back(peer.zone, peer.url);
        else if (wanted(peer.zone))
            collection->offers.push_back(
                {peer.zone, {}, peer.reason.empty() ? "has not accepted this organisation" : peer.reason, false});
    }
    for (const std::string& zone : request.zones) {
        if (std::find(names.begin(), names.end(), zone) == names.end())
            collection->offers.push_back({zone, {}, "no such zone is known here", false});
    }
    CapacityRequest question{.user = owner, .processors = request.ranks, .walltime = request.walltime};
    for (const auto& [zone, url] : ask) question.zones.push_back(zone);
    const auto finish_one = [collection] {
        if (--collection->pending > 0) return;
        std::sort(collection->offers.begin(), collection->offers.end(),
                  [](const Offer& a, const Offer& b) { return a.zone < b.zone; });
        collection->done(std::move(collection->offers));
    };
    for (const auto& [zone, url] : ask) {
        if (!wanted(zone)) {
            collection->offers.push_back({zone, {}, "not among the zones asked for", false});
        } else if (excluded.contains(zone)) {
            collection->offers.push_back({zone, {}, "refused or did not answer in an earlier round", true});
        } else {
            ++collection->pending;
            transport_.ask_capacity(url, question, [collection, finish_one, name = zone](Result<Capacity> capacity) {
                if (!capacity)
                    collection->offers.push_back({name, {}, capacity.error().message, is_passing(capacity.error())});
                else if (capacity->zone != name)
                    collection->offers.push_back({name, {}, "another zone answered at its address", true});
                else
                    collection->offers.push_back({name, *std::move(capacity), {}, false});
                finish_one();
            });
        }
    }
    // Answers never come from inside the asking; the last count is ours, so that an empty list ends too.
    clock_.after(Duration{0}, finish_one);
}

void ApplicationService::dry_run(const Caller& caller, const ApplicationRequest& request,
                                 Respond<ApplicationPlan> respond) {
    if (!caller.is_user_of(config_.organisation))
        return respond(
            Error{ErrorCode::kDenied, "only users of organisation '" + config_.organisation + "' may plan here", {}});
    if (!is_plan_mapper(request.mapper))
        return respond(invalid("must be one of hier, block, round_robin, random", "/mapper"));
    ModelChoice choice = choose_model(caller, request);
    collect_offers(
        caller, request, {},
        [request, choice = std::move(choice), respond = std::move(respond)](const std::vector<Offer>& offers) {
            respond(make_plan(request, choice.model, choice.source, offers));
        });
}

void ApplicationService::plan(const std::shared_ptr<Run>& run) {
    run->busy = true;
    ModelChoice choice = choose_model(run->app.owner, run->app.request);
    run->model = std::move(choice.model);
    collect_offers(run->app.owner, run->app.request, run->excluded,
                   [this, run, source = choice.source](const std::vector<Offer>& offers) {
                       run->busy = false;
                       if (is_final(run->app.status.state)) return;
                       Result<ApplicationPlan> made = make_plan(run->app.request, run->model, source, offers);
                       if (!made && made.error().code == ErrorCode::kUnavailable) {
                           run->excluded.clear();  // who refused before may have room by then
                           if (run->app.status.reason != made.error().message) {
                               ApplicationStatus changed = run->app.status;
                               changed.reason = made.error().message;
                               if (!save(run, std::move(changed))) return;
                           }
                           return later(run, kWaitForProcessors, &ApplicationService::advance);
                       }
                       if (!made) {
                           enter(run, ApplicationState::kRejected, made.error().message);
                           return release(run);
                       }
                       ApplicationStatus changed = run->app.status;
                       made->round = run->round;
                       changed.parts.clear();
                       std::map<std::string, ApplicationPart> parts;
                       for (std::size_t rank = 0; rank < made->zone_of_rank.size(); ++rank)
                           parts[made->zone_of_rank[rank]].ranks.push_back(static_cast<TaskIndex>(rank));
                       for (auto& [zone, part] : parts) {
                           part.zone = zone;
                           part.id = PartId{ids_.fresh()};
                           part.status.id = part.id;
                           changed.parts.push_back(std::move(part));
                       }
                       changed.plan = *std::move(made);
                       if (enter(run, std::move(changed), ApplicationState::kPlanned)) advance(run);
                   });
}

std::string ApplicationService::url_of(const std::string& zone) const {
    if (zone == config_.zone.name) return config_.url;
    for (const Peer& peer : peers_.peers()) {
        if (peer.zone == zone) return peer.url;
    }
    return {};
}

void ApplicationService::hold(const std::shared_ptr<Run>& run) {
    ZBS_EXPECTS(!run->app.status.parts.empty());  // entering `planned` stores them in the same write
    run->busy = true;
    run->failed_zone.clear();
    run->pending = static_cast<int>(run->app.status.parts.size());
    for (std::size_t i = 0; i < run->app.status.parts.size(); ++i) {
        const ApplicationPart& part = run->app.status.parts[i];
        transport_.hold_part(
            url_of(part.zone), make_part(run->app, run->model, part, config_.zone.name),
            [this, run, i](const Result<PartStatus>& answer) {
                ApplicationPart& held = run->app.status.parts[i];
                const auto complete = [&] {  // a peer is attacker-controlled: exactly our ranks, in order
                    return std::equal(held.ranks.begin(), held.ranks.end(), answer->assignment.begin(),
                                      answer->assignment.end(),
                                      [](TaskIndex rank, const RankPlace& place) { return rank == place.rank; });
                };
                if (!answer || answer->id != held.id || answer->state != PartState::kHeld || !complete()) {
                    run->failed_zone = held.zone;
                    run->failed_reason = !answer ? answer.error().message : "its hold does not fit the request";
                } else {
                    held.status = *answer;
                }
                if (--run->pending > 0) return;
                run->busy = false;
                if (run->app.status.cancel_requested) return advance(run);
                if (!run->failed_zone.empty()) return plan_again(run, run->failed_zone, run->failed_reason);
                if (enter(run, ApplicationState::kHeld)) advance(run);
            });
    }
}

void ApplicationService::plan_again(const std::shared_ptr<Run>& run, const std::string& zone,
                                    const std::string& reason) {
    ApplicationStatus changed = run->app.status;
    changed.releasing.insert(changed.releasing.end(), changed.parts.begin(), changed.parts.end());
    changed.parts.clear();
    const std::string what = (zone.empty() ? "" : "zone " + zone + ": ") + reason;
    if (run->round >= config_.max_rounds) {
        if (enter(run, std::move(changed), ApplicationState::kRejected,
                  "no plan held in " + std::to_string(config_.max_rounds) + " rounds; the last one failed because " +
                      what)) {
            release(run);
        }
        return;
    }
    if (!enter(run, std::move(changed), ApplicationState::kAccepted, "planning again: " + what)) return;
    ++run->round;
    if (!zone.empty()) run->excluded.insert(zone);
    release(run);
    // Jitter, so that two homes that took from each other do not meet again.
    later(run,
          Duration{static_cast<std::int64_t>(50'000 + jitter_.below(200'000) * static_cast<std::uint64_t>(run->round))},
          &ApplicationService::advance);
}

void ApplicationService::commit(const std::shared_ptr<Run>& run) {
    ZBS_EXPECTS(!run->app.status.parts.empty());  // entering `planned` stores them in the same write
    run->busy = true;
    run->failed_zone.clear();
    run->pending = static_cast<int>(run->app.status.parts.size());
    for (std::size_t i = 0; i < run->app.status.parts.size(); ++i) {
        const ApplicationPart& part = run->app.status.parts[i];
        transport_.commit_part(
            url_of(part.zone), part.id, part.status.token, [this, run, i](const Result<PartStatus>& answer) {
                ApplicationPart& committed = run->app.status.parts[i];
                if (!answer || answer->state != PartState::kCommitted) {
                    run->failed_zone = committed.zone;
                    run->failed_reason = !answer ? answer.error().message : "it let the hold go: " + answer->reason;
                } else {
                    committed.status.state = answer->state;
                    committed.status.expires_in = Duration{0};
                }
                if (--run->pending > 0) return;
                run->busy = false;
                if (run->app.status.cancel_requested) return advance(run);
                if (!run->failed_zone.empty()) return plan_again(run, run->failed_zone, run->failed_reason);
                if (enter(run, ApplicationState::kCommitted)) advance(run);
            });
    }
}

std::vector<mpich::ProxyPlan> ApplicationService::proxies_of(const Application& application) const {
    std::vector<mpich::Place> places(static_cast<std::size_t>(application.request.ranks));
    for (const ApplicationPart& part : application.status.parts) {
        for (const RankPlace& place : part.status.assignment)
            places[static_cast<std::size_t>(place.rank)] = {part.zone, place.machine};
    }
    return mpich::plan_proxies(places);
}

void ApplicationService::start_coordinator(const std::shared_ptr<Run>& run) {
    const ApplicationRequest& request = run->app.request;
    if (run->app.status.state == ApplicationState::kCommitted) {
        ApplicationStatus changed = run->app.status;
        changed.operation = "mpi-" + to_string(request.id);
        if (!enter(run, std::move(changed), ApplicationState::kLaunching)) return;
    }
    StepSpec step{.operation = run->app.status.operation,
                  .argv = mpich::coordinator_argv(
                      {config_.mpiexec, config_.mpi_interface, request.directory, request.ranks, request.argv}),
                  .environment = mpich::program_environment(request.environment),
                  .files = {{mpich::kHostFile, mpich::host_file(proxies_of(run->app))}},
                  .walltime = request.walltime};
    run->deadline = clock_.steady_now() + kCoordinatorDeadline;
    if (auto started = executor_.start(step); !started)
        return stop(run, "the MPI launcher could not be started: " + started.error().message);
    await_coordinator(run);
}

void ApplicationService::await_coordinator(const std::shared_ptr<Run>& run) {
    if (is_final(run->app.status.state) || !run->app.status.stop_reason.empty()) return;
    const std::string& operation = run->app.status.operation;
    const Result<std::string> text = executor_.read(operation, "stdout", 0, kMaxLauncherOutput);
    const Result<mpich::LaunchLines> lines =
        mpich::read_launch_lines(text ? std::string_view(*text) : std::string_view{});
    if (!lines) return stop(run, lines.error().message);
    if (lines->done && static_cast<std::size_t>(lines->proxies) != proxies_of(run->app).size()) {
        return stop(run, "the MPI launcher asks for " + std::to_string(lines->proxies) + " proxies where " +
                             std::to_string(proxies_of(run->app).size()) + " were planned");
    }
    if (lines->done) return launch_parts(run, lines->options);
    const StepStatus status = executor_.status(operation);
    if (status.state != StepStatus::State::kRunning) {
        const Result<std::string> fault = executor_.read(operation, "stderr", 0, 4096);
        const std::string words = fault && !first_line(*fault).empty() ? first_line(*fault) : status.reason;
        return stop(run, "the MPI launcher ended with " +
                             (status.exit_code > 128 ? "signal " + std::to_string(status.exit_code - 128)
                                                     : "code " + std::to_string(status.exit_code)) +
                             (words.empty() ? "" : ": " + words));
    }
    if (clock_.steady_now() > run->deadline) return stop(run, "the MPI launcher did not ask for its proxies in time");
    later(run, kCoordinatorLook, &ApplicationService::await_coordinator);
}

void ApplicationService::launch_parts(const std::shared_ptr<Run>& run, const mpich::Options& options) {
    run->pending = static_cast<int>(run->app.status.parts.size());
    const std::vector<mpich::ProxyPlan> proxies = proxies_of(run->app);
    // The profiler's ranks agree among themselves at MPI_Init: all of them are profiled, or none.
    const bool profile =
        run->app.request.profile && std::all_of(run->app.status.parts.begin(), run->app.status.parts.end(),
                                                [](const ApplicationPart& part) { return part.status.can_profile; });
    for (std::size_t i = 0; i < run->app.status.parts.size(); ++i) {
        const ApplicationPart& part = run->app.status.parts[i];
        LaunchRequest request{.token = part.status.token,
                              .operation = "run-" + to_string(part.id),
                              .options = options,
                              .profile = profile};
        for (const mpich::ProxyPlan& proxy : proxies) {
            if (proxy.zone == part.zone) request.proxies.push_back({proxy.id, proxy.machine});
        }
        auto send = std::make_shared<std::function<void()>>();
        *send = [this, run, i, request, weak = std::weak_ptr(send)] {
            const ApplicationPart& target = run->app.status.parts[i];
            transport_.launch_part(
                url_of(target.zone), target.id, request,
                [this, run, i, again = weak.lock()](const Result<PartStatus>& answer) {
                    if (is_final(run->app.status.state)) return;
                    ApplicationPart& launched = run->app.status.parts[i];
                    if (!answer && is_passing(answer.error()) && ++run->tries[launched.id] < kLaunchTries &&
                        run->app.status.stop_reason.empty()) {
                        clock_.after(Duration{200'000},
                                     [again] { (*again)(); });  // same operation: nothing starts twice
                        return;
                    }
                    if (answer) launched.status.state = answer->state;
                    const bool good =
                        answer && (answer->state == PartState::kRunning || answer->state == PartState::kCompleted);
                    if (!good)
                        stop(run, "zone " + launched.zone +
                                      " did not start its part: " + (answer ? answer->reason : answer.error().message));
                    if (--run->pending > 0 || !run->app.status.stop_reason.empty()) return;
                    if (run->app.status.state == ApplicationState::kLaunching &&
                        !enter(run, ApplicationState::kRunning))
                        return;
                    watch(run);
                });
        };
        (*send)();  // from here on the chain of answers holds it
    }
}

void ApplicationService::watch(const std::shared_ptr<Run>& run) {
    if (is_final(run->app.status.state)) return;
    run->watching = true;
    if (run->app.status.cancel_requested && run->app.status.stop_reason.empty()) stop(run, "cancelled by its owner");
    const StepStatus status = executor_.status(run->app.status.operation);
    if (status.state != StepStatus::State::kRunning) {
        run->deadline = clock_.steady_now() + kProfileWait;
        run->profile_at = 0;
        return collect_profile(run);
    }
    if (run->app.status.stop_reason.empty()) poll_parts(run);
    later(run, config_.poll_every, &ApplicationService::watch);
}

/// A part that failed takes the application with it; a part that is silent does not.
void ApplicationService::poll_parts(const std::shared_ptr<Run>& run) {
    for (const ApplicationPart& part : run->app.status.parts) {
        if (run->asked.contains(part.id) || is_final(part.status.state)) continue;
        run->asked.insert(part.id);
        transport_.part_status(url_of(part.zone), part.id, [this, run, id = part.id](const Result<PartStatus>& answer) {
            run->asked.erase(id);
            if (!answer || is_final(run->app.status.state)) return;
            for (ApplicationPart& known : run->app.status.parts) {
                if (known.id != id) continue;
                known.status.state = answer->state;
                known.status.reason = answer->reason;
                known.status.has_profile = answer->has_profile;
                const bool lost = answer->state == PartState::kFailed || answer->state == PartState::kReleased ||
                                  answer->state == PartState::kExpired;
                // While the coordinator ends by itself the parts end too, some with a code; its word comes first.
                if (lost) {
                    clock_.after(config_.poll_every * 2, [this, run, zone = known.zone, reason = answer->reason] {
                        if (executor_.status(run->app.status.operation).state == StepStatus::State::kRunning)
                            stop(run, "zone " + zone + " lost its part: " + reason);
                    });
                }
            }
        });
    }
}

void ApplicationService::stop(const std::shared_ptr<Run>& run, const std::string& reason) {
    if (is_final(run->app.status.state) || !run->app.status.stop_reason.empty()) return;
    ApplicationStatus changed = run->app.status;
    changed.stop_reason = reason;
    if (!save(run, std::move(changed))) return;
    log_.info("application_stopping", {{"application", to_string(run->app.request.id)}, {"reason", reason}});
    stop_everything(run);
}

void ApplicationService::stop_everything(const std::shared_ptr<Run>& run) {
    for (const ApplicationPart& part : run->app.status.parts) {
        transport_.release_part(url_of(part.zone), part.id, run->app.status.stop_reason.substr(0, kMaxReason),
                                [](const Result<PartStatus>&) {});
    }
    if (executor_.status(run->app.status.operation).state == StepStatus::State::kRunning)
        executor_.stop(run->app.status.operation, kStopGrace);
    if (!run->watching) watch(run);
}

/// After the end of the coordinator: the zone of rank 0 has the model of a clean run; after an unclean one every zone
/// may have what its own ranks counted. Asks one part after the other; a part that still ends is asked again for a
/// while.
void ApplicationService::collect_profile(const std::shared_ptr<Run>& run) {
    if (is_final(run->app.status.state)) return;
    std::vector<const ApplicationPart*> order;
    for (const ApplicationPart& part : run->app.status.parts) order.push_back(&part);
    std::sort(order.begin(), order.end(),
              [](const ApplicationPart* a, const ApplicationPart* b) { return a->ranks.front() < b->ranks.front(); });
    const bool done =
        run->profile_at >= order.size() || (run->profile && run->profile->complete) || run->app.status.cancel_requested;
    if (!run->app.request.profile || done) return finish(run);
    const ApplicationPart& part = *order[run->profile_at];
    transport_.part_status(
        url_of(part.zone), part.id, [this, run, zone = part.zone, id = part.id](const Result<PartStatus>& answer) {
            for (ApplicationPart& known : run->app.status.parts) {
                if (known.id == id && answer) {
                    known.status.state = answer->state;
                    known.status.reason = answer->reason;
                }
            }
            if (answer && !is_final(answer->state) && clock_.steady_now() < run->deadline)
                return later(run, config_.poll_every / 2, &ApplicationService::collect_profile);
            if (!answer || !answer->has_profile) {
                ++run->profile_at;
                return collect_profile(run);
            }
            transport_.part_profile(url_of(zone), id, [this, run](Result<ApplicationModel> model) {
                ++run->profile_at;
                if (model && model->graph.task_count() == run->app.request.ranks) {
                    run->profile =
                        model->complete || !run->profile ? *std::move(model) : merge_partial(*run->profile, *model);
                }
                collect_profile(run);
            });
        });
}

void ApplicationService::finish(const std::shared_ptr<Run>& run) {
    if (is_final(run->app.status.state)) return;
    run->watching = false;
    const StepStatus end = executor_.status(run->app.status.operation);
    ApplicationStatus changed = run->app.status;
    ApplicationState state = ApplicationState::kFailed;
    std::string reason = changed.stop_reason;
    changed.exit_code = end.state == StepStatus::State::kExited ? end.exit_code : 1;
    if (changed.cancel_requested) {
        state = ApplicationState::kCancelled;
        reason = "cancelled by its owner";
    } else if (!reason.empty()) {
        changed.exit_code = 1;  // the launcher was stopped by us; its own code means nothing
    } else if (*changed.exit_code == 0) {
        state = ApplicationState::kCompleted;
    } else {
        const Result<std::string> report = executor_.read(changed.operation, "stdout", 0, kMaxLauncherOutput);
        const int signal = report ? mpich::read_fatal_signal(*report) : 0;
        if (!end.reason.empty()) {
            reason = end.reason;
            if (reason.starts_with("walltime")) changed.exit_code = 128 + 15;  // as if the program had got its SIGTERM
        } else if (signal > 0) {
            changed.exit_code = 128 + signal;
            reason = "a rank was ended by signal " + std::to_string(signal);
        } else {
            reason = "the program ended with exit code " + std::to_string(*changed.exit_code);
        }
    }
    if (run->profile) {
        const Profile profile{ProfileId{ids_.fresh()},
                              run->app.owner,
                              run->app.request.id,
                              clock_.now(),
                              {run->app.request.argv[0], run->profile->complete, run->profile->graph}};
        if (auto ok = store_.insert(profile); ok)
            changed.profile = profile.id;
        else
            log_.warn("profile_not_stored",
                      {{"application", to_string(run->app.request.id)}, {"reason", ok.error().message}});
        run->profile.reset();
    }
    for (const ApplicationPart& part : changed.parts) {
        if (!is_final(part.status.state)) changed.releasing.push_back(part);
    }
    if (enter(run, std::move(changed), state, reason)) release(run);
}

/// Gives back what this application does not need any more, for as long as it takes: a zone that is away keeps its part
/// until it hears of it or until the part ends by itself.
void ApplicationService::release(const std::shared_ptr<Run>& run) {
    if (run->releasing || run->app.status.releasing.empty()) return;
    run->releasing = true;
    auto pending = std::make_shared<std::size_t>(run->app.status.releasing.size());
    auto gone = std::make_shared<std::set<PartId>>();
    for (const ApplicationPart& part : run->app.status.releasing) {
        transport_.release_part(
            url_of(part.zone), part.id, run->app.status.reason.substr(0, kMaxReason),
            [this, run, pending, gone, id = part.id](const Result<PartStatus>& answer) {
                const bool unknown = !answer && answer.error().code == ErrorCode::kNotFound;
                if (unknown || (answer && is_final(answer->state))) gone->insert(id);
                for (ApplicationPart& shown : run->app.status.parts) {
                    if (shown.id == id && answer)
                        shown.status.state = answer->state;  // stored with the next change below
                }
                if (--*pending > 0) return;
                run->releasing = false;
                ApplicationStatus changed = run->app.status;
                std::erase_if(changed.releasing, [&](const ApplicationPart& p) { return gone->contains(p.id); });
                run->release_retry = gone->empty() ? std::min(run->release_retry * 2, kReleaseRetryMax) : kReleaseRetry;
                if (!gone->empty() && !save(run, std::move(changed))) return;
                if (!run->app.status.releasing.empty()) later(run, run->release_retry, &ApplicationService::release);
            });
    }
}

Result<const Application*> ApplicationService::find(const Caller& caller, const ApplicationId& id) const {
    const auto at = runs_.find(id);
    const bool may_see =
        at != runs_.end() && (at->second->app.owner == caller || caller.is_operator_of(config_.organisation));
    if (!may_see) return Error{ErrorCode::kNotFound, "no application " + to_string(id) + " of yours is here", {}};
    return &at->second->app;
}

std::vector<const Application*> ApplicationService::list(const Caller& caller) const {
    std::vector<const Application*> mine;
    for (auto it = runs_.rbegin(); it != runs_.rend(); ++it) {
        if (it->second->app.owner == caller || caller.is_operator_of(config_.organisation))
            mine.push_back(&it->second->app);
    }
    return mine;
}

Result<Application> ApplicationService::cancel(const Caller& caller, const ApplicationId& id) {
    const Result<const Application*> found = find(caller, id);
    if (!found) return found.error();
    if (is_final((*found)->status.state) || (*found)->status.cancel_requested) return **found;
    const std::shared_ptr<Run> run = runs_.at(id);
    ApplicationStatus changed = run->app.status;
    changed.cancel_requested = true;
    if (auto ok = store_.update(id, changed); !ok) return ok.error();
    run->app.status = std::move(changed);
    if (run->app.status.state < ApplicationState::kLaunching)
        later(run, Duration{0}, &ApplicationService::advance);
    else
        stop(run, "cancelled by its owner");
    return run->app;
}

Result<ApplicationService::LogIndex> ApplicationService::logs(const Caller& caller, const ApplicationId& id) const {
    const Result<const Application*> found = find(caller, id);
    if (!found) return found.error();
    const Application* application = *found;
    LogIndex index;
    index.complete = is_final(application->status.state);
    if (application->status.operation.empty()) return index;
    for (const auto& [prefix, error_stream] : {std::pair<const char*, bool>{"out.", false}, {"err.", true}}) {
        for (const Executor::File& file : executor_.list(application->status.operation, prefix)) {
            const std::string number = file.name.substr(4);
            if (file.bytes == 0 || number.empty() || number.size() > 9 ||
                number.find_first_not_of("0123456789") != std::string::npos)
                continue;
            index.files.push_back({std::stoi(number), error_stream, file.bytes});
        }
    }
    for (const Executor::File& file : executor_.list(application->status.operation, "stderr")) {
        if (file.bytes > 0) index.files.push_back({-1, true, file.bytes});
    }
    std::sort(index.files.begin(), index.files.end(), [](const LogFile& a, const LogFile& b) {
        return std::pair(a.rank, a.error_stream) < std::pair(b.rank, b.error_stream);
    });
    return index;
}

Result<ApplicationService::LogChunk> ApplicationService::log(const Caller& caller, const ApplicationId& id, int rank,
                                                             bool error_stream, std::uint64_t offset,
                                                             std::size_t limit) const {
    const Result<const Application*> found = find(caller, id);
    if (!found) return found.error();
    const Application* application = *found;
    if (rank >= application->request.ranks)
        return Error{
            ErrorCode::kNotFound,
            "application " + to_string(id) + " has ranks 0 to " + std::to_string(application->request.ranks - 1),
            {}};
    // The state is read before the bytes: "complete" must not overtake output.
    const bool ended = is_final(application->status.state);
    LogChunk chunk;
    if (!application->status.operation.empty()) {
        const std::string file = rank < 0 ? (error_stream ? "stderr" : "stdout")
                                          : (error_stream ? mpich::stderr_file(rank) : mpich::stdout_file(rank));
        if (Result<std::string> bytes = executor_.read(application->status.operation, file, offset, limit))
            chunk.bytes = *std::move(bytes);
    }
    chunk.complete = ended && chunk.bytes.size() < limit;
    return chunk;
}

}  // namespace zbs
