#include "services/zone_scheduler/home/application_service.hpp"

#include <algorithm>
#include <utility>

#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/owned_id.hpp"
#include "services/common/messages/states.hpp"
#include "services/zone_scheduler/home/application_run.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"
#include "services/zone_scheduler/trust/delegation_service.hpp"
#include "services/zone_scheduler/trust/peer_service.hpp"

namespace zbs {
namespace {

constexpr Duration kStoreRetry = std::chrono::seconds{1};
constexpr Duration kCountedAfterEnd = std::chrono::hours{24};
/// The answer to an id that is known already.
Result<Application> repeat_of(const Application& known, const Caller& caller, const ApplicationRequest& request) {
    if (known.owner == caller && known.request == request) return known;
    return Error{ErrorCode::kIdReused, "id " + to_string(request.id) + " was used for another request; make a new id",
                 "/id"};
}

/// Before and after a state is stored.
struct Around {
    failpoint::Point before, after;
};
std::optional<Around> failpoints_of(ApplicationState state) {
    using failpoint::Point;
    switch (state) {
        case ApplicationState::kAccepted:
            return std::nullopt;
        case ApplicationState::kPlanned:
            return Around{Point::kHomeBeforePlanned, Point::kHomeAfterPlanned};
        case ApplicationState::kHeld:
            return Around{Point::kHomeBeforeHeld, Point::kHomeAfterHeld};
        case ApplicationState::kCommitted:
            return Around{Point::kHomeBeforeCommitted, Point::kHomeAfterCommitted};
        case ApplicationState::kLaunching:
            return Around{Point::kHomeBeforeLaunching, Point::kHomeAfterLaunching};
        case ApplicationState::kRunning:
            return Around{Point::kHomeBeforeRunning, Point::kHomeAfterRunning};
        default:
            return Around{Point::kHomeBeforeEnd, Point::kHomeAfterEnd};
    }
}

}  // namespace

ApplicationService::ApplicationService(ApplicationPorts ports)
    : ports_(std::move(ports)),
      profiles_(ports_.clock, ports_.store, ports_.log),
      jitter_(static_cast<std::uint64_t>(to_microseconds(ports_.clock.now())) ^
              std::hash<std::string>{}(ports_.config.zone.name)),
      zones_(ports_, backoff_) {
    if (ports_.files != nullptr) claim_files();
}

Result<void> ApplicationService::resume() {
    Result<std::vector<Application>> known = ports_.store.load_open_applications();
    if (!known) return known.error();
    for (const Application& application : *known) {
        if (auto good = check_history(application.status); !good) {
            return Error{ErrorCode::kConflict,
                         "application " + to_string(application.request.id) +
                             " in the database is not as this program leaves one: " + good.error().message +
                             "; restore the database from a backup",
                         {}};
        }
    }
    std::size_t waiting = 0;
    for (Application& application : *known) {
        auto run = std::make_shared<Run>();
        run->app = std::move(application);
        if (run->app.status.start)
            run->start = ports_.clock.steady_now() + std::max(Duration{0}, *run->app.status.start - ports_.clock.now());
        recover(run);
        const ApplicationState state = run->app.status.state;
        if (state == ApplicationState::kAccepted)
            ++waiting;
        else if (!is_final(state))
            ports_.log.info("application_resumed",
                            {{"application", to_string(run->app.request.id)}, {"state", to_string(state)}});
        if (state == ApplicationState::kPlanned) {
            // What was held under this plan is unknown: give it back and plan afresh.
            plan_again(run, {}, "the home zone restarted");
        } else if (state == ApplicationState::kAccepted && run->app.status.releasing.empty()) {
            await_planning(run);
        } else {
            later(run, Duration{0}, &ApplicationService::advance);
        }
    }
    if (waiting > 0) ports_.log.info("applications_wait", {{"count", std::to_string(waiting)}});
    return {};
}

void ApplicationService::count_reservation(const Run& run) {
    if (run.app.status.start && run.app.status.state < ApplicationState::kLaunching)
        reserved_.insert(run.app.request.id);
    else
        reserved_.erase(run.app.request.id);
}

void ApplicationService::recover(const std::shared_ptr<Run>& run) {
    runs_.emplace(run->app.request.id, run);
    if (!is_final(run->app.status.state)) ++unfinished_[to_uri(run->app.owner)];
    count_reservation(*run);
}

Result<Application> ApplicationService::submit(const Caller& caller, const ApplicationRequest& request) {
    if (caller.kind == CallerKind::kAnonymous)
        return Error{ErrorCode::kUnauthenticated, "say who you are: no identity came with the call", {}};
    if (!caller.is_user_of(ports_.config.organisation)) {
        return Error{
            ErrorCode::kDenied, "only users of organisation '" + ports_.config.organisation + "' may submit here", {}};
    }
    if (auto own = check_mark(request.id.value, caller); !own) return own.error();
    if (!is_plan_mapper(request.mapper)) return invalid("must be one of hier, block, round_robin, random", "/mapper");
    if (const std::string why = why_no_launcher(ports_.config, request.launcher); !why.empty())
        return invalid(why + "; submit to another zone, or launch otherwise", "/launcher");
    if (needs_own_zone(request.launcher) && !request.zones.empty() &&
        std::find(request.zones.begin(), request.zones.end(), ports_.config.zone.name) == request.zones.end())
        return invalid(std::string("launcher ") + to_string(request.launcher) + " works in zone " +
                           ports_.config.zone.name + " only, which is not among these",
                       "/zones");
    if (const auto at = runs_.find(request.id); at != runs_.end()) return repeat_of(at->second->app, caller, request);
    const Result<std::optional<Application>> ended = ports_.store.find_application(request.id);
    if (!ended) return ended.error();
    if (*ended) return repeat_of(**ended, caller, request);
    const Result<bool> removed = ports_.store.was_removed(request.id);
    if (!removed) return removed.error();
    if (*removed) {
        return Error{ErrorCode::kIdReused,
                     "application " + to_string(request.id) +
                         " has ended long ago and was removed with its results; make a new id",
                     "/id"};
    }
    const auto mine = unfinished_.find(to_uri(caller));
    if (mine != unfinished_.end() && mine->second >= limits::kMaxUnfinishedPerUser) {
        return Error{ErrorCode::kTooManyRequests,
                     "you have " + std::to_string(mine->second) + " unfinished applications; wait for some to end",
                     {}};
    }
    if (ports_.delegations != nullptr) {
        if (auto good = ports_.delegations->check_lifetime(caller, request.id, request.walltime); !good)
            return good.error();
    }
    if (auto good = check_staging(caller, request.staging); !good) return good.error();
    if (auto good = zones_.check_zones(request); !good) return good.error();
    auto run = std::make_shared<Run>();
    run->app = {caller, request, {}};
    run->app.status.history.push_back({ApplicationState::kAccepted, ports_.clock.now()});
    if (auto ok = ports_.store.insert(run->app); !ok) return ok.error();
    recover(run);
    ports_.observer.application_entered(run->app);
    ports_.log.info("application_accepted", {{"application", to_string(request.id)},
                                             {"owner", to_uri(caller)},
                                             {"ranks", std::to_string(request.ranks)},
                                             {"program", request.argv[0]}});
    later(run, Duration{0}, &ApplicationService::advance);
    return run->app;
}

void ApplicationService::later(const std::shared_ptr<Run>& run, Duration delay, Step step) {
    ports_.clock.after(delay, [this, run, step] { (this->*step)(run); });
}

bool ApplicationService::save(const std::shared_ptr<Run>& run, ApplicationStatus changed) {
    if (auto ok = ports_.store.update(run->app.request.id, changed); !ok) {
        ports_.log.warn("store_failed",
                        {{"application", to_string(run->app.request.id)}, {"reason", ok.error().message}});
        later(run, kStoreRetry, &ApplicationService::advance);
        return false;
    }
    run->app.status = std::move(changed);
    count_reservation(*run);
    // Who looks for it from now on finds it in the store.
    if (!is_open(run->app.status)) runs_.erase(run->app.request.id);
    return true;
}

/// False where the point makes the work on this application stop here: it is taken up again from what is stored.
bool ApplicationService::pass(const std::shared_ptr<Run>& run, failpoint::Point point) {
    if (failpoint::reach(point)) return true;
    later(run, kStoreRetry, &ApplicationService::advance);
    return false;
}

ApplicationStatus ApplicationService::status_of(const std::shared_ptr<Run>& run) { return run->app.status; }

bool ApplicationService::enter(const std::shared_ptr<Run>& run, ApplicationStatus changed, ApplicationState state,
                               const std::string& reason) {
    ZBS_EXPECTS(allowed(run->app.status.state, state));
    const std::optional<Around> points = failpoints_of(state);
    if (points && !pass(run, points->before)) return false;
    changed.state = state;
    changed.reason = reason;
    changed.history.push_back({state, ports_.clock.now()});
    if (changed.history.size() > kMaxHistory) changed.history.erase(changed.history.begin() + 1);
    if (!save(run, std::move(changed))) return false;
    ports_.log.info("application_state",
                    {{"application", to_string(run->app.request.id)}, {"state", to_string(state)}, {"reason", reason}});
    ports_.observer.application_entered(run->app);
    if (state != ApplicationState::kAccepted) leave_planning(run);
    if (is_final(state)) {
        begin_cycle(Duration{0});  // for what it leaves
        if (const auto mine = unfinished_.find(to_uri(run->app.owner));
            mine != unfinished_.end() && --mine->second <= 0)
            unfinished_.erase(mine);
        if (ports_.delegations != nullptr) ports_.delegations->forget(run->app.owner, run->app.request.id);
    }
    return !points || pass(run, points->after);
}

/// Looks at the stored state and takes the next step: called after every change, after a fault and after a restart.
void ApplicationService::advance(const std::shared_ptr<Run>& run) {
    const ApplicationStatus& status = run->app.status;
    // What is to be replaced stays until the new parts are held.
    if (!status.releasing.empty() && !run->release_waits && !run->swaps) release(run);
    if (is_final(status.state) || run->busy) return;
    if (!cancel_if_blocked(run)) return;
    if (status.cancel_requested && status.state < ApplicationState::kLaunching) {
        ApplicationStatus changed = status;
        changed.releasing.insert(changed.releasing.end(), changed.parts.begin(), changed.parts.end());
        changed.parts.clear();
        if (enter(run, std::move(changed), ApplicationState::kCancelled, why_cancelled(run))) release(run);
        return;
    }
    // Stopping was under way before a restart or a fault of the store: nothing more is started, all requests are sent
    // again.
    if (!status.stop_reason.empty() && !run->watching) return stop_everything(run);
    if (!run->must_stop.empty()) return stop(run, run->must_stop);
    switch (status.state) {
        case ApplicationState::kAccepted:
            return await_planning(run);
        case ApplicationState::kPlanned:
            return hold(run);
        case ApplicationState::kHeld:
            return commit(run);
        case ApplicationState::kCommitted:
            if (waits_in_queue(status)) return await_turn(run);
            if (!is_staged(run)) return stage(run);
            return status.start ? await_start(run) : start_coordinator(run);
        case ApplicationState::kLaunching:
            if (run->watching) return;
            if (run->launch_given_up) return end_launch(run);
            if (run->launched) return begin_to_run(run);
            return run->launching ? void() : start_coordinator(run);
        case ApplicationState::kRunning:
            return run->watching ? void() : watch(run);
        default:
            return;
    }
}

/// Who was revoked or blocked has nothing running or waiting any more. False where that could not be stored.
bool ApplicationService::cancel_if_blocked(const std::shared_ptr<Run>& run) {
    if (run->app.status.cancel_requested || !ports_.is_blocked(run->app.owner)) return true;
    ApplicationStatus changed = run->app.status;
    changed.cancel_requested = true;
    return save(run, std::move(changed));
}

std::string ApplicationService::why_cancelled(const std::shared_ptr<Run>& run) const {
    if (ports_.is_blocked(run->app.owner)) return "its owner was revoked or blocked";
    const std::string& other = run->app.status.cancelled_by;
    return "cancelled by " + (other.empty() ? std::string("its owner") : "the zone's operator '" + other + "'");
}

/// In memory, without a look into the store; null where it is not there.
std::shared_ptr<const Application> ApplicationService::known(const ApplicationId& id) const {
    const auto at = runs_.find(id);
    if (at == runs_.end()) return nullptr;
    return {at->second, &at->second->app};
}

std::map<ApplicationState, std::size_t> ApplicationService::open_by_state() const {
    std::map<ApplicationState, std::size_t> counts;
    for (const auto& [id, run] : runs_) ++counts[run->app.status.state];
    return counts;
}

Result<std::optional<Caller>> ApplicationService::owner_of(const ApplicationId& id) const {
    if (const auto open = known(id)) return std::optional(open->owner);
    const Result<std::optional<Application>> ended = ports_.store.find_application(id);
    if (!ended) return ended.error();
    return *ended ? std::optional((*ended)->owner) : std::nullopt;
}

Result<std::shared_ptr<const Application>> ApplicationService::find(const Caller& caller,
                                                                    const ApplicationId& id) const {
    std::shared_ptr<const Application> application = known(id);
    if (application == nullptr) {
        Result<std::optional<Application>> ended = ports_.store.find_application(id);
        if (!ended) return ended.error();
        if (*ended) application = std::make_shared<const Application>(**std::move(ended));
    }
    const bool may_see =
        application != nullptr && (application->owner == caller || caller.is_operator_of(ports_.config.organisation));
    if (!may_see) return Error{ErrorCode::kNotFound, "no application " + to_string(id) + " of yours is here", {}};
    return application;
}

Result<std::vector<ApplicationSummary>> ApplicationService::list(const Caller& caller, const Page& page) const {
    const bool sees_all = caller.is_operator_of(ports_.config.organisation);
    if (!sees_all && page.owner && !(*page.owner == caller)) return std::vector<ApplicationSummary>{};
    Result<std::vector<ApplicationSummary>> rows =
        ports_.store.list_applications({.owner = sees_all ? page.owner : caller,
                                        .after = page.after,
                                        .since = page.since,
                                        .states = page.states,
                                        .limit = page.limit});
    if (!rows) return rows;
    // The outlook in a queue changes more often than it is stored.
    for (ApplicationSummary& row : *rows)
        if (const auto run = runs_.find(row.id); run != runs_.end()) row = summary_of(run->second->app);
    return rows;
}

Result<ApplicationService::Counts> ApplicationService::counts(const Caller& caller) const {
    Counts counts{.since = ports_.clock.now() - kCountedAfterEnd};
    auto found = ports_.store.count_applications(
        caller.is_operator_of(ports_.config.organisation) ? std::nullopt : std::optional(caller), counts.since);
    if (!found) return found.error();
    counts.by_state = *std::move(found);
    return counts;
}

Result<Application> ApplicationService::cancel(const Caller& caller, const ApplicationId& id) {
    const Result<std::shared_ptr<const Application>> found = find(caller, id);
    if (!found) return found.error();
    if (is_final((*found)->status.state) || (*found)->status.cancel_requested) return **found;
    const std::shared_ptr<Run> run = runs_.at(id);
    ApplicationStatus changed = run->app.status;
    changed.cancel_requested = true;
    if (!(caller == run->app.owner)) changed.cancelled_by = caller.name;
    if (auto ok = ports_.store.update(id, changed); !ok) return ok.error();
    run->app.status = std::move(changed);
    if (run->app.status.state < ApplicationState::kLaunching)
        later(run, Duration{0}, &ApplicationService::advance);
    else
        stop(run, why_cancelled(run));
    return run->app;
}

}  // namespace zbs
