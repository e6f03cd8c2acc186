#include "services/zone_scheduler/peer/match.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "services/zone_scheduler/peer/part_queue.hpp"

namespace zbs {
namespace {

/// The shortest time between two decisions without an event.
constexpr Duration kShortestPause = std::chrono::seconds{1};
/// Hours and weekdays have opened once in this time, so no part starts that has not started after it.
constexpr Duration kAllHours = std::chrono::hours{8 * 24};
constexpr Time kMonday{std::chrono::hours{4 * 24}};

struct MatchClock : Clock {
    Duration at{};
    Time now() const override { return kMonday + at; }
    Duration steady_now() const override { return at; }
    TimerId after(Duration, std::function<void()>) override { ZBS_EXPECTS(false); }
    void cancel(TimerId) override {}
};

/// A shell of the machine of parts, as `PartService`, without store and processes.
class MatchRun {
  public:
    MatchRun(const ZoneConfig& config, const std::vector<MatchPart>& parts)
        : config_(config),
          parts_(parts),
          table_(config, clock_, {}),
          queue_(
              config, clock_, table_, no_observer(),
              {.find = [this](const PartRecord& part,
                              const PeeringUsage& usage) { return entitlement_of(part, usage, clock_.now()); },
               .share_of = [this](const OrganisationName& party) -> std::optional<double> {
                   if (party == config_.organisation) return std::nullopt;
                   return rights_.at(party)->share;
               }},
              {.give = [this](const PartTable::Shared& part, const ProcessorSet& usable) { return give(part, usable); },
               .withdraw =
                   [this](const PartTable::Shared& part, const std::string& reason) {
                       matches_[number_of(*part)].refused = reason;
                       table_.remove(part->record.request.id);
                   }}),
          matches_(parts.size()) {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            events_.emplace(parts[i].submit, Kind::kSubmission, i);
            if (rights_.contains(parts[i].organisation)) continue;
            std::optional<PeeringRights>& rights = rights_[parts[i].organisation];
            if (parts[i].organisation == config.organisation)
                rights = rights_of_own(config);
            else if (const AutomaticRule* rule = match_rule(config.rules, parts[i].organisation))
                rights = effective_rights(rule->rights, rule->initial_trust);
        }
    }

    /// The cycle of the zone: at each instant at which something may change, all of these, in this order.
    Result<std::vector<Match>> run() {
        if (auto used = queue_.use(config_.queue); !used) return used.error();
        while (const std::optional<Duration> next = next_instant()) {
            clock_.at = *next;
            while (const auto part = take_event(Kind::kEnd)) table_.remove(id_of(*part));
            while (const auto part = take_event(Kind::kReservedStart)) start(table_.find(id_of(*part)));
            decide();
            while (const auto part = take_event(Kind::kSubmission)) submit(*part);
        }
        return std::move(matches_);
    }

  private:
    enum class Kind { kEnd, kReservedStart, kSubmission };  // in their order at one instant

    static PartId id_of(std::size_t part) { return PartId{make_id128(0, 0, part)}; }
    static std::size_t number_of(const part::State& part) { return static_cast<std::size_t>(part.record.status.token); }
    Duration now() const { return clock_.at; }

    std::optional<std::size_t> take_event(Kind kind) {
        if (events_.empty() || std::get<Duration>(*events_.begin()) > now() || std::get<Kind>(*events_.begin()) != kind)
            return std::nullopt;
        last_event_ = now();
        return std::get<std::size_t>(events_.extract(events_.begin()).value());
    }

    /// None where nothing can change any more.
    std::optional<Duration> next_instant() const {
        std::optional<Duration> next;
        const auto not_after = [&](Duration at) { next = std::min(next.value_or(at), at); };
        if (!events_.empty()) not_after(std::get<Duration>(*events_.begin()));
        if (table_.waiting_count() == 0) return next;
        // A decision can better the promises of the one before, also where no part can start: less and less so.
        const auto pause = [&](std::int64_t part) {
            return now() + std::max(kShortestPause, (now() - last_event_) / part);
        };
        if (next && !settled_) not_after(pause(8));
        // Between organisations the order changes with time; within one only few disciplines change it.
        const std::int64_t pauses = rights_.size() > 1 ? 16 : 2;
        if (next && may_start_one()) not_after(pause(pauses));
        for (const auto& [organisation, rights] : rights_) {
            if (!rights) continue;
            const std::optional<Time> opens = find_allowed_start(*rights, kMonday + now());
            if (opens && *opens > kMonday + now() && *opens <= kMonday + last_event_ + kAllHours)
                not_after(*opens - kMonday);
        }
        return next;
    }

    /// Whether as many processors are free as the smallest waiting part has ranks.
    bool may_start_one() const {
        const int free = table_.free_processors();
        return std::ranges::any_of(table_.all(), [&](const auto& known) {
            const PartRecord& record = known.second->record;
            return part::is_queued(record) && std::cmp_less_equal(record.request.ranks.size(), free);
        });
    }

    Entitlement entitlement_of(const PartRecord& part, const PeeringUsage& usage, Time start) const {
        return entitled_by(*rights_.at(part.home_caller.organisation), config_, part.request.walltime, usage, start,
                           part.request.partition);
    }

    PartRecord record_of(std::size_t i) const {
        const MatchPart& part = parts_[i];
        PartRecord record{.home_caller = {CallerKind::kZone, part.organisation, "home"},
                          .request = {.id = id_of(i), .home = "home"}};
        for (int rank = 0; rank < part.ranks; ++rank) record.request.ranks.push_back(rank);
        record.request.graph = TaskGraph::make(std::vector<double>(record.request.ranks.size(), 1.0), {}).value();
        record.request.walltime = part.walltime;
        record.request.grace = kUsualGrace;
        record.request.start_in = part.start_in;
        record.request.queued = part.start_in == Duration{0};
        record.status.token = i;
        return record;
    }

    void submit(std::size_t i) {
        const MatchPart& part = parts_[i];
        Match& match = matches_[i];
        const std::optional<PeeringRights>& rights = rights_.at(part.organisation);
        if (!rights) {
            match.refused = "its organisation is not accepted: no [[peering]] names it";
            return;
        }
        if (part.start_in > Duration{0}) return reserve(i);
        const PartRecord record = record_of(i);
        const Entitlement entitlement = entitlement_of(record, {}, clock_.now());
        if (!entitlement.given)
            match.refused = "its walltime is more than its organisation may have";
        else if (part.ranks > entitlement.total_processors)
            match.refused = "it has more ranks than the " + std::to_string(entitlement.total_processors) +
                            " processors that its organisation may ever have";
        else if (table_.usage_of(part.organisation).parts >= rights->concurrent_parts)
            match.refused = "its organisation has as many parts here, waiting ones included, as it may";
        if (!match.refused.empty()) return;
        queue_.add(*enter(record));
        decide();
        if (match.start) return;
        const auto outlook = queue_.outlooks().find(id_of(i));
        match.waits_for = outlook == queue_.outlooks().end() ? WaitsFor::kTurn : outlook->second.reason;
    }

    void reserve(std::size_t i) {
        PartRecord record = record_of(i);
        const PartRequest& request = record.request;
        const ProcessorCalendar::Interval when =
            part::interval_of(config_, now(), request.start_in, request.walltime, request.grace);
        const Entitlement entitlement =
            entitlement_of(record, table_.usage_in(parts_[i].organisation, when, {}), kMonday + when.begin);
        if (parts_[i].ranks > entitlement.processors) {
            matches_[i].refused = std::to_string(parts_[i].ranks) + " processors wanted, " +
                                  std::to_string(entitlement.processors) + " allowed" +
                                  (entitlement.why.empty() ? "" : ": " + entitlement.why);
            return;
        }
        Result<ProcessorLedger::Placement> placed =
            place(request, table_.ledger().free_on(entitlement.machines, table_.promised(when, {})));
        if (!placed) {
            matches_[i].refused = placed.error().message + " at its start for as long as it may run";
            return;
        }
        record.processors = std::move(placed->processors);
        record.status.assignment = std::move(placed->assignment);
        note_place(enter(std::move(record)));
        events_.emplace(when.begin, Kind::kReservedStart, i);
    }

    /// Held and committed.
    PartTable::Shared enter(PartRecord record) {
        const auto part =
            std::make_shared<part::State>(*part::begin(config_, std::move(record), {now(), clock_.now()}).next);
        table_.add(part);
        apply(part, part::Commit{});
        return part;
    }

    void apply(const PartTable::Shared& part, const part::Event& event) {
        const part::Step step = part::step(config_, *part, event, {now(), clock_.now()}).value();
        if (step.next) *part = *step.next;
        for (const part::Effect& effect : step.effects) {
            if (std::holds_alternative<part::LeaveQueue>(effect)) table_.queue().remove(part->record.request.id);
            if (std::holds_alternative<part::Promise>(effect)) table_.promise(*part);
        }
    }

    Result<ProcessorLedger::Placement> place(const PartRequest& request, const ProcessorSet& usable) const {
        return table_.ledger().place(request, usable,
                                     {.within_zone = config_.zone.within_zone, .max_machines = config_.max_machines});
    }

    void note_place(const PartTable::Shared& part) {
        matches_[number_of(*part)].processors = part->record.processors;
        matches_[number_of(*part)].places = part->record.status.assignment;
    }

    /// False where it can have none now.
    bool give(const PartTable::Shared& part, const ProcessorSet& usable) {
        Result<ProcessorLedger::Placement> placed = place(part->record.request, usable);
        if (!placed) return false;
        apply(part, part::Placed{*std::move(placed)});
        note_place(part);
        start(part);
        return true;
    }

    void start(const PartTable::Shared& part) {
        const std::size_t i = number_of(*part);
        has_started_ = true;
        matches_[i].start = now();
        matches_[i].end = now() + parts_[i].runtime;
        apply(part, part::Launch{});
        events_.emplace(*matches_[i].end, Kind::kEnd, i);
    }

    void decide() {
        if (table_.waiting_count() == 0) return;
        const std::map<PartId, Outlook> before = queue_.outlooks();
        do {  // a launch shortens what is promised, so that the zone decides again at its next poll
            has_started_ = false;
            queue_.decide();
        } while (has_started_ && table_.waiting_count() > 0);
        settled_ = queue_.outlooks() == before;
    }

    const ZoneConfig& config_;
    const std::vector<MatchPart>& parts_;
    MatchClock clock_;
    PartTable table_;
    PartQueue queue_;
    std::vector<Match> matches_;
    std::map<OrganisationName, std::optional<PeeringRights>> rights_;  ///< none: not accepted
    std::set<std::tuple<Duration, Kind, std::size_t>> events_;
    bool settled_ = true;  ///< the last decision was the one before
    bool has_started_ = false;
    Duration last_event_{};
};

}  // namespace

Result<std::vector<Match>> match_parts(const ZoneConfig& config, const std::vector<MatchPart>& parts) {
    const int processors = config.zone.processor_count();
    ZBS_EXPECTS(processors >= 1 && config.slots == 1);
    for (const MatchPart& part : parts) ZBS_EXPECTS(part.ranks >= 1 && part.ranks <= processors);
    return MatchRun(config, parts).run();
}

}  // namespace zbs
