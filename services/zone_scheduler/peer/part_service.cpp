#include "services/zone_scheduler/peer/part_service.hpp"

#include <algorithm>
#include <utility>

#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/states.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {
namespace {

constexpr Duration kMachinesEvery = std::chrono::seconds{10};

/// Calls the one of these functions that takes the argument.
template <class... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};

/// Passed before a step is stored. No `event`: the first step of a part.
std::optional<failpoint::Point> point_before(const part::Event* event, std::optional<PartState> was, PartState is) {
    if (event == nullptr) return failpoint::Point::kPeerHoldDecided;
    if (std::holds_alternative<part::Release>(*event)) return failpoint::Point::kPeerReleaseAsked;
    if (was == PartState::kRunning && is_final(is)) return failpoint::Point::kPeerEndSeen;
    return {};
}

/// `was`: its state before the step; none of a new part.
void log_step(Log& log, const part::State& part, std::optional<PartState> was) {
    const PartRequest& request = part.record.request;
    const PartStatus& status = part.record.status;
    if (was)
        log.info("part_state",
                 {{"part", to_string(request.id)}, {"state", to_string(status.state)}, {"reason", status.reason}});
    else
        log.info("part_held", {{"part", to_string(request.id)},
                               {"application", to_string(request.application)},
                               {"home", request.home},
                               {"ranks", std::to_string(request.ranks.size())},
                               {"start_in_s", std::to_string(to_seconds(request.start_in))},
                               {"partition", part.record.partition},
                               {"token", std::to_string(status.token)}});
}

PartPorts complete(PartPorts ports) {
    const ZoneConfig& config = ports.config;
    if (!ports.link_to)
        ports.link_to = [&config](const ZoneName& zone) {
            const LinkToZone* declared = declared_link(config, zone);
            return declared != nullptr ? declared->link : config.default_link;
        };
    if (!ports.part_observer) ports.part_observer = [](const part::Trace&) {};
    if (!ports.link_within) ports.link_within = [&config] { return config.zone.within_zone; };
    if (!ports.machines && ports.allocations != nullptr) {
        ports.machines = [source = ports.allocations](auto done) { source->machines(std::move(done)); };
        ports.machines_every = kMachinesEvery;
    }
    return ports;
}

}  // namespace

PartService::PartService(PartPorts ports)
    : ports_(complete(std::move(ports))),
      config_(ports_.config),
      clock_(ports_.clock),
      store_(ports_.store),
      log_(ports_.log),
      table_(config_, clock_, ports_.queue_observer, ports_.tables),
      sharing_(config_, ports_.partition, table_.queue(), clock_, store_, log_, ports_.slices,
               [this] {
                   std::vector<const PartRecord*> running = table_.records();
                   std::erase_if(running, [](const auto* part) { return part->status.state != PartState::kRunning; });
                   return running;
               }),
      allocations_(ports_.allocations, clock_, log_),
      staging_(config_, allocations_, ports_.executor, ports_.executor, ports_.files, log_),
      results_(config_, staging_, clock_, store_, ports_.executor, ports_.executor, log_),
      runner_({config_, ports_.executor, allocations_, table_.ledger(), staging_, results_, ports_.decode}),
      offers_(config_, clock_, table_, ports_.filter),
      queue_(config_, clock_, table_, ports_.observer,
             {.find =
                  [this](const PartRecord& part, const PeeringUsage& usage) {
                      const PartRequest& request = part.request;
                      return ports_.filter.find({part.home_caller,
                                                 request.user,
                                                 request.groups,
                                                 request.walltime,
                                                 request.partition,
                                                 usage,
                                                 {},
                                                 &config_});
                  },
              .share_of = [this](const OrganisationName& party) -> std::optional<double> {
                  const std::optional<PeeringRights> rights = ports_.peerings.rights_now(party);
                  if (party == config_.organisation || !rights) return std::nullopt;
                  return rights->share;
              }},
             {.give = [this](const Shared& part, const ProcessorSet& usable) { return give_processors(part, usable); },
              .withdraw = [this](const Shared& part,
                                 const std::string& reason) { try_apply(part, part::Withdraw{reason}); }}) {
    if (ports_.files == nullptr) return;
    ports_.files->add_user([this](const Caller& owner, const std::string& digest) {
        return std::ranges::any_of(table_.all(), [&](const auto& item) {
            const PartRecord& record = item.second->record;
            const bool has_copies = record.status.state == PartState::kRunning && !staging_.runs_on_agents(record);
            return record.staging && record.request.user == owner && !has_copies &&
                   std::ranges::any_of(record.staging->inputs,
                                       [&](const StagedFile& file) { return file.digest == digest; });
        });
    });
}

/// Where the zone has partitions: whether a stored part lies in this one. Errors: kConflict.
Result<void> PartService::check_machines(const PartRecord& record) const {
    for (const RankPlace& place : record.status.assignment) {
        const auto& machines = config_.zone.machines;
        if (!ports_.is_here ||
            std::ranges::find(machines, std::string(place.machine), &Machine::name) != machines.end())
            continue;
        return Error{
            ErrorCode::kConflict,
            "part " + to_string(record.request.id) + " in the database lies on machine '" + place.machine +
                "', too, which has another queue now, or is gone; restore [[machine]] and [[partition]] of the "
                "configuration until it has ended",
            {}};
    }
    return {};
}

Result<void> PartService::resume() {
    Result<std::vector<PartRecord>> records = store_.load_open_parts();
    if (!records) return records.error();
    std::vector<Shared> parts;
    for (PartRecord& record : *records) {
        if (ports_.is_here && !ports_.is_here(record)) continue;
        record.partition = ports_.partition;
        if (auto inside = check_machines(record); !inside) return inside;
        record.processors = table_.ledger().processors_of(record.status.assignment, record.processors);
        Result<part::State> part = part::resume(config_, std::move(record), now());
        if (!part) return part.error();
        parts.push_back(std::make_shared<part::State>(*std::move(part)));
    }
    std::vector<bool> taken(table_.queue().calendar().processors(), false);
    std::map<std::uint64_t, Shared> queued;  // by token: in the order in which they came
    for (const Shared& part : parts) {
        const PartRecord& record = part->record;
        const PartId id = record.request.id;
        if (auto fits = table_.ledger().check(id, record.processors, record.status.assignment); !fits) return fits;
        for (const std::int32_t p : record.processors) {
            if (part::is_reserved(record)) break;  // the launch asks again whether they are free
            if (taken[static_cast<std::size_t>(p)])
                log_.warn("processor_shared", {{"part", to_string(id)}, {"processor", std::to_string(p)}});
            taken[static_cast<std::size_t>(p)] = true;
        }
        runner_.place(record);
        table_.add(part);
        ports_.part_observer({*part});
        if (part::is_queued(record))
            queued.emplace(record.status.token, part);
        else
            table_.promise(*part);
        ports_.filter.begin_use(record.account);
        allocations_.adopt(id, config_.run_as_accounts ? record.account : AccountName{},
                           record.status.state != PartState::kHeld,
                           [this, id](const Result<void>& seen) { take_grant(id, seen); });
        log_.info("part_resumed", {{"part", to_string(id)}, {"state", to_string(record.status.state)}});
    }
    for (const auto& [token, part] : queued) queue_.add(*part);
    if (auto known = queue_.resume(store_, ports_.partition); !known)  // rows and shares are made anew
        log_.warn("queue_not_resumed", {{"reason", known.error().message}});
    watch();
    return {};
}

void PartService::restate_parts() const {
    for (const auto& [id, part] : table_.all()) ports_.part_observer({*part});
}

void PartService::start() {
    sharing_.send();  // also where nothing runs: agents keep the columns of a life before
    check_again();
}

Result<PartService::Shared> PartService::find(const PartId& id) const {
    if (Shared part = table_.find(id)) return part;
    Result<std::optional<PartRecord>> ended = store_.find_part(id);
    if (!ended) return ended.error();
    if (!*ended) return Shared{};
    return std::make_shared<part::State>(part::State{.record = **std::move(ended), .phase = part::Ended{}});
}

Result<PartService::Shared> PartService::find(const Caller& caller, const PartId& id) const {
    Result<Shared> part = find(id);
    // Not "not found": home would take that for the end of it.
    if (!part) return redact_for(caller, part.error());
    if (*part == nullptr || (*part)->record.home_caller != caller) return no_such_part(id);
    return part;
}

Result<PartService::Shared> PartService::find_to_change(const Caller& caller, const PartId& id, std::uint64_t token) {
    Result<Shared> part = find(caller, id);
    if (!part) return part;
    if ((*part)->record.status.token != token) {
        ports_.peerings.record(caller.organisation, TrustEvent::kFailedCheck);
        return Error{ErrorCode::kConflict, "the token does not match the hold of part " + to_string(id), "/token"};
    }
    if (is_blocked((*part)->record))
        return Error{ErrorCode::kDenied, "the user or the home of part " + to_string(id) + " was blocked", {}};
    // The watch asks, and so does whoever uses a token: a zone that stood still hears the call before the clock.
    if (!allocations_.is_asked(id)) {
        if (auto ok = apply(*part, part::TimePassed{}); !ok) return redact_for(caller, ok.error());
    }
    return part;
}

bool PartService::is_blocked(const PartRecord& record) const {
    return ports_.is_blocked(record.request.user) || ports_.is_blocked(record.home_caller);
}

/// No process of another part is on its processors.
bool PartService::is_ready(const part::State& part) const {
    if (!allocations_.is_held(part.record.request.id)) return false;
    for (const RankPlace& place : part.record.status.assignment)
        if (config_.agents.contains(place.machine) && table_.ledger().is_out_of_order(place.machine)) return false;
    return !table_.is_blocked(part);
}

Result<void> PartService::check_caller(const Caller& caller, const Caller& user) const {
    if (caller.kind != CallerKind::kZone) return Error{ErrorCode::kUnauthenticated, "only zones may ask this", {}};
    if (!ports_.peerings.accepts(caller)) {
        if (ports_.peerings.state_of(caller.organisation) == PeeringState::kSuspended)
            return Error{ErrorCode::kUnavailable,
                         "zone " + config_.zone.name + " has suspended the peering with organisation '" +
                             caller.organisation + "'; its operator (" + config_.contact + ") may resume it",
                         {}};
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

PartStatus PartService::view(const part::State& part) const {
    PartStatus status = part.record.status;
    const Duration now = clock_.steady_now();
    const bool is_own = part.record.home_caller.organisation == config_.organisation;
    const bool queued = part::is_queued(part.record);
    if (const auto deadline = part::deadline_of(part)) status.expires_in = std::max(Duration{0}, *deadline - now);
    if (queued) status.queue = queue_.outlook(part, is_own);
    if (part::is_reserved(part.record)) status.starts_in = std::max(Duration{0}, part.start - now);
    if (status.state == PartState::kCommitted) status.ready = !queued && is_ready(part);
    status.file_system = config_.staging.shared_file_system;
    const Duration asked = part.record.request.grace, given = part::grace_of(config_, asked);
    if (given < asked) status.grace = given;
    const part::Stop* stop = part::stop_of(part);
    if (stop != nullptr) status.reason = stop->reason;
    if (is_own && status.state == PartState::kRunning) status.work = runner_.work_of(part.record);
    if (is_own) return status;
    return outside_view(std::move(status), stop != nullptr && stop->is_asked);
}

Error PartService::redact_for(const Caller& caller, const Error& error) const {
    const bool inside = error.code == ErrorCode::kInternal || error.code == ErrorCode::kUnavailable;
    if (caller.organisation == config_.organisation || !inside) return error;
    log_.warn("call_failed", {{"home", to_uri(caller)}, {"reason", error.message}});
    return {error.code, "zone " + config_.zone.name + " cannot do this now; try again", {}};
}

/// The error for a home whose hold is not granted.
Error PartService::refusal(const Caller& home, const std::string& why) const {
    const bool own = home.organisation == config_.organisation;
    return {ErrorCode::kRejected,
            "zone " + config_.zone.name + " has not enough for this user now" + (own ? " (" + why + ")" : "") +
                "; plan again",
            {}};
}

/// The one way in which a part changes: decide, then carry out.
Result<void> PartService::apply(const Shared& part, const part::Event& event) {
    const part::Now at = now();
    Result<part::Step> step = part::step(config_, *part, event, at);
    if (!step) {
        ports_.part_observer({*part, &event, at, &step.error()});
        return step.error();
    }
    if (!step->next) return {};
    return carry_out(part, &event, at, *std::move(step));
}

/// Stores what a step changes, reports it, then acts. `event`: null for the first step of a part.
Result<void> PartService::carry_out(const Shared& part, const part::Event* event, part::Now at, part::Step step) {
    const auto was = event == nullptr ? std::nullopt : std::optional(part->record.status.state);
    if (const auto point = point_before(event, was, step.next->record.status.state)) {
        if (auto reached = failpoint::reach(*point); !reached) return reached;
    }
    if (step.saves) {
        if (auto saved = store_.save(step.next->record); !saved) return saved;
    }
    *part = *std::move(step.next);
    ports_.part_observer({*part, event, at});
    if (part->record.status.state != was) {
        log_step(log_, *part, was);
        ports_.observer.part_entered(part->record);
    }
    for (const part::Effect& effect : step.effects) {
        if (auto done = perform(part, effect); !done) return done;
    }
    return {};
}

/// Where nobody waits for the answer: what could not be stored comes up again.
void PartService::try_apply(const Shared& part, const part::Event& event) {
    if (auto applied = apply(part, event); !applied)
        log_.warn("store_failed", {{"part", to_string(part->record.request.id)}, {"reason", applied.error().message}});
}

Result<void> PartService::perform(const Shared& part, const part::Effect& effect) {
    const PartRecord& record = part->record;
    const PartId& id = record.request.id;
    Result<void> reached;
    std::visit(Overloaded{
                   [&](const part::Enter&) {
                       table_.add(part);
                       ports_.filter.begin_use(record.account);
                       watch();
                   },
                   [&](const part::JoinQueue&) {
                       queue_.add(*part);
                       queue_.run();
                   },
                   [&](const part::AskAllocation&) { ask_allocation(*part); },
                   [&](const part::Promise&) { table_.promise(*part); },
                   [&](const part::LeaveQueue&) { table_.queue().remove(id); },
                   [&](const part::KeepAllocation&) { allocations_.keep(id); },
                   [&](const part::StartSteps& start) { start_steps(part, start.request); },
                   [&](const part::StopSteps& stop) { runner_.stop(record, stop.grace); },
                   [&](const part::LookAgain&) { look_at(part); },
                   [&](const part::AskVerdict&) { ask_verdict(id); },
                   [&](const part::ReturnAllocation&) {
                       allocations_.finish(id, [this, id] {
                           if (const Shared returned = table_.find(id)) try_apply(returned, part::GivenBack{});
                       });
                   },
                   [&](const part::RecordRun&) {
                       table_.record_run(*part);
                       sharing_.note_change();
                   },
                   [&](const part::RecordTrust& trust) {
                       ports_.peerings.record(record.home_caller.organisation, trust.event);
                   },
                   [&](const part::GiveBack&) { give_back(part); },
                   [&](const part::RemoveInputs&) { staging_.remove_inputs(record); },
                   [&](const part::Reach& reach) { reached = failpoint::reach(reach.point); },
               },
               effect);
    return reached;
}

void PartService::give_back(const Shared& part) {
    const PartRecord& record = part->record;
    const PartId id = record.request.id;
    table_.remove(id);
    ports_.filter.end_use(record.account);
    ports_.executor.end_staging(to_string(id));
    allocations_.release(id);
    if (auto waiting = unsettled_.extract(id))
        for (const Respond& respond : waiting.mapped())
            respond(refusal(record.home_caller, "it was given back: " + record.status.reason));
    if (allocations_.in_use()) refresh_machines();
}

void PartService::look_at(const Shared& part) {
    const auto* returning = std::get_if<part::Returning>(&part->phase);
    if (returning && returning->stage != part::Returning::Stage::kGivenBack) return;
    if (part->record.status.state == PartState::kRunning)
        try_apply(part, part::ProcessesSeen{runner_.look(part->record)});
}

void PartService::watch() {
    if (watching_ || table_.all().empty()) return;
    watching_ = true;
    clock_.after(config_.poll_every, [this] {
        watching_ = false;
        check_parts();
        watch();
    });
}

void PartService::check_parts() {
    table_.promise_overruns();
    allocations_.check_around();
    const std::map<PartId, Shared> parts = table_.all();  // a copy: parts end on the way
    for (const auto& [id, part] : parts) {
        if (is_blocked(part->record)) try_apply(part, part::Block{});
        look_at(part);
        end_if_lost(part);
        if (!allocations_.is_asked(id)) try_apply(part, part::TimePassed{});
    }
    queue_.run();
    sharing_.send();
}

Result<PartStatus> PartService::status(const Caller& caller, const PartId& id) const {
    const Result<Shared> part = find(caller, id);
    if (!part) return part.error();
    return view(**part);
}

Result<PartStatus> PartService::release(const Caller& caller, const PartId& id, const std::string& reason) {
    const Result<Shared> found = find(caller, id);
    if (!found) return found.error();
    const Shared& part = *found;
    if (is_final(part->record.status.state)) {
        results_.remove(part->record);
        return view(*part);
    }
    if (auto ok = apply(part, part::Release{reason}); !ok) return redact_for(caller, ok.error());
    if (is_blocked(part->record)) try_apply(part, part::Block{});
    return view(*part);
}

Result<std::optional<Caller>> PartService::home_of(const PartId& id) const {
    const Result<Shared> part = find(id);
    if (!part) return part.error();
    return *part == nullptr ? std::nullopt : std::optional((*part)->record.home_caller);
}

Result<std::vector<PartRecord>> PartService::ended_since(Time time, std::size_t limit) const {
    return store_.recent_parts(time, limit);
}

std::optional<QueueOutlook> PartService::outlook_inside(const PartRecord& part) const {
    const Shared known = table_.find(part.request.id);
    if (!known || !part::is_queued(known->record)) return std::nullopt;
    return queue_.outlook(*known, true);
}

Result<ApplicationModel> PartService::profile(const Caller& caller, const PartId& id) const {
    const Result<Shared> part = find(caller, id);
    if (!part) return part.error();
    return runner_.profile((*part)->record);
}

}  // namespace zbs
