// What a zone gives to a part: how much there is for a user, and which processors a hold takes.
#include <algorithm>
#include <utility>

#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/owned_id.hpp"
#include "services/zone_scheduler/peer/part_service.hpp"
#include "services/zone_scheduler/peer/start_windows.hpp"

namespace zbs {
/// What a zone is asked about.
struct PartService::Question {
    const Caller& caller;
    const CapacityRequest& request;
    std::set<PartId> without;  ///< count as free
};

/// What is promised in an interval, to parts that wait, too.
ProcessorLedger::Promised PartService::promised(const ProcessorCalendar::Interval& when, std::set<PartId> without,
                                                bool by_estimate) const {
    return {queue_.promised(), when, std::move(without), by_estimate, [this](const PartId& id) {
                const PartRequest& request = parts_.at(id)->record.request;
                return sharing_.share_of(request.share, request.user);
            }};
}

/// The processors that the user may have from `start` (steady time) on for the walltime, as one aggregate. Counted for
/// everybody, given to those entitled: who gets nothing waits as long as who gets all.
StartWindow PartService::count_free(const Question& question, Duration start, bool by_estimate) const {
    const Duration start_in = start - clock_.steady_now();
    const CapacityRequest& request = question.request;
    const ProcessorCalendar::Interval when = interval_of(start_in, request.walltime, request.grace);
    const ProcessorLedger::Promised promised = this->promised(when, question.without, by_estimate);
    const Entitlement entitlement =
        filter_.find({question.caller, request.user, request.groups, request.walltime,
                      usage_in(question.caller.organisation, when, question.without, by_estimate), start_in});
    const ProcessorSet usable = ledger_.free_on(entitlement.machines, promised);
    StartWindow window = ledger_.count_free(usable, promised,
                                            {.processors = entitlement.processors,
                                             .max_machines = config_.max_machines,
                                             .share = sharing_.share_of(request.share, request.user)});
    window.after = window.expected = start_in;
    return window;
}

/// What could start later, where so many can start now. O(instants at which something changes x promised processors),
/// for a bounded number of them.
std::vector<StartWindow> PartService::find_windows(const Question& question, int free_now) const {
    const Duration now = clock_.steady_now();
    const ProcessorCalendar::Interval sample =
        interval_of(config_.hold_ttl, question.request.walltime, question.request.grace);
    const Duration length = sample.end - sample.begin;
    const auto look = [&](bool by_estimate) {
        std::vector<Duration> at = queue_.promised().changes(now, length, question.without, by_estimate);
        const Entitlement today = filter_.find(
            {question.caller, question.request.user, question.request.groups, question.request.walltime, {}, {}});
        if (today.opens_in && *today.opens_in > Duration{0}) at.insert(at.begin() + 1, now + *today.opens_in);
        std::sort(at.begin(), at.end());
        std::erase_if(at, [&](Duration t) { return t - now > config_.reserve_ahead; });
        return probe_windows(at, now, free_now > 0,
                             [&](Duration start) { return count_free(question, start, by_estimate); });
    };
    std::vector<StartWindow> windows = merge_windows(look(false));
    if (used_share_ < 1) expect_from(look(true), windows);
    return windows;
}

std::set<PartId> PartService::parts_of(const Caller& home, const std::optional<ApplicationId>& application) const {
    std::set<PartId> own;
    if (!application) return own;
    for (const auto& [id, part] : parts_) {
        const PartRecord& record = part->record;
        if (record.home_caller == home && record.request.application == *application &&
            (is_reserved(record) || is_queued(record)))
            own.insert(id);
    }
    return own;
}

Result<Capacity> PartService::capacity(const Caller& caller, const CapacityRequest& request) {
    if (auto ok = check_caller(caller, request.user); !ok) return ok.error();
    if (auto takes = staging_.check_need(caller, request.staging); !takes) return takes.error();
    promise_overruns();
    const Question question{caller, request, parts_of(caller, request.without)};
    const Duration now = clock_.steady_now();
    const StartWindow free = count_free(question, now, false);
    const Entitlement entitlement = filter_.find({caller, request.user, request.groups, request.walltime, {}, {}});
    Capacity capacity{.processors = free.processors,
                      .total_processors = entitlement.total_processors,
                      .speed_sum = free.speed_sum,
                      .speed_mean = free.speed_mean,
                      .speed_variance = free.speed_variance,
                      .largest_machine = free.largest_machine};
    // Whether later starts are looked for does not depend on the user: nobody learns from the time it takes.
    const bool is_open = entitlement.opens_in && *entitlement.opens_in <= Duration{0};
    if (free_processors() < request.processors || !is_open || !queue_.promised().promises().empty() ||
        queue_.size() > 0)
        capacity.windows = find_windows(question, free.processors);
    if (!entitlement.given) capacity = {};
    capacity.zone = config_.name();
    capacity.queues = has_queue_;
    if (drains_()) give_nothing_now(capacity);
    capacity.within_zone = link_within_();
    for (const ZoneName& zone : request.zones) {
        if (zone == config_.zone.name) continue;
        capacity.links.push_back({zone, link_to_(zone)});
    }
    return capacity;
}

/// The part that a request wants to replace; null where there is none any more. Errors: kConflict for one that runs or
/// is of another application.
Result<std::shared_ptr<PartService::ActivePart>> PartService::find_replaced(const Caller& caller,
                                                                            const PartRequest& request) {
    const auto at = request.replaces ? parts_.find(*request.replaces) : parts_.end();
    if (at == parts_.end() || at->second->record.home_caller != caller) return std::shared_ptr<ActivePart>{};
    const std::shared_ptr<ActivePart>& old = at->second;
    if (old->record.request.application != request.application || old->record.status.state == PartState::kRunning) {
        return Error{
            ErrorCode::kConflict,
            "part " + to_string(*request.replaces) + " runs or is of another application; nothing takes its place",
            "/replaces"};
    }
    return old;
}

Result<ProcessorLedger::Placement> PartService::place(const PartRequest& request, const ProcessorSet& usable) const {
    return ledger_.place(request, usable,
                         {.within_zone = link_within_(),
                          .max_machines = config_.max_machines,
                          .beside_fewest = config_.slots > 1 && !sharing_.takes_turns()});
}

Result<PartStatus> PartService::hold(const Caller& caller, const PartRequest& request) {
    if (auto ok = check_caller(caller, request.user); !ok) return ok.error();
    if (auto own = check_mark(request.id.value, caller); !own) return own.error();
    if (caller.organisation != config_.organisation && check_delegation_) {
        const std::optional<PeeringRights> rights = peerings_.rights_now(caller.organisation);
        if (auto good = check_delegation_(request, !rights || rights->require_delegation); !good) {
            if (request.delegation) peerings_.record(caller.organisation, TrustEvent::kFailedCheck);
            return good.error();
        }
    }
    const Result<std::shared_ptr<ActivePart>> known = find(request.id);
    if (!known) return redact_for(caller, known.error());
    if (*known != nullptr) {
        if ((*known)->record.home_caller == caller && (*known)->record.request == request) return view(**known);
        return Error{ErrorCode::kIdReused, "part " + to_string(request.id) + " was held with another request", "/id"};
    }
    const Result<bool> removed = store_.was_removed(request.id);
    if (!removed) return redact_for(caller, removed.error());
    if (*removed)
        return Error{ErrorCode::kIdReused, "part " + to_string(request.id) + " has ended long ago and was removed",
                     "/id"};

    if (drains_())
        return Error{ErrorCode::kRejected, "zone " + config_.zone.name + " takes no new work; plan without it", {}};
    if (auto takes = staging_.check_need(caller, request.staging); !takes) return takes.error();
    if (request.start_in > config_.reserve_ahead)
        return invalid("is more than the " + std::to_string(to_seconds(config_.reserve_ahead)) + " s for which zone " +
                           config_.zone.name + " promises starts",
                       "/start_in_s");
    const Result<std::shared_ptr<ActivePart>> replaced = find_replaced(caller, request);
    if (!replaced) return replaced.error();
    promise_overruns();
    std::set<PartId> without;
    if (*replaced != nullptr) without.insert((*replaced)->record.request.id);
    const ProcessorCalendar::Interval when = interval_of(request.start_in, request.walltime, request.grace);
    const Entitlement entitlement =
        filter_.find({caller, request.user, request.groups, request.walltime,
                      usage_in(caller.organisation, when, without, false), request.start_in});
    const auto not_enough = [&](const std::string& why) {
        log_.info("part_refused", {{"home", to_uri(caller)}, {"user", to_uri(request.user)}, {"reason", why}});
        return refusal(caller, why);
    };
    if (!entitlement.given) return not_enough(entitlement.why);
    ProcessorLedger::Placement placement;
    if (request.queued) {
        if (!has_queue_) return not_enough("it has no queue to wait in");
        if (queue_.size() >= limits::kMaxPartsInQueue) return not_enough("its queue is full");
        const std::optional<PeeringRights> rights = peerings_.rights_now(caller.organisation);
        const int parts = usage_of(caller.organisation).parts - (*replaced != nullptr ? 1 : 0);
        if (caller.organisation != config_.organisation && (!rights || parts >= rights->concurrent_parts))
            return not_enough("its organisation has as many parts here, waiting ones included, as it may");
        if (std::cmp_greater(request.ranks.size(), entitlement.total_processors))
            return not_enough("it asks for more than this user may ever have here");
    } else {
        if (std::cmp_greater(request.ranks.size(), entitlement.processors))
            return not_enough(std::to_string(request.ranks.size()) + " processors wanted, " +
                              std::to_string(entitlement.processors) + " allowed" +
                              (entitlement.why.empty() ? "" : ": " + entitlement.why));
        const ProcessorLedger::Promised promised = this->promised(when, without);
        ProcessorSet usable = ledger_.free_on(entitlement.machines, promised);
        if (auto left = ledger_.leave_out_full_rows(usable, promised, request.ranks.size(),
                                                    sharing_.share_of(request.share, request.user));
            !left)
            return not_enough(left.error().message);
        Result<ProcessorLedger::Placement> placed = place(request, usable);
        if (!placed) return not_enough(placed.error().message);
        placement = *std::move(placed);
    }

    const Result<AccountName> account = filter_.take_account(entitlement, request.user);
    if (!account)
        return account.error().code == ErrorCode::kRejected ? not_enough(account.error().message)
                                                            : redact_for(caller, account.error());
    const Result<std::uint64_t> token = store_.next_token();
    if (!token) return redact_for(caller, token.error());
    ActivePart part{.record = {.home_caller = caller, .request = request},
                    .deadline = clock_.steady_now() + config_.hold_ttl,
                    .start = when.begin};
    if (request.start_in > Duration{0}) part.record.starts_at = clock_.now() + request.start_in;
    part.record.request.delegation.reset();  // has done its work
    part.record.account = *account;
    PartStatus& status = part.record.status;
    status = {.id = request.id,
              .zone = config_.name(),
              .state = PartState::kHeld,
              .token = *token,
              .can_profile = !config_.profiler.empty()};
    part.record.processors = std::move(placement.processors);
    status.assignment = std::move(placement.assignment);
    if (auto reached = failpoint::reach(failpoint::Point::kPeerHoldDecided); !reached)
        return redact_for(caller, reached.error());
    // The old part goes first: a fault between the two must not leave both.
    if (*replaced != nullptr) {
        ActivePart& old = **replaced;
        const std::string why = "part " + to_string(request.id) + " takes its place";
        if (auto ok = save(old, old.record, PartState::kReleased, why); !ok) return redact_for(caller, ok.error());
    }
    if (auto ok = store_.save(part.record); !ok) return redact_for(caller, ok.error());
    filter_.begin_use(part.record.account);
    log_.info("part_held", {{"part", to_string(request.id)},
                            {"application", to_string(request.application)},
                            {"home", request.home},
                            {"ranks", std::to_string(request.ranks.size())},
                            {"start_in_s", std::to_string(to_seconds(request.start_in))},
                            {"token", std::to_string(*token)}});
    observer_->part_entered(part.record);
    const auto live = std::make_shared<ActivePart>(std::move(part));
    parts_.emplace(request.id, live);
    if (request.queued) {
        enqueue(*live);
        run_queue();
    } else {
        promise_anew(*live);
        ask_allocation(*live);
    }
    const PartStatus answer = view(*live);
    watch();
    if (auto reached = failpoint::reach(failpoint::Point::kPeerHoldStored); !reached)
        return redact_for(caller, reached.error());
    return answer;
}

}  // namespace zbs
