#include "services/zone_scheduler/peer/match.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "algorithms/queue/discipline.hpp"
#include "algorithms/queue/zone_queue.hpp"
#include "services/zone_scheduler/peer/processor_ledger.hpp"
#include "services/zone_scheduler/trust/authorization_filter.hpp"

namespace zbs {
namespace {

/// As `PartService` has it: for processes to end after their walltime.
constexpr Duration kTimeToStop = std::chrono::seconds{5};
/// Likewise: the least weight of an organisation in the fair order.
constexpr double kLeastWeight = 0.01;
/// The shortest time between two decisions without an event.
constexpr Duration kShortestPause = std::chrono::seconds{1};
/// Hours and weekdays have opened once in this time, so no part starts that has not started after it.
constexpr Duration kAllHours = std::chrono::hours{8 * 24};
constexpr Time kMonday{std::chrono::hours{4 * 24}};

class MatchRun {
  public:
    MatchRun(const ZoneConfig& config, const std::vector<MatchPart>& parts, ZoneQueue::MakePolicy make_policy)
        : config_(config),
          parts_(parts),
          queue_(static_cast<std::size_t>(config.zone.processor_count()), std::move(make_policy)),
          ledger_({config.zone, config.slots, config.sharing, config.level_two_mapper}),
          matches_(parts.size()) {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            events_.emplace(parts[i].submit, Kind::kSubmission, i);
            if (rights_.contains(parts[i].organisation)) continue;
            std::optional<PeeringRights>& rights = rights_[parts[i].organisation];
            if (parts[i].organisation == config.organisation) {
                rights = rights_of_own(config);
            } else if (const AutomaticRule* rule = match_rule(config.rules, parts[i].organisation)) {
                rights = effective_rights(rule->rights, rule->initial_trust);
                queue_.set_weight(parts[i].organisation, std::max(rights->share, kLeastWeight));
            }
        }
    }

    /// The cycle of the zone: at each instant at which something may change, all of these, in this order.
    std::vector<Match> run() {
        while (const std::optional<Duration> next = next_instant()) {
            now_ = *next;
            while (const auto part = take_event(Kind::kEnd)) queue_.withdraw_promise(id_of(*part), now_);
            while (const auto part = take_event(Kind::kReservedStart)) start(*part);
            decide();
            while (const auto part = take_event(Kind::kSubmission)) submit(*part);
        }
        return std::move(matches_);
    }

  private:
    enum class Kind { kEnd, kReservedStart, kSubmission };  // in their order at one instant

    static PartId id_of(std::size_t part) { return PartId{make_id128(0, 0, part)}; }

    std::optional<std::size_t> take_event(Kind kind) {
        if (events_.empty() || std::get<Duration>(*events_.begin()) > now_ || std::get<Kind>(*events_.begin()) != kind)
            return std::nullopt;
        last_event_ = now_;
        return std::get<std::size_t>(events_.extract(events_.begin()).value());
    }

    /// None where nothing can change any more.
    std::optional<Duration> next_instant() const {
        std::optional<Duration> next;
        const auto not_after = [&](Duration at) { next = std::min(next.value_or(at), at); };
        if (!events_.empty()) not_after(std::get<Duration>(*events_.begin()));
        if (queue_.size() == 0) return next;
        // A decision can better the promises of the one before, also where no part can start.
        if (next && !settled_) not_after(now_ + kShortestPause);
        // Between organisations the order changes with time; within one only few disciplines change it.
        const std::int64_t pauses = rights_.size() > 1 ? 16 : 2;
        if (next && may_start_one()) not_after(now_ + std::max(kShortestPause, (now_ - last_event_) / pauses));
        for (const auto& [organisation, rights] : rights_) {
            if (!rights) continue;
            const std::optional<Time> opens = find_allowed_start(*rights, kMonday + now_);
            if (opens && *opens > kMonday + now_ && *opens <= kMonday + last_event_ + kAllHours)
                not_after(*opens - kMonday);
        }
        return next;
    }

    /// Whether as many processors are free as the smallest waiting part has ranks.
    bool may_start_one() const {
        const int free = ledger_.free_processors(queue_.calendar(), now_);
        return std::ranges::any_of(number_of_, [&](const auto& known) {
            return queue_.has(known.first) && parts_[known.second].ranks <= free;
        });
    }

    Duration longest_run(const MatchPart& part) const {
        return part.walltime + std::min(kUsualGrace, config_.max_grace) + kTimeToStop;
    }
    /// All that a part may need that is held now.
    ProcessorCalendar::Interval interval_of(const MatchPart& part) const {
        const Duration latest = now_ + std::max(part.start_in, config_.hold_ttl) + config_.launch_window;
        return {now_ + part.start_in, latest + longest_run(part)};
    }
    ProcessorLedger::Promised promised(const ProcessorCalendar::Interval& when, std::set<PartId> without) const {
        return {queue_.promised(), when, std::move(without), false, {}};
    }

    /// The rights of a part that is held now, beside all that its organisation has in that time.
    Entitlement entitlement_of(std::size_t i) const {
        const MatchPart& part = parts_[i];
        const ProcessorCalendar::Interval when = interval_of(part);
        PeeringUsage usage;
        for (const auto& [id, promise] : queue_.calendar().promises()) {
            if (!promise.when.meets(when) || parts_[number_of_.at(id)].organisation != part.organisation) continue;
            ++usage.parts;
            usage.processors += static_cast<int>(promise.processors.size());
        }
        return entitled_by(*rights_.at(part.organisation), config_, part.walltime, usage, kMonday + when.begin);
    }

    /// The processors that a waiting part may have now; none where so many are free and it has no right to them.
    ProcessorSet usable_by(std::size_t i) const {
        const Entitlement entitlement = entitlement_of(i);
        ProcessorSet usable = ledger_.processors_on(entitlement.machines);
        const std::size_t free = usable.without(ledger_.promised_at(queue_.calendar(), now_)).count();
        const bool has_no_right =
            std::cmp_greater_equal(free, parts_[i].ranks) && parts_[i].ranks > entitlement.processors;
        if (!entitlement.given || has_no_right) usable.clear();
        return usable;
    }

    Result<ProcessorLedger::Placement> place(std::size_t i, const ProcessorSet& usable) const {
        PartRequest request{.id = id_of(i)};
        for (int rank = 0; rank < parts_[i].ranks; ++rank) request.ranks.push_back(rank);
        request.graph = TaskGraph::make(std::vector<double>(request.ranks.size(), 1.0), {}).value();
        return ledger_.place(request, usable,
                             {.within_zone = config_.zone.within_zone, .max_machines = config_.max_machines});
    }

    void promise(std::size_t i, const ProcessorCalendar::Interval& when) {
        queue_.promise(id_of(i), parts_[i].organisation, {matches_[i].processors, when, when.end}, now_);
    }
    void give(std::size_t i, ProcessorLedger::Placement placement) {
        matches_[i].processors = std::move(placement.processors);
        matches_[i].places = std::move(placement.assignment);
    }
    /// Its processors are given.
    void start(std::size_t i) {
        matches_[i].start = now_;
        matches_[i].end = now_ + parts_[i].runtime;
        promise(i, {now_, now_ + longest_run(parts_[i])});
        events_.emplace(*matches_[i].end, Kind::kEnd, i);
    }

    void submit(std::size_t i) {
        const MatchPart& part = parts_[i];
        Match& match = matches_[i];
        if (!rights_.at(part.organisation)) {
            match.refused = "its organisation is not accepted: no [[peering]] names it";
            return;
        }
        number_of_.emplace(id_of(i), i);
        if (part.start_in > Duration{0}) return reserve(i);
        const Entitlement entitlement = entitlement_of(i);
        if (!entitlement.given)
            match.refused = "its walltime is more than its organisation may have";
        else if (part.ranks > entitlement.total_processors)
            match.refused = "it has more ranks than the " + std::to_string(entitlement.total_processors) +
                            " processors that its organisation may ever have";
        else if (parts_here(part.organisation) >= rights_.at(part.organisation)->concurrent_parts)
            match.refused = "its organisation has as many parts here, waiting ones included, as it may";
        if (!match.refused.empty()) return;
        queue_.add({id_of(i), part.organisation, now_, part.ranks, interval_of(part).end - now_});
        decide();
        if (match.start) return;
        const auto outlook = std::ranges::find(decision_.outlooks, id_of(i), &Outlook::id);
        match.waits_for = outlook == decision_.outlooks.end() ? WaitsFor::kTurn : outlook->reason;
    }

    /// Held and committed, waiting ones included.
    int parts_here(const OrganisationName& organisation) const {
        return static_cast<int>(std::ranges::count_if(number_of_, [&](const auto& known) {
            return parts_[known.second].organisation == organisation &&
                   (queue_.has(known.first) || queue_.calendar().find(known.first) != nullptr);
        }));
    }

    void reserve(std::size_t i) {
        const ProcessorCalendar::Interval when = interval_of(parts_[i]);
        const Entitlement entitlement = entitlement_of(i);
        if (parts_[i].ranks > entitlement.processors) {
            matches_[i].refused = std::to_string(parts_[i].ranks) + " processors wanted, " +
                                  std::to_string(entitlement.processors) + " allowed" +
                                  (entitlement.why.empty() ? "" : ": " + entitlement.why);
            return;
        }
        Result<ProcessorLedger::Placement> placed = place(i, ledger_.free_on(entitlement.machines, promised(when, {})));
        if (!placed) {
            matches_[i].refused = placed.error().message + " at its start for as long as it may run";
            return;
        }
        give(i, *std::move(placed));
        promise(i, {when.begin, when.begin + config_.launch_window + longest_run(parts_[i])});
        events_.emplace(when.begin, Kind::kReservedStart, i);
    }

    /// False where it can have none now.
    bool give_processors(const PartId& id) {
        const std::size_t i = number_of_.at(id);
        const ProcessorSet taken = ledger_.promised_in(promised(interval_of(parts_[i]), {id}));
        Result<ProcessorLedger::Placement> placed = place(i, usable_by(i).without(taken));
        if (!placed) return false;
        queue_.remove(id);
        give(i, *std::move(placed));
        start(i);
        return true;
    }

    void decide() {
        if (queue_.size() == 0) return;
        const QueueDecision before = std::move(decision_);
        for (bool again = true; again;) {
            again = false;
            UsableProcessors narrowed;
            for (const auto& [id, number] : number_of_) {
                if (!queue_.has(id)) continue;
                const ProcessorSet usable = usable_by(number);
                if (usable.count() < usable.members().size()) narrowed.emplace(id, usable.members());
            }
            decision_ = queue_.decide(now_, narrowed);
            std::size_t started = 0;
            for (const PartId& id : decision_.starts) {
                if (give_processors(id)) {
                    ++started;
                    continue;
                }
                again = started > 0;  // the others may have the processors or rights that are left
                break;
            }
        }
        settled_ = decision_ == before;
    }

    const ZoneConfig& config_;
    const std::vector<MatchPart>& parts_;
    ZoneQueue queue_;
    ProcessorLedger ledger_;
    std::vector<Match> matches_;
    std::map<OrganisationName, std::optional<PeeringRights>> rights_;  ///< none: not accepted
    std::map<PartId, std::size_t> number_of_;                          ///< of parts that were submitted
    std::set<std::tuple<Duration, Kind, std::size_t>> events_;
    QueueDecision decision_;
    bool settled_ = true;  ///< the last decision was the one before
    Duration now_{};
    Duration last_event_{};
};

}  // namespace

Result<std::vector<Match>> match_parts(const ZoneConfig& config, const std::vector<MatchPart>& parts) {
    const int processors = config.zone.processor_count();
    ZBS_EXPECTS(processors >= 1 && config.slots == 1);
    for (const MatchPart& part : parts) ZBS_EXPECTS(part.ranks >= 1 && part.ranks <= processors);
    Result<ZoneQueue::MakePolicy> policy = queue_discipline(config.queue, processors);
    if (!policy) return policy.error();
    return MatchRun(config, parts, *std::move(policy)).run();
}

}  // namespace zbs
