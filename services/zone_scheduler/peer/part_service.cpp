#include "services/zone_scheduler/peer/part_service.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "algorithms/policy/registry.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/states.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {
namespace {

/// For a process tree to end after its walltime, and for this zone to see it.
constexpr Duration kStopSlack = std::chrono::seconds{5};
/// How much later is taken for the end of what should have ended.
constexpr Duration kOverrun = std::chrono::seconds{10};
constexpr double kLearning = 0.2;  ///< weight of the last part in `used_share_`

/// Whether state and launch fit together: what the machine of states says of one record. Errors: kConflict.
Result<void> check_record(const PartRecord& record) {
    const PartState state = record.status.state;
    const bool launched = !record.operation.empty();
    const bool must = state == PartState::kRunning || state == PartState::kCompleted || state == PartState::kFailed;
    const bool must_not = state == PartState::kHeld || state == PartState::kCommitted || state == PartState::kExpired;
    if ((!must || launched) && (!must_not || !launched)) return {};
    return Error{ErrorCode::kConflict,
                 "part " + to_string(record.request.id) + " in the database is '" + to_string(state) + "', but was " +
                     (launched ? "" : "never ") + "launched; restore the database from a backup",
                 {}};
}

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
      decode_(std::move(decode)),
      queue_(config.zone.processor_count() * static_cast<std::size_t>(config.slots),
             [] { return std::move(make_policy("fcfs")).value(); }),
      ledger_({config.zone, config.slots, config.sharing, config.level_two_mapper}),
      sharing_(config, ledger_, clock, store, log, [this] { return running_parts(); }),
      allocations_(clock, log),
      staging_(config, allocations_, executor, log),
      results_(config, staging_, clock, store, executor, log) {
    link_to_ = [this](const ZoneName& zone) {
        const LinkToZone* declared = declared_link(config_, zone);
        return declared != nullptr ? declared->link : config_.default_link;
    };
}

void PartService::promise_anew(const ActivePart& part) {
    queue_.promise(part.record.request.id, part.record.home_caller.organisation, promise(part), clock_.steady_now());
    queue_changed_ = true;
}

bool PartService::is_reserved(const PartRecord& record) {
    return record.starts_at &&
           (record.status.state == PartState::kHeld || record.status.state == PartState::kCommitted);
}

Duration PartService::grace_of(Duration asked) const { return std::min(asked, config_.max_grace); }

ProcessorCalendar::Interval PartService::interval_of(Duration start_in, Duration walltime, Duration grace) const {
    const Duration now = clock_.steady_now();
    const Duration latest = now + std::max(start_in, config_.hold_ttl) + config_.launch_window;
    return {now + start_in, latest + walltime + grace_of(grace) + kStopSlack};
}

Duration PartService::longest_run(const PartRecord& record) const {
    return record.request.walltime + grace_of(record.request.grace) + kStopSlack;
}

/// `wanted`, or earlier, so that who was promised one of its processors for afterwards need not wait. O(promises x
/// processors).
Duration PartService::latest_launch(const ActivePart& part, Duration wanted) const {
    const PartRecord& record = part.record;
    const ProcessorCalendar::Promise* own = queue_.calendar().find(record.request.id);
    if (own == nullptr) return wanted;
    const std::set<std::int32_t> processors(own->processors.begin(), own->processors.end());
    const auto is_ours = [&](std::int32_t processor) { return processors.contains(processor); };
    for (const auto& [id, other] : queue_.calendar().promises()) {
        if (id == record.request.id || other.when.begin < own->when.end) continue;
        if (std::ranges::any_of(other.processors, is_ours))
            wanted = std::min(wanted, other.when.begin - longest_run(record));
    }
    return wanted;
}

ProcessorCalendar::Promise PartService::promise(const ActivePart& part) const {
    const PartRecord& record = part.record;
    const Duration now = clock_.steady_now(), walltime = record.request.walltime;
    Duration begin = part.start, latest = part.start;
    if (record.status.state != PartState::kRunning) {
        if (!record.starts_at) begin = now;
        latest = record.status.state == PartState::kHeld ? std::max(part.deadline, begin) + config_.launch_window
                                                         : part.deadline;
    }
    // A part that should have ended long ago goes on for a while: its end is unknown.
    const Duration end = std::max(latest + longest_run(record), now + kOverrun);
    const auto used = Duration{static_cast<std::int64_t>(used_share_ * static_cast<double>(walltime.count()))};
    return {record.processors, {begin, end}, std::clamp(begin + used, std::min(now + kStopSlack, end), end)};
}

ProcessorCalendar::Interval PartService::promise_of(const PartId& id) const {
    const ProcessorCalendar::Promise* promise = queue_.calendar().find(id);
    return promise == nullptr ? ProcessorCalendar::Interval{} : promise->when;
}

/// No process of another part is on its processors.
bool PartService::is_ready(const ActivePart& part) const {
    if (!allocations_.is_held(part.record.request.id)) return false;
    for (const RankPlace& place : part.record.status.assignment)
        if (config_.agents.contains(place.machine) && ledger_.is_out_of_order(place.machine)) return false;
    std::set<std::int32_t> own(part.record.processors.begin(), part.record.processors.end());
    return std::none_of(parts_.begin(), parts_.end(), [&](const auto& item) {
        const PartRecord& other = item.second->record;
        return other.status.state == PartState::kRunning && item.first != part.record.request.id &&
               std::any_of(other.processors.begin(), other.processors.end(),
                           [&](std::int32_t p) { return own.contains(p); });
    });
}

void PartService::learn(const ActivePart& part) {
    const double walltime = to_seconds(part.record.request.walltime);
    const double ran = to_seconds(clock_.steady_now() - part.start);
    used_share_ += kLearning * (std::clamp(ran / walltime, 0.0, 1.0) - used_share_);
}

Result<void> PartService::resume() {
    Result<std::vector<PartRecord>> records = store_.load_open_parts();
    if (!records) return records.error();
    for (const PartRecord& record : *records) {
        if (auto good = check_record(record); !good) return good;
    }
    for (PartRecord& record : *records)
        record.processors = ledger_.processors_of(record.status.assignment, record.processors);
    std::vector<bool> taken(queue_.calendar().processors(), false);
    std::map<std::uint64_t, std::shared_ptr<ActivePart>> queued;  // by token: in the order in which they came
    for (PartRecord& record : *records) {
        const PartId id = record.request.id;
        const Duration now = clock_.steady_now();
        const auto part =
            std::make_shared<ActivePart>(ActivePart{.record = std::move(record), .deadline = now, .start = now});
        const PartState state = part->record.status.state;
        if (part->record.starts_at) part->start += *part->record.starts_at - clock_.now();
        const bool waits = is_reserved(part->record);
        part->start = waits ? std::max(part->start, now) : std::min(part->start, now);
        // A server never counts the time while it was down against anyone: full time again.
        if (state == PartState::kHeld)
            part->deadline += config_.hold_ttl;
        else
            part->deadline = std::max(now, part->start) + config_.launch_window;
        if (auto fits = ledger_.check(id, part->record.processors, part->record.status.assignment); !fits) return fits;
        for (const std::int32_t p : part->record.processors) {
            // The launch asks again whether they are free.
            if (!waits && taken[static_cast<std::size_t>(p)])
                log_.warn("processor_shared", {{"part", to_string(id)}, {"processor", std::to_string(p)}});
            if (!waits) taken[static_cast<std::size_t>(p)] = true;
        }
        place_steps(part->record);
        if (is_queued(part->record))
            queued.emplace(part->record.status.token, part);
        else
            promise_anew(*part);
        filter_.begin_use(part->record.account);
        allocations_.adopt(id, config_.run_as_accounts ? part->record.account : AccountName{},
                           state != PartState::kHeld, [this, id](const Result<void>& seen) { take_grant(id, seen); });
        log_.info("part_resumed", {{"part", to_string(id)}, {"state", to_string(state)}});
        parts_.emplace(id, part);
    }
    for (const auto& [token, part] : queued) enqueue(*part);
    watch();
    return {};
}

Result<void> PartService::check_caller(const Caller& caller, const Caller& user) const {
    if (caller.kind != CallerKind::kZone) return Error{ErrorCode::kUnauthenticated, "only zones may ask this", {}};
    if (!peerings_.accepts(caller)) {
        if (peerings_.state_of(caller.organisation) == PeeringState::kSuspended)
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

Result<std::shared_ptr<PartService::ActivePart>> PartService::find(const PartId& id) const {
    if (const auto at = parts_.find(id); at != parts_.end()) return at->second;
    Result<std::optional<PartRecord>> ended = store_.find_part(id);
    if (!ended) return ended.error();
    if (!*ended) return std::shared_ptr<ActivePart>{};
    return std::make_shared<ActivePart>(ActivePart{.record = **std::move(ended)});
}

Result<std::shared_ptr<PartService::ActivePart>> PartService::find(const Caller& caller, const PartId& id) const {
    Result<std::shared_ptr<ActivePart>> part = find(id);
    // Not "not found": home would take that for the end of it.
    if (!part) return redact_for(caller, part.error());
    if (*part == nullptr || (*part)->record.home_caller != caller) return no_such_part(id);
    return part;
}

PartStatus PartService::view(const ActivePart& part) const {
    PartStatus status = part.record.status;
    const bool queued = is_queued(part.record);
    if (status.state == PartState::kHeld || (status.state == PartState::kCommitted && !queued))
        status.expires_in = std::max(Duration{0}, part.deadline - clock_.steady_now());
    if (queued) status.queue = outlook_of(part);
    if (is_reserved(part.record)) status.starts_in = std::max(Duration{0}, part.start - clock_.steady_now());
    if (status.state == PartState::kCommitted) status.ready = !queued && is_ready(part);
    status.file_system = config_.staging.shared_file_system;
    if (const Duration asked = part.record.request.grace; grace_of(asked) < asked) status.grace = grace_of(asked);
    if (part.stopping) status.reason = part.stop_reason;
    const bool is_own = part.record.home_caller.organisation == config_.organisation;
    if (is_own && status.state == PartState::kRunning) status.work = work_of(part.record);
    if (is_own) return status;
    return outside_view(std::move(status), part.stop_asked);
}

Error PartService::redact_for(const Caller& caller, const Error& error) const {
    const bool inside = error.code == ErrorCode::kInternal || error.code == ErrorCode::kUnavailable;
    if (caller.organisation == config_.organisation || !inside) return error;
    log_.warn("call_failed", {{"home", to_uri(caller)}, {"reason", error.message}});
    return {error.code, "zone " + config_.zone.name + " cannot do this now; try again", {}};
}

Result<void> PartService::save(ActivePart& part, PartRecord changed, PartState state, const std::string& reason) {
    ZBS_EXPECTS(allowed(part.record.status.state, state));
    changed.status.state = state;
    changed.status.reason = reason;
    if (is_final(state)) changed.ended = clock_.now();
    if (auto ok = store_.save(changed); !ok) return ok;
    const PartState was = part.record.status.state;
    part.record = std::move(changed);
    if (is_final(state)) {
        if (was == PartState::kRunning) {
            learn(part);
            sharing_.note_change();
        }
        record_end(part, was);
        give_back(part);
        executor_.end_staging(to_string(part.record.request.id));
        allocations_.release(part.record.request.id);
        for (const Respond& respond : std::exchange(part.waiting, {}))
            respond(refusal(part.record.home_caller, "it was given back: " + reason));
        if (allocations_.in_use()) refresh_machines();
        parts_.erase(part.record.request.id);  // whoever is at work with it holds it still
    }
    log_.info("part_state",
              {{"part", to_string(part.record.request.id)}, {"state", to_string(state)}, {"reason", reason}});
    observer_->part_entered(part.record);
    return {};
}

/// What the end of a part says of its home.
void PartService::record_end(const ActivePart& part, PartState was) {
    const OrganisationName& organisation = part.record.home_caller.organisation;
    switch (part.record.status.state) {
        case PartState::kCompleted:
            peerings_.record(organisation, TrustEvent::kHoldKept);
            return peerings_.record(organisation, TrustEvent::kCleanEnd);
        case PartState::kExpired:
            return peerings_.record(organisation, TrustEvent::kHoldDropped);
        case PartState::kFailed:
            if (part.not_started) return;
            peerings_.record(organisation, TrustEvent::kHoldKept);
            return peerings_.record(organisation, TrustEvent::kDirtyEnd);
        case PartState::kReleased:
            // Giving a hold back in time says nothing: it costs nothing, so it could be done all day to gain trust.
            if (was == PartState::kCommitted && clock_.steady_now() >= part.deadline)
                peerings_.record(organisation, TrustEvent::kHoldDropped);
            return;  // a run that is cancelled is its user's right
        default:
            return;
    }
}

void PartService::give_back(const ActivePart& part) {
    queue_.remove(part.record.request.id);
    queue_.withdraw_promise(part.record.request.id, clock_.steady_now());
    queue_changed_ = true;
    filter_.end_use(part.record.account);
}

Result<PartStatus> PartService::status(const Caller& caller, const PartId& id) const {
    const Result<std::shared_ptr<ActivePart>> part = find(caller, id);
    if (!part) return part.error();
    return view(**part);
}

Result<PartStatus> PartService::release(const Caller& caller, const PartId& id, const std::string& reason) {
    const Result<std::shared_ptr<ActivePart>> found = find(caller, id);
    if (!found) return found.error();
    ActivePart* const part = found->get();
    if (auto reached = failpoint::reach(failpoint::Point::kPeerReleaseAsked); !reached)
        return redact_for(caller, reached.error());
    const PartState state = part->record.status.state;
    if (state == PartState::kRunning) {
        part->stop_asked = true;
        stop_steps(*part, reason.empty() ? "released by home" : reason, grace_of(part->record.request.grace));
        stop_blocked(*part);
        check_running(*part);
    } else if (!is_final(state)) {
        if (auto ok = save(*part, part->record, PartState::kReleased, reason); !ok)
            return redact_for(caller, ok.error());
    } else {
        results_.remove(part->record);
    }
    return view(*part);
}

Result<std::optional<Caller>> PartService::home_of(const PartId& id) const {
    const Result<std::shared_ptr<ActivePart>> part = find(id);
    if (!part) return part.error();
    return *part == nullptr ? std::nullopt : std::optional((*part)->record.home_caller);
}

PeeringUsage PartService::usage_of(const OrganisationName& organisation) const {
    PeeringUsage usage;
    for (const auto& [id, part] : parts_) {
        const PartRecord& record = part->record;
        if (record.home_caller.organisation != organisation) continue;
        ++usage.parts;
        usage.processors += static_cast<int>(record.processors.size());
    }
    return usage;
}

PeeringUsage PartService::usage_in(const OrganisationName& organisation, const ProcessorCalendar::Interval& when,
                                   const std::set<PartId>& without, bool by_estimate) const {
    PeeringUsage usage;
    for (const auto& [id, promise] : queue_.calendar().promises()) {
        if (!promise.taken(by_estimate).meets(when) || without.contains(id)) continue;
        if (parts_.at(id)->record.home_caller.organisation != organisation) continue;
        ++usage.parts;
        usage.processors += static_cast<int>(promise.processors.size());
    }
    return usage;
}

PartService::Use PartService::use() const {
    std::vector<std::int32_t> used;
    for (const PartRecord* record : running_parts())
        used.insert(used.end(), record->processors.begin(), record->processors.end());
    return ledger_.use(queue_.calendar(), clock_.steady_now(), used);
}

std::vector<const PartRecord*> PartService::running_parts() const {
    std::vector<const PartRecord*> running = parts();
    std::erase_if(running, [](const PartRecord* record) { return record->status.state != PartState::kRunning; });
    return running;
}

std::vector<const PartRecord*> PartService::parts() const {
    std::vector<const PartRecord*> live;
    for (const auto& [id, part] : parts_) live.push_back(&part->record);
    return live;
}

std::optional<int> PartService::slice_of(const PartRecord& part) const {
    if (config_.slots == 1 || part.processors.empty()) return std::nullopt;
    return static_cast<int>(ledger_.row_of(part.processors.front()));
}

/// Of the steps whose machines' agents have said something; several kinds together are mixed.
std::optional<StepWork> PartService::work_of(const PartRecord& record) const {
    std::optional<StepWork> all;
    const std::vector<StepId> steps = steps_of(record);
    for (std::size_t i = 0; i < steps.size() && i < record.machines.size(); ++i) {
        if (!config_.agents.contains(record.machines[i])) continue;
        const std::optional<StepWork> one = executor_.status(steps[i]).work;
        if (one) all = all && *all != *one ? StepWork::kMixed : *one;
    }
    return all;
}

Result<std::vector<PartRecord>> PartService::ended_since(Time time, std::size_t limit) const {
    return store_.recent_parts(time, limit);
}

}  // namespace zbs
