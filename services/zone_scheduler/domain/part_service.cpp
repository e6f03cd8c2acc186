#include "services/zone_scheduler/domain/part_service.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "algorithms/formats/rank_profile.hpp"
#include "algorithms/mapping/mapper.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/domain/mpich.hpp"
#include "services/zone_scheduler/domain/part_view.hpp"

namespace zbs {
namespace {

constexpr const char* kModelFile = "profile.json";
constexpr std::size_t kMaxModelBytes = limits::kMaxReplyBytes;  // a larger one could not be handed on
constexpr Duration kStopGrace = std::chrono::seconds{2};

/// Step of proxy `id` of a launch; part of the step's id, so that a repeat finds it again.
std::string step_id(const std::string& operation, int proxy) { return operation + "-p" + std::to_string(proxy); }

}  // namespace

PartService::PartService(const ZoneConfig& config, Clock& clock, ZoneStore& store, Executor& executor,
                         PeeringService& peerings, AuthorizationFilter& filter, Log& log, DecodeModel decode)
    : config_(config),
      clock_(clock),
      store_(store),
      executor_(executor),
      peerings_(peerings),
      filter_(filter),
      log_(log),
      decode_(std::move(decode)) {
    for (std::size_t m = 0; m < config_.zone.machines.size(); ++m) {
        first_of_.push_back(static_cast<std::int32_t>(machine_of_.size()));
        machine_of_.insert(machine_of_.end(), static_cast<std::size_t>(config_.zone.machines[m].processors),
                           static_cast<std::int32_t>(m));
    }
    busy_.assign(machine_of_.size(), false);
}

Result<void> PartService::resume() {
    Result<std::vector<PartRecord>> records = store_.load_parts();
    if (!records) return records.error();
    for (PartRecord& record : *records) {
        const PartId id = record.request.id;
        Live part{.record = std::move(record), .deadline = clock_.steady_now()};
        const PartState state = part.record.status.state;
        // A server never counts the time while it was down against anyone: full time again.
        part.deadline += state == PartState::kHeld ? config_.hold_ttl : config_.launch_window;
        if (!is_final(state)) {
            for (const std::int32_t p : part.record.processors) {
                if (p < 0 || static_cast<std::size_t>(p) >= busy_.size() || busy_[static_cast<std::size_t>(p)]) {
                    return Error{ErrorCode::kConflict,
                                 "part " + to_string(id) + " in the database holds processor " + std::to_string(p) +
                                     ", which the configured machines do not have free; restore the machines of the "
                                     "configuration until it has ended",
                                 {}};
                }
                busy_[static_cast<std::size_t>(p)] = true;
            }
            filter_.begin_use(part.record.account);
            live_.insert(id);
            log_.info("part_resumed", {{"part", to_string(id)}, {"state", to_string(state)}});
        }
        parts_.emplace(id, std::move(part));
    }
    watch();
    return {};
}

Result<void> PartService::check_caller(const Caller& caller, const Caller& user) const {
    if (caller.kind != CallerKind::kZone) return Error{ErrorCode::kUnauthenticated, "only zones may ask this", {}};
    if (!peerings_.accepts(caller)) {
        return Error{ErrorCode::kDenied,
                     "zone " + config_.zone.name + " does not accept organisation '" + caller.organisation +
                         "'; ask its operator (" + config_.contact + ") to accept it",
                     {}};
    }
    if (user.kind != CallerKind::kUser || user.organisation != caller.organisation) {
        return Error{ErrorCode::kDenied, "a zone may only ask for users of its own organisation", "/user"};
    }
    return {};
}

/// The free processors that the user may have, as one aggregate. Where she may have fewer than are free, machines with
/// most free ones count first.
Capacity PartService::count_free(const Entitlement& entitlement) const {
    std::vector<std::pair<int, std::size_t>> machines;  // free, index
    for (std::size_t m = 0; m < config_.zone.machines.size(); ++m) {
        int free = 0;
        for (int p = 0; p < config_.zone.machines[m].processors; ++p)
            free += !busy_[static_cast<std::size_t>(first_of_[m] + p)];
        machines.emplace_back(entitlement.machines[m] ? free : 0, m);
    }
    std::stable_sort(machines.begin(), machines.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    Capacity capacity{.total_processors = entitlement.total_processors};
    double squares = 0;
    for (const auto& [free, m] : machines) {
        const int counted = std::min(free, entitlement.processors - capacity.processors);
        const double speed = config_.zone.machines[m].speed;
        capacity.processors += counted;
        capacity.speed_sum += counted * speed;
        squares += counted * speed * speed;
        capacity.largest_machine = std::max(capacity.largest_machine, counted);
    }
    if (capacity.processors > 0) {
        capacity.speed_mean = capacity.speed_sum / capacity.processors;
        capacity.speed_variance =
            std::max(0.0, squares / capacity.processors - capacity.speed_mean * capacity.speed_mean);
    }
    return capacity;
}

Result<Capacity> PartService::capacity(const Caller& caller, const CapacityRequest& request) const {
    if (auto ok = check_caller(caller, request.user); !ok) return ok.error();
    const Entitlement entitlement =
        filter_.find({caller, request.user, request.groups, request.walltime, usage_of(caller.organisation)});
    // Counted for everybody, given to those entitled: who gets nothing waits as long as who gets all.
    Capacity capacity = count_free(entitlement);
    if (!entitlement.given) capacity = {};
    capacity.zone = config_.zone.name;
    capacity.within_zone = config_.zone.within_zone;
    for (const std::string& zone : request.zones) {
        if (zone == config_.zone.name) continue;
        const auto declared = std::find_if(config_.links.begin(), config_.links.end(),
                                           [&](const LinkToZone& l) { return l.zone == zone; });
        capacity.links.push_back({zone, declared == config_.links.end() ? config_.default_link : declared->link});
    }
    return capacity;
}

Result<PartStatus> PartService::hold(const Caller& caller, const PartRequest& request) {
    if (auto ok = check_caller(caller, request.user); !ok) return ok.error();
    if (caller.organisation != config_.organisation && check_delegation_) {
        const std::optional<PeeringRights> rights = peerings_.rights_now(caller.organisation);
        if (auto good = check_delegation_(request, !rights || rights->require_delegation); !good) {
            if (request.delegation) peerings_.note(caller.organisation, TrustEvent::kFailedCheck);
            return good.error();
        }
    }
    if (const auto known = parts_.find(request.id); known != parts_.end()) {
        if (known->second.record.home_caller == caller && known->second.record.request == request)
            return view(known->second);
        return Error{ErrorCode::kIdReused, "part " + to_string(request.id) + " was held with another request", "/id"};
    }

    const Entitlement entitlement =
        filter_.find({caller, request.user, request.groups, request.walltime, usage_of(caller.organisation)});
    const auto not_enough = [&](const std::string& why) {
        log_.info("part_refused", {{"home", to_uri(caller)}, {"user", to_uri(request.user)}, {"reason", why}});
        const bool own = caller.organisation == config_.organisation;
        return Error{ErrorCode::kRejected,
                     "zone " + config_.zone.name + " has not enough for this user now" + (own ? " (" + why + ")" : "") +
                         "; plan again",
                     {}};
    };
    // The free processors as a zone of their own; `number` leads back to ours.
    Zone free_zone{config_.zone.name, {}, config_.zone.within_machine, config_.zone.within_zone};
    std::vector<std::int32_t> number;
    for (std::size_t m = 0; m < config_.zone.machines.size(); ++m) {
        Machine machine = config_.zone.machines[m];
        machine.processors = 0;
        for (int p = 0; p < config_.zone.machines[m].processors; ++p) {
            const std::int32_t processor = first_of_[m] + p;
            if (busy_[static_cast<std::size_t>(processor)] || !entitlement.machines[m]) continue;
            ++machine.processors;
            number.push_back(processor);
        }
        if (machine.processors > 0) free_zone.machines.push_back(machine);
    }
    if (!entitlement.given) return not_enough(entitlement.why);
    if (std::cmp_greater(request.ranks.size(),
                         std::min<std::size_t>(number.size(), static_cast<std::size_t>(entitlement.processors)))) {
        return not_enough(std::to_string(request.ranks.size()) + " processors wanted, " +
                          std::to_string(number.size()) + " free, " + std::to_string(entitlement.processors) +
                          " allowed" + (entitlement.why.empty() ? "" : ": " + entitlement.why));
    }
    const Result<ResourceGraph> resources = ResourceGraph::make({std::move(free_zone)}, {});
    ZBS_EXPECTS(resources.has_value());
    const Mapper* mapper = find_mapper(config_.level_two_mapper);
    ZBS_EXPECTS(mapper != nullptr);
    const Result<Mapping> mapping =
        mapper->map(request.graph, *resources, MapOptions{.seed = request.seed, .max_tasks_per_processor = 1});
    if (!mapping) return not_enough(mapping.error().message);

    const Result<std::string> account = filter_.take_account(entitlement, request.user);
    if (!account)
        return account.error().code == ErrorCode::kRejected ? not_enough(account.error().message)
                                                            : outward(caller, account.error());
    const Result<std::uint64_t> token = store_.next_token();
    if (!token) return outward(caller, token.error());
    Live part{.record = {.home_caller = caller, .request = request},
              .deadline = clock_.steady_now() + config_.hold_ttl};
    part.record.request.delegation.reset();  // has done its work
    part.record.account = *account;
    PartStatus& status = part.record.status;
    status = {.id = request.id,
              .zone = config_.zone.name,
              .state = PartState::kHeld,
              .token = *token,
              .can_profile = !config_.profiler.empty()};
    for (std::size_t task = 0; task < request.ranks.size(); ++task) {
        const std::int32_t processor = number[static_cast<std::size_t>(mapping->processor_of[task])];
        const auto machine = static_cast<std::size_t>(machine_of_[static_cast<std::size_t>(processor)]);
        part.record.processors.push_back(processor);
        status.assignment.push_back(
            {request.ranks[task], config_.zone.machines[machine].name, processor - first_of_[machine]});
    }
    if (auto ok = store_.save(part.record); !ok) return outward(caller, ok.error());
    filter_.begin_use(part.record.account);
    for (const std::int32_t p : part.record.processors) busy_[static_cast<std::size_t>(p)] = true;
    log_.info("part_held", {{"part", to_string(request.id)},
                            {"application", to_string(request.application)},
                            {"home", request.home},
                            {"ranks", std::to_string(request.ranks.size())},
                            {"token", std::to_string(*token)}});
    live_.insert(request.id);
    const PartStatus answer = view(parts_.emplace(request.id, std::move(part)).first->second);
    watch();
    return answer;
}

PartService::Live* PartService::find(const Caller& caller, const PartId& id) {
    return const_cast<Live*>(std::as_const(*this).find(caller, id));
}

const PartService::Live* PartService::find(const Caller& caller, const PartId& id) const {
    const auto at = parts_.find(id);
    return at != parts_.end() && at->second.record.home_caller == caller ? &at->second : nullptr;
}

namespace {
Error no_such_part(const PartId& id) {
    return {ErrorCode::kNotFound, "no part " + to_string(id) + " of yours is here", {}};
}
Error wrong_token(const PartId& id) {
    return {ErrorCode::kConflict, "the token does not match the hold of part " + to_string(id), "/token"};
}
}  // namespace

PartStatus PartService::view(const Live& part) const {
    PartStatus status = part.record.status;
    if (status.state == PartState::kHeld)
        status.expires_in = std::max(Duration{0}, part.deadline - clock_.steady_now());
    if (part.stopping) status.reason = part.stop_reason;
    if (part.record.home_caller.organisation == config_.organisation) return status;
    return outside_view(std::move(status), part.stop_asked);
}

Error PartService::outward(const Caller& caller, const Error& error) const {
    const bool inside = error.code == ErrorCode::kInternal || error.code == ErrorCode::kUnavailable;
    if (caller.organisation == config_.organisation || !inside) return error;
    log_.warn("call_failed", {{"home", to_uri(caller)}, {"reason", error.message}});
    return {error.code, "zone " + config_.zone.name + " cannot do this now; try again", {}};
}

Result<void> PartService::save(Live& part, PartRecord changed, PartState state, const std::string& reason) {
    changed.status.state = state;
    changed.status.reason = reason;
    if (auto ok = store_.save(changed); !ok) return ok;
    const PartState was = part.record.status.state;
    part.record = std::move(changed);
    if (is_final(state)) {
        note_end(part, was);
        give_back(part);
        live_.erase(part.record.request.id);
    }
    log_.info("part_state",
              {{"part", to_string(part.record.request.id)}, {"state", to_string(state)}, {"reason", reason}});
    return {};
}

/// What the end of a part says of its home.
void PartService::note_end(const Live& part, PartState was) {
    const std::string& organisation = part.record.home_caller.organisation;
    switch (part.record.status.state) {
        case PartState::kCompleted:
            return peerings_.note(organisation, TrustEvent::kCleanEnd);
        case PartState::kExpired:
            return peerings_.note(organisation, TrustEvent::kHoldDropped);
        case PartState::kFailed:
            if (!part.not_started) peerings_.note(organisation, TrustEvent::kDirtyEnd);
            return;
        case PartState::kReleased:
            if (was == PartState::kHeld) peerings_.note(organisation, TrustEvent::kHoldKept);
            if (was == PartState::kCommitted && clock_.steady_now() >= part.deadline)
                peerings_.note(organisation, TrustEvent::kHoldDropped);
            return;  // a run that is cancelled is its user's right
        default:
            return;
    }
}

void PartService::give_back(const Live& part) {
    for (const std::int32_t p : part.record.processors) busy_[static_cast<std::size_t>(p)] = false;
    filter_.end_use(part.record.account);
}

Result<PartStatus> PartService::commit(const Caller& caller, const PartId& id, std::uint64_t token) {
    Live* part = find(caller, id);
    if (part == nullptr) return no_such_part(id);
    if (part->record.status.token != token) {
        peerings_.note(caller.organisation, TrustEvent::kFailedCheck);
        return wrong_token(id);
    }
    if (part->record.status.state == PartState::kHeld) {
        if (auto ok = save(*part, part->record, PartState::kCommitted, {}); !ok) return outward(caller, ok.error());
        part->deadline = clock_.steady_now() + config_.launch_window;
        peerings_.note(caller.organisation, TrustEvent::kHoldKept);
    } else if (is_final(part->record.status.state)) {
        return Error{
            ErrorCode::kConflict,
            "part " + to_string(id) + " is " + to_string(part->record.status.state) + ": " + view(*part).reason,
            {}};
    }
    return view(*part);
}

Result<PartStatus> PartService::launch(const Caller& caller, const PartId& id, const LaunchRequest& request) {
    Live* part = find(caller, id);
    if (part == nullptr) return no_such_part(id);
    PartRecord& record = part->record;
    if (record.status.token != request.token) {
        peerings_.note(caller.organisation, TrustEvent::kFailedCheck);
        return wrong_token(id);
    }
    if (record.operation == request.operation) return view(*part);  // asked again: nothing starts twice
    if (record.status.state != PartState::kCommitted) {
        return Error{ErrorCode::kConflict,
                     "part " + to_string(id) + " is " + to_string(record.status.state) + ", not committed",
                     {}};
    }
    if (request.proxies.size() > record.request.ranks.size()) {
        return invalid("more proxies (" + std::to_string(request.proxies.size()) + ") than ranks (" +
                           std::to_string(record.request.ranks.size()) + ") in this part",
                       "/proxies");
    }
    std::set<int> numbers;
    for (const LaunchRequest::Proxy& proxy : request.proxies) {
        if (!numbers.insert(proxy.id).second)
            return invalid("proxy " + std::to_string(proxy.id) + " is named twice", "/proxies");
    }
    std::set<std::string> machines;
    // In the words that home knows; every machine of a part starts its proxies the same way.
    for (const RankPlace& place : view(*part).assignment) machines.insert(place.machine);
    std::vector<std::vector<std::string>> commands;
    for (const LaunchRequest::Proxy& proxy : request.proxies) {
        if (!machines.contains(proxy.machine))
            return invalid("machine '" + proxy.machine + "' is not in this part", "/proxies");
        Result<std::vector<std::string>> argv = mpich::proxy_argv(config_.mpi_proxy, request.options, proxy.id);
        if (!argv) return Error{ErrorCode::kInvalidArgument, argv.error().message, "/options"};
        commands.push_back(*std::move(argv));
    }

    // Intent before act: once this is stored, recovery asks the executor about these steps instead of guessing.
    PartRecord changed = record;
    changed.operation = request.operation;
    changed.profile = request.profile && !config_.profiler.empty();
    for (const LaunchRequest::Proxy& proxy : request.proxies) changed.proxies.push_back(proxy.id);
    changed.status.state = PartState::kRunning;
    if (auto ok = store_.save(changed); !ok) return outward(caller, ok.error());
    record = std::move(changed);

    const std::string folder = executor_.folder(steps_of(record).front());
    for (std::size_t i = 0; i < commands.size(); ++i) {
        StepSpec step{.operation = steps_of(record)[i],
                      .argv = commands[i],
                      .account = config_.run_as_accounts ? record.account : std::string{},
                      .shares = {steps_of(record).front()},  // all proxies leave their profiles there
                      .walltime = record.request.walltime};
        step.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                            {"ZBS_ZONE", config_.zone.name},
                            {"ZBS_APPLICATION", to_string(record.request.application)}};
        if (record.profile) {
            step.environment.emplace_back("LD_PRELOAD", config_.profiler);
            step.environment.emplace_back("ZBS_PROFILE_OUT", folder + "/" + kModelFile);
        }
        if (auto started = executor_.start(step); !started) {
            const std::string reason =
                "zone " + config_.zone.name + " could not start its part: " + started.error().message;
            log_.warn("launch_failed", {{"part", to_string(id)}, {"reason", reason}});
            part->not_started = true;
            stop_steps(*part, reason);
            check_running(*part);
            watch();
            PartStatus failed = view(*part);
            failed.state = PartState::kFailed;  // final as soon as what had started is gone
            if (caller.organisation == config_.organisation) {
                failed.reason = reason;
                return failed;
            }
            return outside_view(std::move(failed), false);
        }
    }
    log_.info(
        "part_launched",
        {{"part", to_string(id)}, {"operation", request.operation}, {"proxies", std::to_string(commands.size())}});
    watch();
    return view(*part);
}

Result<PartStatus> PartService::status(const Caller& caller, const PartId& id) const {
    const Live* part = find(caller, id);
    if (part == nullptr) return no_such_part(id);
    return view(*part);
}

Result<PartStatus> PartService::release(const Caller& caller, const PartId& id, const std::string& reason) {
    Live* part = find(caller, id);
    if (part == nullptr) return no_such_part(id);
    const PartState state = part->record.status.state;
    if (state == PartState::kRunning) {
        part->stop_asked = true;
        stop_steps(*part, reason.empty() ? "released by home" : reason);
        check_running(*part);
    } else if (!is_final(state)) {
        if (auto ok = save(*part, part->record, PartState::kReleased, reason); !ok) return outward(caller, ok.error());
    }
    return view(*part);
}

std::vector<std::string> PartService::steps_of(const PartRecord& record) const {
    std::vector<std::string> steps;
    for (const int proxy : record.proxies) steps.push_back(step_id(record.operation, proxy));
    return steps;
}

void PartService::stop_steps(Live& part, const std::string& reason) {
    if (part.stopping) return;
    part.stopping = true;
    part.stop_reason = reason;
    for (const std::string& step : steps_of(part.record)) {
        if (executor_.status(step).state == StepStatus::State::kRunning) executor_.stop(step, kStopGrace);
    }
}

void PartService::watch() {
    if (watching_) return;
    if (live_.empty()) return;
    watching_ = true;
    clock_.after(config_.poll_every, [this] {
        watching_ = false;
        check_deadlines();
        watch();
    });
}

void PartService::check_deadlines() {
    for (const PartId& id : std::set<PartId>(live_)) {  // a copy: parts end on the way
        Live& part = parts_.at(id);
        const PartState state = part.record.status.state;
        Result<void> saved;
        if (state == PartState::kRunning) {
            check_running(part);
        } else if (state == PartState::kHeld && clock_.steady_now() >= part.deadline) {
            saved = save(part, part.record, PartState::kExpired, "the hold was not committed in time");
        } else if (state == PartState::kCommitted && clock_.steady_now() >= part.deadline) {
            saved =
                save(part, part.record, PartState::kReleased, "committed, but not launched within the launch window");
        }
        if (!saved) log_.warn("store_failed", {{"part", to_string(id)}, {"reason", saved.error().message}});
    }
}

void PartService::check_running(Live& part) {
    bool all_gone = true;
    int worst = 0;
    std::string why;
    for (const std::string& step : steps_of(part.record)) {
        const StepStatus status = executor_.status(step);
        if (status.state == StepStatus::State::kRunning) {
            all_gone = false;
        } else if (status.state == StepStatus::State::kExited && status.exit_code != 0 && worst == 0) {
            worst = status.exit_code;
            why = status.reason;
        }
        // kUnknown: never started (crash or fault before its start); nothing of it is alive.
    }
    if (!all_gone) {
        // One proxy lost takes its ranks with it: the part cannot go on.
        if (worst != 0 && !part.stopping)
            stop_steps(part, "a proxy of zone " + config_.zone.name + " ended with code " + std::to_string(worst) +
                                 (why.empty() ? "" : ": " + why));
        return;
    }
    PartState end = PartState::kCompleted;
    std::string reason;
    if (part.stopping) {
        reason = part.stop_reason;
        end = part.stop_asked ? PartState::kReleased : PartState::kFailed;
    } else if (worst != 0) {
        reason = "a proxy of zone " + config_.zone.name + " ended with code " + std::to_string(worst) +
                 (why.empty() ? "" : ": " + why);
        end = PartState::kFailed;
    }
    PartRecord changed = part.record;
    changed.status.exit_code = worst;
    changed.status.has_profile =
        part.record.profile && profile(part.record.home_caller, part.record.request.id).has_value();
    if (auto ok = save(part, std::move(changed), end, reason); !ok)
        log_.warn("store_failed", {{"part", to_string(part.record.request.id)}, {"reason", ok.error().message}});
}

Result<ApplicationModel> PartService::profile(const Caller& caller, const PartId& id) const {
    const Live* part = find(caller, id);
    if (part == nullptr) return no_such_part(id);
    const Error none{ErrorCode::kNotFound, "part " + to_string(id) + " left no profile", {}};
    if (!part->record.profile || part->record.proxies.empty()) return none;
    const std::string step = steps_of(part->record).front();
    if (const Result<std::string> text = executor_.read(step, kModelFile, 0, kMaxModelBytes)) {
        if (Result<ApplicationModel> model = decode_(*text))
            return model;  // the user's program could have written anything there
    }
    // The run was cut short: every rank's own file is still there.
    std::vector<std::string> files;
    for (const Executor::File& file : executor_.list(step, std::string(kModelFile) + ".rank.")) {
        if (Result<std::string> bytes = executor_.read(step, file.name, 0, kMaxModelBytes))
            files.push_back(*std::move(bytes));
    }
    if (files.empty()) return none;
    const std::vector<std::string_view> views(files.begin(), files.end());
    Result<ApplicationModel> merged = formats::merge_rank_files(views);
    if (!merged) return none;
    return merged;
}

std::optional<Caller> PartService::home_of(const PartId& id) const {
    const auto at = parts_.find(id);
    if (at == parts_.end()) return std::nullopt;
    return at->second.record.home_caller;
}

PeeringUsage PartService::usage_of(const std::string& organisation) const {
    PeeringUsage usage;
    for (const PartId& id : live_) {
        const PartRecord& record = parts_.at(id).record;
        if (record.home_caller.organisation != organisation) continue;
        ++usage.parts;
        usage.processors += static_cast<int>(record.processors.size());
    }
    return usage;
}

int PartService::free_processors() const { return static_cast<int>(std::count(busy_.begin(), busy_.end(), false)); }

std::vector<PartService::NodeView> PartService::nodes() const {
    std::vector<NodeView> views;
    for (std::size_t m = 0; m < config_.zone.machines.size(); ++m) {
        NodeView view{config_.zone.machines[m], 0};
        for (int p = 0; p < view.machine.processors; ++p)
            view.used += busy_[static_cast<std::size_t>(first_of_[m] + p)];
        views.push_back(std::move(view));
    }
    return views;
}

std::vector<PartRecord> PartService::parts() const {
    std::vector<PartRecord> live;
    for (const PartId& id : live_) live.push_back(parts_.at(id).record);
    return live;
}

}  // namespace zbs
