// What a zone gives to a part: how much there is for a user, and which processors a hold takes.
#include <utility>

#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/owned_id.hpp"
#include "services/zone_scheduler/peer/part_service.hpp"

namespace zbs {

Result<Capacity> PartService::capacity(const Caller& caller, const CapacityRequest& request) {
    if (auto ok = check_caller(caller, request.user); !ok) return ok.error();
    if (auto takes = staging_.check_need(caller, request.staging); !takes) return takes.error();
    Capacity capacity = offers_.find(caller, request);
    for (CapacityRequest other : request.others) {
        other.user = request.user;
        other.groups = request.groups;
        capacity.others.push_back(offers_.find(caller, other));
        if (ports_.drains()) give_nothing_now(capacity.others.back());
    }
    capacity.zone = config_.name();
    capacity.queues = queue_.is_open();
    if (ports_.drains()) give_nothing_now(capacity);
    capacity.within_zone = ports_.link_within();
    for (const ZoneName& zone : request.zones) {
        if (zone == config_.zone.name) continue;
        capacity.links.push_back({zone, ports_.link_to(zone)});
    }
    return capacity;
}

PartService& PartService::owner_of(const PartId& id) {
    PartService* const owner = ports_.owner ? ports_.owner(id) : nullptr;
    return owner != nullptr ? *owner : *this;
}

/// The part that a request wants to replace; null where there is none any more. Errors: kConflict for one that runs or
/// is of another application.
Result<PartService::Shared> PartService::find_replaced(const Caller& caller, const PartRequest& request) {
    const Shared old = request.replaces ? owner_of(*request.replaces).table_.find(*request.replaces) : nullptr;
    if (!old || old->record.home_caller != caller) return Shared{};
    if (old->record.request.application != request.application || old->record.status.state == PartState::kRunning)
        return Error{
            ErrorCode::kConflict,
            "part " + to_string(*request.replaces) + " runs or is of another application; nothing takes its place",
            "/replaces"};
    return old;
}

/// Whether this caller may ask for such a part, whatever is free.
Result<void> PartService::check_hold(const Caller& caller, const PartRequest& request) {
    const Result<bool> removed = store_.was_removed(request.id);
    if (!removed) return redact_for(caller, removed.error());
    if (*removed)
        return Error{ErrorCode::kIdReused, "part " + to_string(request.id) + " has ended long ago and was removed",
                     "/id"};
    if (ports_.drains())
        return Error{ErrorCode::kRejected, "zone " + config_.zone.name + " takes no new work; plan without it", {}};
    if (auto takes = staging_.check_need(caller, request.staging); !takes) return takes;
    if (request.start_in > config_.reserve_ahead)
        return invalid("is more than the " + std::to_string(to_seconds(config_.reserve_ahead)) + " s for which zone " +
                           config_.zone.name + " promises starts",
                       "/start_in_s");
    return {};
}

Result<ProcessorLedger::Placement> PartService::place(const PartRequest& request, const ProcessorSet& usable,
                                                      bool in_slots) const {
    return table_.ledger().place(request, usable,
                                 {.within_zone = ports_.link_within(),
                                  .max_machines = config_.max_machines,
                                  .beside_fewest = config_.slots > 1 && !sharing_.takes_turns(),
                                  .in_slots = in_slots});
}

/// Processors for a part that does not wait. Errors: kRejected with the reason, for this zone's own log.
Result<ProcessorLedger::Placement> PartService::find_place(const PartRequest& request, const Entitlement& entitlement,
                                                           const ProcessorCalendar::Interval& when,
                                                           const std::set<PartId>& without) const {
    if (processors_of(request) > entitlement.processors)
        return Error{ErrorCode::kRejected,
                     std::to_string(processors_of(request)) + " processors wanted, " +
                         std::to_string(entitlement.processors) + " allowed" +
                         (entitlement.why.empty() ? "" : ": " + entitlement.why),
                     {}};
    const ProcessorLedger::Promised promised = table_.promised(when, without);
    if (auto left = table_.ledger().check_share(promised, share_of(config_, request.share, request.user)); !left)
        return left.error();
    return place(request, table_.ledger().free_on(entitlement.machines, promised));
}

/// Whether such a part may wait here. Errors: kRejected with the reason, for this zone's own log.
Result<void> PartService::check_queue(const Caller& caller, const PartRequest& request, const Entitlement& entitlement,
                                      bool replaces) const {
    const auto refused = [](const char* why) { return Error{ErrorCode::kRejected, why, {}}; };
    if (!queue_.is_open()) return refused("it has no queue to wait in");
    if (table_.waiting_count() >= limits::kMaxPartsInQueue) return refused("its queue is full");
    const std::optional<PeeringRights> rights = ports_.peerings.rights_now(caller.organisation);
    const int parts = table_.usage_of(caller.organisation).parts - (replaces ? 1 : 0);
    if (caller.organisation != config_.organisation && (!rights || parts >= rights->concurrent_parts))
        return refused("its organisation has as many parts here, waiting ones included, as it may");
    if (processors_of(request) > entitlement.total_processors ||
        std::cmp_greater(processors_of(request), table_.queue().row_size()))
        return refused("it asks for more than this user may ever have here");
    return {};
}

/// Of a part that another organisation asks for.
Result<void> PartService::check_delegation(const Caller& caller, const PartRequest& request) {
    if (caller.organisation == config_.organisation) return {};
    const std::optional<PeeringRights> rights = ports_.peerings.rights_now(caller.organisation);
    Result<void> good = ports_.check_delegation(request, !rights || rights->require_delegation);
    if (!good && request.delegation) ports_.peerings.record(caller.organisation, TrustEvent::kFailedCheck);
    return good;
}

/// Want of rights or processors is found by the filter (what its user may have) or by the ledger (whether so many are
/// free), and nowhere else: 1 check the caller  2 known already?  3 what its user may have  4 a place for it  5 account
/// and token  6 enter
Result<PartStatus> PartService::hold(const Caller& caller, const PartRequest& request) {
    if (auto ok = check_caller(caller, request.user); !ok) return ok.error();
    if (auto own = check_mark(request.id.value, caller); !own) return own.error();
    if (auto good = check_delegation(caller, request); !good) return good.error();
    const Result<Shared> known = find(request.id);
    if (!known) return redact_for(caller, known.error());
    if (*known != nullptr) {
        if ((*known)->record.home_caller == caller && (*known)->record.request == request) return view(**known);
        return Error{ErrorCode::kIdReused, "part " + to_string(request.id) + " was held with another request", "/id"};
    }
    if (auto ok = check_hold(caller, request); !ok) return ok.error();
    const Result<Shared> replaced = find_replaced(caller, request);
    if (!replaced) return replaced.error();

    table_.promise_overruns();
    std::set<PartId> without;
    if (*replaced) without.insert((*replaced)->record.request.id);
    const ProcessorCalendar::Interval when =
        part::interval_of(config_, clock_.steady_now(), request.start_in, request.walltime, request.grace);
    const Entitlement entitlement =
        ports_.filter.find({caller, request.user, request.groups, request.walltime, request.partition,
                            table_.usage_in(caller.organisation, when, without), request.start_in, &config_});
    const auto refuse = [&](const std::string& why) {
        log_.info("part_refused", {{"home", to_uri(caller)}, {"user", to_uri(request.user)}, {"reason", why}});
        return refusal(caller, why);
    };
    if (!entitlement.given) return refuse(entitlement.why);
    if (request.overcommit > entitlement.max_overcommit) {
        Error too_many{ErrorCode::kRejected,
                       "zone " + config_.zone.name + " puts at most " + std::to_string(entitlement.max_overcommit) +
                           " of the ranks on a processor, not " + std::to_string(request.overcommit) +
                           "; plan with so many, or ask its operator to raise 'max_overcommit'",
                       "/overcommit"};
        static_cast<void>(refuse(too_many.message));  // for the log: here every home may know the reason
        return too_many;
    }
    ProcessorLedger::Placement placement;
    if (request.queued) {
        if (auto may_wait = check_queue(caller, request, entitlement, *replaced != nullptr); !may_wait)
            return refuse(may_wait.error().message);
    } else {
        Result<ProcessorLedger::Placement> found = find_place(request, entitlement, when, without);
        if (!found) return refuse(found.error().message);
        placement = *std::move(found);
    }

    const Result<AccountName> account = ports_.filter.take_account(entitlement, request.user);
    if (!account)
        return account.error().code == ErrorCode::kRejected ? refuse(account.error().message)
                                                            : redact_for(caller, account.error());
    const Result<std::uint64_t> token = store_.next_token();
    if (!token) return redact_for(caller, token.error());
    PartRecord record{.home_caller = caller, .request = request, .account = *account, .partition = ports_.partition};
    record.status = {.id = request.id,
                     .zone = config_.name(),
                     .token = *token,
                     .assignment = std::move(placement.assignment),
                     .can_profile = !config_.profiler.empty()};
    record.processors = std::move(placement.processors);
    const Result<Shared> part = enter(std::move(record), *replaced);
    if (!part) return redact_for(caller, part.error());
    return view(**part);
}

/// Takes a new part in. The old part goes first: a fault between the two must not leave both.
Result<PartService::Shared> PartService::enter(PartRecord record, const Shared& replaced) {
    if (replaced) {
        const std::string why = "part " + to_string(record.request.id) + " takes its place";
        PartService& owner = owner_of(replaced->record.request.id);
        if (auto ok = owner.apply(replaced, part::Withdraw{why}); !ok) return ok.error();
    }
    const auto part = std::make_shared<part::State>();
    const part::Now at = now();
    if (auto entered = carry_out(part, nullptr, at, part::begin(config_, std::move(record), at)); !entered)
        return entered.error();
    return part;
}

/// What the queue gives to a part that has waited. False where it does not fit, or could not be stored.
bool PartService::give_processors(const Shared& part, const ProcessorSet& usable) {
    Result<ProcessorLedger::Placement> placed =
        place(part->record.request, usable, !table_.queue().turns().rows.empty());
    if (!placed) return false;
    const std::size_t processors = placed->processors.size();
    const PartId id = part->record.request.id;
    if (auto given = apply(part, part::Placed{*std::move(placed)}); !given) {
        log_.warn("store_failed", {{"part", to_string(id)}, {"reason", given.error().message}});
        return false;
    }
    log_.info("part_given_processors", {{"part", to_string(id)}, {"processors", std::to_string(processors)}});
    return true;
}

}  // namespace zbs
