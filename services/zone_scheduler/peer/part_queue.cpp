#include "services/zone_scheduler/peer/part_queue.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/queue/discipline.hpp"
#include "services/zone_scheduler/peer/time_sharing.hpp"

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

PartQueue::PartQueue(const ZoneConfig& config, const Clock& clock, PartTable& table, ZoneObserver& observer,
                     Rights rights, Actions actions)
    : config_(config),
      clock_(clock),
      table_(table),
      observer_(observer),
      rights_(std::move(rights)),
      actions_(std::move(actions)) {}

Result<void> PartQueue::use(const std::string& discipline) {
    if (!discipline.empty()) {
        Result<Discipline> made = queue_discipline(discipline, static_cast<std::int32_t>(table_.queue().row_size()));
        if (!made) return made.error();
        if (std::cmp_not_equal(made->rows, table_.queue().rows()))
            return invalid("queue '" + discipline + "' takes " + std::to_string(made->rows) +
                           " rows of processors, this zone has " + std::to_string(table_.queue().rows()) +
                           " since its start; restart it with the new queue");
        if (made->needs_agents() && config_.agents.size() < config_.zone.machines.size())
            return invalid("queue '" + discipline + "' takes node agents: each [[machine]] needs agent = true");
        table_.queue().use_policy(std::move(made->make), discipline);
    }
    is_open_ = !discipline.empty();
    table_.note_change();
    return {};
}

void PartQueue::add(const part::State& part) {
    const PartRequest& request = part.record.request;
    const Duration now = clock_.steady_now();
    const ProcessorCalendar::Interval when =
        part::interval_of(config_, now, Duration{0}, request.walltime, request.grace);
    // Policies that give each part its own processors have their own orders, or that of arrival.
    const bool is_own = part.record.home_caller.organisation == config_.organisation;
    const int priority = is_own ? request.priority : std::min(request.priority, kUsualPriority);
    table_.queue().add({.id = request.id,
                        .party = part.record.home_caller.organisation,
                        .since = now,
                        .processors = processors_of(request),
                        .length = when.end - when.begin,
                        .priority = table_.queue().shares() ? priority - kUsualPriority : 0,
                        .share = request.share ? share_of(config_, request.share, request.user) : 0});
    table_.note_change();
}

Result<void> PartQueue::resume(PartStore& store, const std::string& partition) {
    Result<std::vector<QueueRecord>> stored = store.queues().load();
    if (!stored) return stored.error();
    for (QueueRecord& queue : *stored) {
        if (queue.partition != partition || queue.policy != config_.queue || !table_.queue().shares()) continue;
        // The steady clock may be that of another host, or of another time that it is up.
        const Duration since = std::max(clock_.now() - queue.at, Duration{0});
        const Duration later = clock_.steady_now() - since - queue.state.at;
        if (auto resumed = table_.queue().resume(std::move(queue.state), later); !resumed) return resumed;
    }
    return {};
}

bool PartQueue::is_due(Duration now) const {
    const bool has_changed = seen_ != table_.changes();
    const bool is_woken = now >= wake_at_ || (has_changed && table_.queue().shares());
    if (table_.waiting_count() == 0 && !is_woken) return false;
    return is_woken ? now - decided_ >= rest_ : now - decided_ >= (has_changed ? rest_ : std::max(rest_, kDecideAgain));
}

void PartQueue::run() {
    if (is_due(clock_.steady_now())) decide();
}

/// 1 take out who can never start  2 snapshot: what each may use  3 decide  4 start, in the order of the decision
/// 5 take down what the others can expect. Steps 2 to 4 again where what has started took room from who came next.
void PartQueue::decide() {
    const Duration now = clock_.steady_now();
    const CycleTimer timer(observer_, clock_, Cycle::kQueue);
    table_.promise_overruns();
    withdraw_hopeless();
    for (bool again = true; again;) {
        const QueueDecision decision = table_.queue().decide(now, usable_by_waiting());
        again = start(decision, now);
        wake_at_ = decision.wake_at;
        for (const Outlook& outlook : decision.outlooks) outlooks_.insert_or_assign(outlook.id, outlook);
    }
    std::erase_if(outlooks_, [this](const auto& known) { return !table_.queue().has(known.first); });
    seen_ = table_.changes();
    decided_ = clock_.steady_now();
    rest_ = std::max(kPauseForEach * static_cast<std::int64_t>(table_.waiting_count()), decided_ - now);
}

/// Whether others may have the room or the right of one that could not start: some have started before it.
bool PartQueue::start(const QueueDecision& decision, Duration decided) {
    for (std::size_t i = 0; i < decision.starts.size(); ++i) {
        const std::vector<std::int32_t>* place = decision.places.empty() ? nullptr : &decision.places[i];
        if (!give_processors(table_.find(decision.starts[i]), decided, place)) return i > 0;
    }
    return false;
}

/// The processors that its user may have from now on; none where so many are free and she may not have them.
ProcessorSet PartQueue::usable_by(const PartRecord& record) {
    const PartRequest& request = record.request;
    const Duration now = clock_.steady_now();
    const ProcessorCalendar::Interval when =
        part::interval_of(config_, now, Duration{0}, request.walltime, request.grace);
    const Entitlement entitlement = rights_.find(record, table_.usage_in(record.home_caller.organisation, when, {}));
    ProcessorSet usable = table_.ledger().processors_on(entitlement.machines);
    const std::size_t free = usable.without(table_.ledger().promised_at(table_.queue().calendar(), now)).count();
    // What her organisation has counts against its limits, so where nothing is free nothing is left of them either.
    const bool has_no_right =
        std::cmp_greater_equal(free, processors_of(request)) && processors_of(request) > entitlement.processors;
    if (!entitlement.given || has_no_right) usable.clear();
    return usable;
}

/// Whose user may never have what the part asks for, as after a change of rights, accounts or machines, waits no more.
void PartQueue::withdraw_hopeless() {
    std::vector<PartTable::Shared> hopeless;
    for (const auto& [id, part] : table_.all()) {
        const PartRecord& record = part->record;
        if (!part::is_queued(record)) continue;
        if (processors_of(record.request) > rights_.find(record, {}).total_processors) hopeless.push_back(part);
    }
    for (const PartTable::Shared& part : hopeless) actions_.withdraw(part, "its user may no longer have this here");
}

/// Of those who may not have all of the zone. Takes their organisations' shares as they are now, too.
UsableProcessors PartQueue::usable_by_waiting() {
    UsableProcessors narrowed;
    for (const auto& [id, part] : table_.all()) {
        if (!part::is_queued(part->record)) continue;
        const OrganisationName& party = part->record.home_caller.organisation;
        if (const std::optional<double> share = rights_.share_of(party))
            table_.queue().set_weight(party, std::max(*share, kMinWeight));
        const ProcessorSet usable = usable_by(part->record);
        if (usable.count() < usable.members().size()) narrowed.emplace(id, usable.members());
    }
    return narrowed;
}

/// `decided`: the instant of the decision, around which others expect their starts; time has passed since. The right is
/// read again: what has just started may have used it up. `place`: the processors that the policy has chosen.
bool PartQueue::give_processors(const PartTable::Shared& part, Duration decided,
                                const std::vector<std::int32_t>* place) {
    const PartRequest& request = part->record.request;
    const Duration longest = part::interval_of(config_, decided, Duration{0}, request.walltime, request.grace).end;
    const ProcessorSet taken = table_.ledger().promised_in(table_.promised({decided, longest}, {request.id}));
    ProcessorSet usable = usable_by(part->record).without(taken);
    if (place != nullptr) {
        ProcessorSet chosen = usable;
        chosen.clear();
        for (const std::int32_t p : *place)
            if (usable.contains(static_cast<std::size_t>(p))) chosen.insert(static_cast<std::size_t>(p));
        usable = std::move(chosen);
    }
    return actions_.give(part, usable);
}

QueueOutlook PartQueue::outlook(const part::State& part, bool is_own) const {
    QueueOutlook outlook;
    const auto known = outlooks_.find(part.record.request.id);
    if (known == outlooks_.end()) return outlook;
    const Duration now = clock_.steady_now();
    const auto in = [&](Duration start) -> std::optional<Duration> {
        if (start == kNoStart || start - now > kFarAway) return std::nullopt;
        return std::max(Duration{0}, start - now);
    };
    outlook.start_in = in(known->second.start);
    if (!is_own) return outlook;  // the rest is this zone's business
    outlook.place = static_cast<int>(known->second.place);
    outlook.promised_in = in(known->second.promised);
    outlook.waits_for = to_string(known->second.reason);
    return outlook;
}

}  // namespace zbs
