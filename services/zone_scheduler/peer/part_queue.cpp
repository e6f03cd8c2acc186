// Parts that wait: the queue of the zone, decided by its discipline whenever something changes.
#include <algorithm>
#include <utility>

#include "algorithms/queue/discipline.hpp"
#include "services/zone_scheduler/peer/part_service.hpp"

namespace zbs {
namespace {

/// A decision is made anew at least as often: hours open, and walltimes pass that did not end.
constexpr Duration kDecideAgain = std::chrono::seconds{1};
/// Between two decisions, for each part that waits; and never less than the last one took, so that a long queue takes
/// no more than half of this thread's time.
constexpr Duration kPauseForEach{100};
constexpr double kMinWeight = 0.01;
/// Moments further away than this are not announced.
constexpr Duration kFarAway = std::chrono::hours{24 * 366};

}  // namespace

bool PartService::is_queued(const PartRecord& record) {
    return record.request.queued && record.processors.empty() && !is_final(record.status.state);
}

Result<void> PartService::use_queue(const std::string& discipline) {
    if (!discipline.empty()) {
        Result<ZoneQueue::MakePolicy> made =
            queue_discipline(discipline, static_cast<std::int32_t>(queue_.calendar().processors()));
        if (!made) return made.error();
        queue_.use_policy(*std::move(made), discipline);
    }
    has_queue_ = !discipline.empty();
    queue_changed_ = true;
    return {};
}

void PartService::enqueue(const ActivePart& part) {
    const PartRequest& request = part.record.request;
    const ProcessorCalendar::Interval when = interval_of(Duration{0}, request.walltime, request.grace);
    queue_.add({.id = request.id,
                .party = part.record.home_caller.organisation,
                .since = clock_.steady_now(),
                .processors = static_cast<std::int32_t>(request.ranks.size()),
                .length = when.end - when.begin});
    queue_changed_ = true;
}

/// The processors that its user may have from now on; none where so many are free and she may not have them.
ProcessorSet PartService::usable_by(const PartRecord& record) {
    const PartRequest& request = record.request;
    const ProcessorCalendar::Interval when = interval_of(Duration{0}, request.walltime, request.grace);
    const Entitlement entitlement = filter_.find({record.home_caller,
                                                  request.user,
                                                  request.groups,
                                                  request.walltime,
                                                  usage_in(record.home_caller.organisation, when, {}, false),
                                                  {}});
    ProcessorSet usable = ledger_.processors_on(entitlement.machines);
    const std::size_t free = usable.without(ledger_.promised_at(queue_.calendar(), clock_.steady_now())).count();
    // What her organisation has counts against its limits, so where nothing is free nothing is left of them either.
    const bool has_no_right =
        free >= request.ranks.size() && std::cmp_greater(request.ranks.size(), entitlement.processors);
    if (!entitlement.given || has_no_right) usable.clear();
    return usable;
}

/// Whose user may never have what the part asks for, as after a change of rights, accounts or machines, waits no more.
void PartService::give_up_hopeless() {
    for (const auto& [id, part] : std::map<PartId, std::shared_ptr<ActivePart>>(parts_)) {
        const PartRecord& record = part->record;
        if (!is_queued(record)) continue;
        const PartRequest& request = record.request;
        const Entitlement entitlement =
            filter_.find({record.home_caller, request.user, request.groups, request.walltime, {}, {}});
        if (std::cmp_less_equal(request.ranks.size(), entitlement.total_processors)) continue;
        if (auto saved = save(*part, record, PartState::kReleased, "its user may no longer have this here"); !saved)
            log_.warn("store_failed", {{"part", to_string(id)}, {"reason", saved.error().message}});
    }
}

/// Of those who may not have all of the zone. Takes their organisations' shares as they are now, too.
UsableProcessors PartService::usable_by_waiting() {
    UsableProcessors narrowed;
    for (const auto& [id, part] : parts_) {
        if (!is_queued(part->record)) continue;
        const OrganisationName& party = part->record.home_caller.organisation;
        const std::optional<PeeringRights> rights = peerings_.rights_now(party);
        if (party != config_.organisation && rights) queue_.set_weight(party, std::max(rights->share, kMinWeight));
        const ProcessorSet usable = usable_by(part->record);
        if (usable.count() < usable.members().size()) narrowed.emplace(id, usable.members());
    }
    return narrowed;
}

/// False where it cannot have any now, or that could not be stored. `decided`: the instant of the decision, around
/// which others expect their starts; time has passed since.
bool PartService::give_processors(ActivePart& part, Duration decided) {
    const PartId id = part.record.request.id;
    const ProcessorCalendar::Interval now =
        interval_of(Duration{0}, part.record.request.walltime, part.record.request.grace);
    const ProcessorSet taken = ledger_.promised_in(promised({decided, decided + (now.end - now.begin)}, {id}));
    // The right is read again: what has just started may have used it up.
    Result<ProcessorLedger::Placement> placed = place(part.record.request, usable_by(part.record).without(taken));
    if (!placed) return false;
    PartRecord changed = part.record;
    changed.processors = std::move(placed->processors);
    changed.status.assignment = std::move(placed->assignment);
    if (auto ok = store_.save(changed); !ok) {
        log_.warn("store_failed", {{"part", to_string(id)}, {"reason", ok.error().message}});
        return false;
    }
    part.record = std::move(changed);
    part.outlook.reset();
    part.start = clock_.steady_now();
    // A hold keeps the time that it has been given to be committed in.
    if (part.record.status.state == PartState::kCommitted) part.deadline = part.start + config_.launch_window;
    queue_.remove(id);
    promise_anew(part);
    log_.info("part_given_processors",
              {{"part", to_string(id)}, {"processors", std::to_string(part.record.processors.size())}});
    return true;
}

/// Starts whom the discipline wants started, and takes down what the others can expect.
void PartService::run_queue() {
    if (queue_.size() == 0) return;
    const Duration now = clock_.steady_now();
    if (now - decided_ < (queue_changed_ ? rest_ : std::max(rest_, kDecideAgain))) return;
    const CycleTimer timer(*observer_, clock_, Cycle::kQueue);
    promise_overruns();
    give_up_hopeless();
    for (bool again = true; again;) {
        again = false;
        const QueueDecision decision = queue_.decide(now, usable_by_waiting());
        std::size_t started = 0;
        for (const PartId& id : decision.starts) {
            if (give_processors(*parts_.at(id), now)) {
                ++started;
                continue;
            }
            again = started > 0;  // what was started before it has taken room or right: others may have both
            break;
        }
        for (const Outlook& outlook : decision.outlooks) parts_.at(outlook.id)->outlook = outlook;
    }
    queue_changed_ = false;
    decided_ = clock_.steady_now();
    rest_ = std::max(kPauseForEach * static_cast<std::int64_t>(queue_.size()), decided_ - now);
}

QueueOutlook PartService::outlook_of(const ActivePart& part) const {
    QueueOutlook outlook = whole_outlook(part);
    if (part.record.home_caller.organisation == config_.organisation) return outlook;
    return {.place = {},
            .start_in = outlook.start_in,
            .promised_in = {},
            .waits_for = {}};  // the rest is this zone's business
}

QueueOutlook PartService::whole_outlook(const ActivePart& part) const {
    QueueOutlook outlook;
    if (!part.outlook) return outlook;
    const Duration now = clock_.steady_now();
    const auto in = [&](Duration start) -> std::optional<Duration> {
        if (start == kNoStart || start - now > kFarAway) return std::nullopt;
        return std::max(Duration{0}, start - now);
    };
    outlook.place = static_cast<int>(part.outlook->place);
    outlook.start_in = in(part.outlook->start);
    outlook.promised_in = in(part.outlook->promised);
    outlook.waits_for = to_string(part.outlook->reason);
    return outlook;
}

std::optional<QueueOutlook> PartService::outlook_inside(const PartRecord& part) const {
    const auto at = parts_.find(part.request.id);
    if (at == parts_.end() || !is_queued(at->second->record)) return std::nullopt;
    return whole_outlook(*at->second);
}

}  // namespace zbs
