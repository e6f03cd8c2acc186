#include "services/zone_scheduler/home/application_service.hpp"

#include <algorithm>
#include <utility>

#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/owned_id.hpp"
#include "services/common/messages/states.hpp"
#include "services/zone_scheduler/home/input_upload.hpp"
#include "services/zone_scheduler/home/result_transfer.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"
#include "services/zone_scheduler/records/part_view.hpp"
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

/// Random, twice as long on average with every round, up to 10 s: the more homes want the same, the more they spread.
Duration back_off(int round, Rng& rng) {
    const std::uint64_t most = std::min<std::uint64_t>(200'000ULL << std::min(round, 10), 10'000'000);
    return Duration{static_cast<std::int64_t>(50'000 + rng.below(most))};
}

/// Whether home has what is to go with an application. Errors: kRejected, kTooLarge, kConflict, kInvalidArgument.
Result<void> check_staging(const ApplicationPorts& ports, const Caller& caller, const Staging& staging) {
    if (staging.empty()) return {};
    if (ports.files == nullptr)
        return Error{ErrorCode::kRejected, "zone " + ports.config.zone.name + " takes no files of users", "/staging"};
    if (auto fits = ports.files->check_bounds(staging, "/staging"); !fits) return fits;
    for (std::size_t i = 0; i < staging.inputs.size(); ++i) {
        const StagedFile& file = staging.inputs[i];
        const Result<FilePresence> here = ports.files->look(caller, file.digest);
        if (!here) return here.error();
        const std::string at = "/staging/inputs/" + std::to_string(i);
        if (!here->complete)
            return Error{ErrorCode::kConflict,
                         "file " + file.name + " is not here; send it to /v1/files/" + file.digest + " first",
                         at + "/digest"};
        if (here->have != file.size)
            return invalid("file " + file.name + " has " + std::to_string(here->have) + " bytes", at + "/size");
        ports.files->touch(caller, file.digest);
    }
    return {};
}

}  // namespace

ApplicationService::ApplicationService(ApplicationPorts ports)
    : ports_(std::move(ports)),
      profiles_(ports_.clock, ports_.store, ports_.store, ports_.log, ports_.program_digest),
      jitter_(static_cast<std::uint64_t>(to_microseconds(ports_.clock.now())) ^
              std::hash<std::string>{}(ports_.config.zone.name)),
      zones_(ports_, backoff_),
      apply_([this](const std::shared_ptr<Run>& run, const ApplicationInput& event) { apply(run, event); }),
      calls_(ports_, zones_, apply_),
      plans_(ports_),
      launcher_(ports_, apply_) {
    if (ports_.files == nullptr) return;
    // Files that an application waits with stay in the library.
    ports_.files->add_user([this](const Caller& owner, const std::string& digest) {
        return std::ranges::any_of(runs_, [&](const auto& item) {
            const Application& app = item.second->app;
            return app.owner == owner && app.status.state < ApplicationState::kRunning &&
                   std::ranges::any_of(app.request.staging.inputs,
                                       [&](const StagedFile& file) { return file.digest == digest; });
        });
    });
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
        run->phase = phase_after_restart(run->app.status.state);
        recover(run);
        const ApplicationState state = run->app.status.state;
        if (state == ApplicationState::kAccepted)
            ++waiting;
        else if (!is_final(state))
            ports_.log.info("application_resumed",
                            {{"application", to_string(run->app.request.id)}, {"state", to_string(state)}});
        if (state == ApplicationState::kPlanned)
            apply(run, event::Restarted{});
        else if (state == ApplicationState::kAccepted && run->app.status.releasing.empty())
            await_planning(run);
        else
            advance_after(run, Duration{0});
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
    if (ports_.step_observer) ports_.step_observer({*run});
}

void ApplicationService::restate_applications() const {
    for (const auto& [id, run] : runs_) ports_.step_observer({*run});
}

Result<Application> ApplicationService::submit(const Caller& caller, const ApplicationRequest& request) {
    if (caller.kind == CallerKind::kAnonymous)
        return Error{ErrorCode::kUnauthenticated, "say who you are: no identity came with the call", {}};
    if (!caller.is_user_of(ports_.config.organisation)) {
        return Error{
            ErrorCode::kDenied, "only users of organisation '" + ports_.config.organisation + "' may submit here", {}};
    }
    if (auto own = check_mark(request.id.value, caller); !own) return own.error();
    if (auto known = check_plan_mapper(request.mapper); !known) return known.error();
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
    if (auto good = check_staging(ports_, caller, request.staging); !good) return good.error();
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
    advance_after(run, Duration{0});
    return run->app;
}

void ApplicationService::advance_after(const std::shared_ptr<Run>& run, Duration delay) {
    ports_.clock.after(delay, [this, run] { apply(run, event::Advance{}); });
}

/// What the machine wants done, but for requests to zones about parts and the launcher.
struct ApplicationService::Performer {
    ApplicationService& home;
    const std::shared_ptr<Run>& run;

    void operator()(const effect::Advance&) const { home.apply(run, event::Advance{}); }
    void operator()(const effect::AwaitPlanning&) const { home.await_planning(run); }
    void operator()(const effect::AwaitPlanningLater& later) const {
        // Random, so that two homes that took from each other do not meet again.
        home.advance_after(run, back_off(later.round, home.jitter_));
    }
    void operator()(const effect::SetTimer& timer) const {
        const Duration spread{timer.is_spread ? static_cast<std::int64_t>(home.jitter_.below(50'000)) : 0};
        home.ports_.clock.after(timer.after + spread, [home = &home, run = run, fired = timer.timer] {
            home->apply(run, event::TimerFired{fired});
        });
    }
    void operator()(const effect::BeginCycle& cycle) const { home.begin_cycle(cycle.after); }
    void operator()(const effect::AskElsewhere&) const { home.ask_elsewhere(run); }
    void operator()(const effect::SendFiles&) const {
        std::make_shared<InputUpload>(home.ports_, home.zones_, run, home.apply_)->begin();
    }
    void operator()(const effect::FindSuspect& found) const { home.apply(run, home.suspect(*run, found.reason)); }
    void operator()(const effect::FetchResults&) const {
        std::make_shared<ResultTransfer>(home.ports_, home.zones_, run, home.apply_)->begin();
    }
    void operator()(const effect::StoreProfile& store) const { home.store_profile(run, store.measured); }
    void operator()(const effect::Release& release) const {
        if (release.after == Duration{0}) return home.apply(run, release.due);
        home.ports_.clock.after(release.after, [home = &home, run = run, due = release.due] { home->apply(run, due); });
    }
    /// No zone can pretend that a program has ended well in every part.
    void operator()(const effect::RecordKept&) const {
        for (const ApplicationPart& part : run->app.status.parts) {
            home.backoff_.record_success(part.zone);
            Doubt& doubt = home.doubts_[part.zone];
            doubt = {0, doubt.good_ends + 1};
            home.ports_.record_reputation(home.zones_.address_of(part.zone).who.organisation, TrustEvent::kHoldKept);
        }
    }
    void operator()(const effect::RecheckPeer& peer) const { home.ports_.peers.recheck(peer.zone); }
    void operator()(const effect::RecordLaunchFailure& failure) const {
        home.backoff_.record_failure(failure.zone, home.ports_.clock.steady_now());
    }
};

/// Steps, stores, then performs the effects in order.
void ApplicationService::apply(const std::shared_ptr<Run>& run, const ApplicationInput& event) {
    const bool had_turn = has_turn(run->phase), is_ended = !runs_.contains(run->app.request.id);
    const ApplicationState before = run->app.status.state;
    const Moment now = moment_of(*run);
    ApplicationStep next = step(std::move(*run), event, now, ports_.config);
    *run = std::move(next.run);
    const bool is_stored = !next.save || store(run, *std::move(next.save));
    if (ports_.step_observer && !is_ended) ports_.step_observer({*run, &event, now, is_stored});
    if (!had_turn && has_turn(run->phase)) ++planning_;
    // Its holds are answered: the zones' answers count them from now on.
    if (had_turn && !has_turn(run->phase) && --planning_ == 0) begin_cycle(Duration{0});
    const std::optional<Around> points = failpoints_of(run->app.status.state);
    if (!is_stored || (points && run->app.status.state != before && !pass(run, points->after))) return;
    const auto perform = [this, &run](const auto& effect) {
        if constexpr (requires { calls_.perform(run, effect); })
            calls_.perform(run, effect);
        else if constexpr (requires { launcher_.perform(run, effect); })
            launcher_.perform(run, effect);
        else
            Performer{*this, run}(effect);
    };
    for (const ApplicationEffect& effect : next.effects) std::visit(perform, effect);
}

Moment ApplicationService::moment_of(const Run& run) const {
    Moment now{ports_.clock.now(), ports_.clock.steady_now(), ports_.is_blocked(run.app.owner)};
    if (!run.app.status.start) return now;
    for (const ApplicationPart& part : run.app.status.parts)
        if (const std::string rests = zones_.why_it_rests(part.zone); !rests.empty())
            now.resting += "; zone " + part.zone + " " + rests;
    return now;
}

/// False where the point makes the work on this application stop here: it goes on from what is stored.
bool ApplicationService::pass(const std::shared_ptr<Run>& run, failpoint::Point point) {
    if (failpoint::reach(point)) return true;
    advance_after(run, kStoreRetry);
    return false;
}

/// One stored write for the new state and all that changes with it: a crash leaves the old state or the new, nothing
/// between.
bool ApplicationService::store(const std::shared_ptr<Run>& run, ApplicationStep::Save save) {
    const ApplicationStatus& old = run->app.status;
    const ApplicationState state = save.status.state;
    const bool enters = state != old.state;
    const bool stops = old.stop_reason.empty() && !save.status.stop_reason.empty();
    const std::string id = to_string(run->app.request.id);
    const std::optional<Around> points = enters ? failpoints_of(state) : std::nullopt;
    if (points && !pass(run, points->before)) return false;
    if (auto ok = ports_.store.update(run->app.request.id, save.status); !ok) {
        ports_.log.warn("store_failed", {{"application", id}, {"reason", ok.error().message}});
        advance_after(run, kStoreRetry);
        return false;
    }
    keep(*run, std::move(save));
    count_reservation(*run);
    if (!is_open(run->app.status)) {  // who looks for it from now on finds it in the store
        learned_.erase(run->app.request.id);
        runs_.erase(run->app.request.id);
    }
    if (stops) ports_.log.info("application_stopping", {{"application", id}, {"reason", run->app.status.stop_reason}});
    if (enters) entered(run);
    return true;
}

void ApplicationService::entered(const std::shared_ptr<Run>& run) {
    const ApplicationStatus& status = run->app.status;
    ports_.log.info("application_state", {{"application", to_string(run->app.request.id)},
                                          {"state", to_string(status.state)},
                                          {"reason", status.reason}});
    ports_.observer.application_entered(run->app);
    if (status.state != ApplicationState::kAccepted) waiting_.erase(turn_of(*run));
    if (!is_final(status.state)) return;
    drop_plan(run);
    begin_cycle(Duration{0});  // for what it leaves
    if (const auto mine = unfinished_.find(to_uri(run->app.owner)); mine != unfinished_.end() && --mine->second <= 0)
        unfinished_.erase(mine);
    if (ports_.delegations != nullptr) ports_.delegations->forget(run->app.owner, run->app.request.id);
}

/// All zones of other organisations are in doubt. Of those, the one that was in most such launches since a program has
/// ended well there, then the one in which fewest programs have.
event::LaunchFailed ApplicationService::suspect(const Run& run, const std::string& reason) {
    std::vector<ZoneName> others;
    for (const ApplicationPart& part : run.app.status.parts)
        if (zones_.address_of(part.zone).who.organisation != ports_.config.organisation) others.push_back(part.zone);
    for (const ZoneName& zone : others) ++doubts_[zone].failures;
    if (others.empty())
        for (const ApplicationPart& part : run.app.status.parts) others.push_back(part.zone);
    const auto doubt = [this](const ZoneName& zone) {
        const auto at = doubts_.find(zone);
        return at == doubts_.end() ? std::pair(0, 0) : std::pair(at->second.failures, -at->second.good_ends);
    };
    return {{std::ranges::max(others, {}, doubt), reason}, others.size() > 1};
}

void ApplicationService::store_profile(const std::shared_ptr<Run>& run, std::optional<Duration> measured) {
    const RunEnd& end = std::get<phase::Concluding>(run->phase).end;
    const Profile profile =
        profiles_.of_run(ProfileId{ports_.ids.fresh(run->app.owner)}, run->app, *end.profile, measured);
    if (auto ok = ports_.store.insert(profile); !ok) {
        ports_.log.warn("profile_not_stored",
                        {{"application", to_string(run->app.request.id)}, {"reason", ok.error().message}});
        return apply(run, event::ProfileStored{});
    }
    apply(run, event::ProfileStored{profile.id});
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
    apply(run, event::Cancelled{caller == run->app.owner ? std::string{} : caller.name});
    if (!run->app.status.cancel_requested)
        return Error{ErrorCode::kUnavailable, "this cannot be stored now, so it is not done; try again", {}};
    if (run->app.status.state < ApplicationState::kLaunching)
        advance_after(run, Duration{0});
    else
        apply(run, event::StopAsked{why_cancelled(run->app, ports_.is_blocked(run->app.owner))});
    return run->app;
}

Result<StagedResults> ApplicationService::results(const Caller& caller, const ApplicationId& id) const {
    const Result<std::shared_ptr<const Application>> found = find(caller, id);
    if (!found) return found.error();
    StagedResults results = (*found)->status.results.value_or(StagedResults{});
    results.complete = is_final((*found)->status.state);
    return results;
}

Result<FileChunk> ApplicationService::result(const Caller& caller, const ApplicationId& id, const std::string& name,
                                             std::uint64_t offset) const {
    const Result<StagedResults> known = results(caller, id);
    if (!known) return known.error();
    for (const ResultFile& file : known->files) {
        if (file.name != name || ports_.files == nullptr) continue;
        if (offset > file.size) return invalid("is behind the end of the file", "offset");
        Result<std::string> bytes =
            ports_.files->depot().read(results_shelf(id), file.digest, offset, limits::kMaxFileChunkBytes);
        if (!bytes) return bytes.error();
        return FileChunk{.token = 0, .size = file.size, .offset = offset, .bytes = *std::move(bytes)};
    }
    return Error{ErrorCode::kNotFound, "application " + to_string(id) + " has no result of this name", {}};
}

}  // namespace zbs
