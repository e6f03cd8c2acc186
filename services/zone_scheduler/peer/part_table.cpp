#include "services/zone_scheduler/peer/part_table.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/policy/registry.hpp"
#include "services/zone_scheduler/peer/time_sharing.hpp"

namespace zbs {
namespace {

/// How much later is taken for the end of what should have ended.
constexpr Duration kOverrun = std::chrono::seconds{10};
constexpr Duration kSoonest = std::chrono::seconds{5};  ///< an end is not expected before
constexpr double kLearning = 0.2;                       ///< weight of the last part in `used_share_`

}  // namespace

PartTable::PartTable(const ZoneConfig& config, const Clock& clock, ZoneQueue::Observer observer,
                     std::vector<const PartTable*>* of_zone)
    : config_(config),
      clock_(clock),
      of_zone_(of_zone != nullptr ? *of_zone : own_),
      queue_(
          config.zone.processor_count() * static_cast<std::size_t>(config.slots),
          [] { return std::move(make_policy("fcfs")).value(); }, static_cast<std::size_t>(config.slots)),
      ledger_({config.zone, config.slots, config.level_two_mapper}) {
    of_zone_.push_back(this);
    if (observer) queue_.observe(std::move(observer));
}

void PartTable::add(Shared part) {
    const PartId id = part->record.request.id;
    parts_.emplace(id, std::move(part));
}

void PartTable::remove(const PartId& id) {
    queue_.remove(id);
    queue_.withdraw_promise(id, clock_.steady_now());
    parts_.erase(id);
    ++changes_;
}

PartTable::Shared PartTable::find(const PartId& id) const {
    const auto at = parts_.find(id);
    return at == parts_.end() ? nullptr : at->second;
}

std::vector<const PartRecord*> PartTable::records() const {
    std::vector<const PartRecord*> live;
    for (const auto& [id, part] : parts_) live.push_back(&part->record);
    return live;
}

PeeringUsage PartTable::usage_of(const OrganisationName& organisation) const {
    PeeringUsage usage;
    for (const PartTable* table : of_zone_) {
        for (const auto& [id, part] : table->parts_) {
            const PartRecord& record = part->record;
            if (record.home_caller.organisation != organisation) continue;
            ++usage.parts;
            usage.processors += static_cast<int>(record.processors.size());
        }
    }
    return usage;
}

void PartTable::promise(const part::State& part) {
    const PartRecord& record = part.record;
    const PartRequest& request = record.request;
    const Duration now = clock_.steady_now();
    const Duration run = part::longest_run(config_, request.walltime, request.grace);
    Duration begin = part.start, latest = part.start;
    if (record.status.state != PartState::kRunning) {
        if (!record.starts_at) begin = now;
        if (const auto* held = std::get_if<part::Held>(&part.phase))
            latest = std::max(held->until, begin) + config_.launch_window;
        else
            latest = std::get<part::Committed>(part.phase).until;
    }
    // A part that should have ended long ago goes on for a while: its end is unknown.
    const Duration end = std::max(latest + run, now + kOverrun);
    const auto used = Duration{static_cast<std::int64_t>(used_share_ * static_cast<double>(request.walltime.count()))};
    queue_.promise(request.id, record.home_caller.organisation,
                   {record.processors,
                    {begin, end},
                    std::clamp(begin + used, std::min(now + kSoonest, end), end),
                    request.share ? share_of(config_, request.share, request.user) : 0},
                   now);
    ++changes_;
}

void PartTable::promise_overruns() {
    for (const auto& [id, part] : parts_)
        if (part->record.status.state == PartState::kRunning && promise_of(id).end <= clock_.steady_now())
            promise(*part);
}

void PartTable::record_run(const part::State& part) {
    const double walltime = to_seconds(part.record.request.walltime);
    const double ran = to_seconds(clock_.steady_now() - part.start);
    used_share_ += kLearning * (std::clamp(ran / walltime, 0.0, 1.0) - used_share_);
}

ProcessorLedger::Promised PartTable::promised(const ProcessorCalendar::Interval& when, std::set<PartId> without,
                                              bool by_estimate) const {
    ProcessorLedger::Promised promised{queue_.promised(), when, std::move(without), by_estimate, {}};
    if (queue_.sharing() == ZoneState::Sharing::kShare)
        promised.share_of = [this](const PartId& id) {
            const PartRequest& request = parts_.at(id)->record.request;
            return share_of(config_, request.share, request.user);
        };
    return promised;
}

PeeringUsage PartTable::usage_in(const OrganisationName& organisation, const ProcessorCalendar::Interval& when,
                                 const std::set<PartId>& without, bool by_estimate) const {
    PeeringUsage usage;
    for (const PartTable* table : of_zone_) {
        for (const auto& [id, promise] : table->queue_.calendar().promises()) {
            if (!promise.taken(by_estimate).meets(when) || without.contains(id)) continue;
            if (table->parts_.at(id)->record.home_caller.organisation != organisation) continue;
            ++usage.parts;
            usage.processors += static_cast<int>(promise.processors.size());
        }
    }
    return usage;
}

Duration PartTable::latest_launch(const part::State& part) const {
    const PartRequest& request = part.record.request;
    Duration latest = kNoLimit;
    const ProcessorCalendar::Promise* own = queue_.calendar().find(request.id);
    if (own == nullptr) return latest;
    const std::set<std::int32_t> processors(own->processors.begin(), own->processors.end());
    const auto is_ours = [&](std::int32_t processor) { return processors.contains(processor); };
    for (const auto& [id, other] : queue_.calendar().promises()) {
        if (id == request.id || other.when.begin < own->when.end) continue;
        if (std::ranges::any_of(other.processors, is_ours))
            latest = std::min(latest, other.when.begin - part::longest_run(config_, request.walltime, request.grace));
    }
    return latest;
}

bool PartTable::is_blocked(const part::State& part) const {
    const std::set<std::int32_t> own(part.record.processors.begin(), part.record.processors.end());
    return std::ranges::any_of(parts_, [&](const auto& item) {
        const PartRecord& other = item.second->record;
        return other.status.state == PartState::kRunning && item.first != part.record.request.id &&
               !queue_.is_stopped(item.first) &&
               std::ranges::any_of(other.processors, [&](std::int32_t p) { return own.contains(p); });
    });
}

ProcessorCalendar::Interval PartTable::promise_of(const PartId& id) const {
    const ProcessorCalendar::Promise* promise = queue_.find_promise(id);
    return promise == nullptr ? ProcessorCalendar::Interval{} : promise->when;
}

ProcessorLedger::Use PartTable::use() const {
    std::vector<std::int32_t> used;
    for (const PartRecord* record : records())
        if (record->status.state == PartState::kRunning)
            used.insert(used.end(), record->processors.begin(), record->processors.end());
    return ledger_.use(queue_.calendar(), clock_.steady_now(), used);
}

std::optional<int> PartTable::slice_of(const PartRecord& part) const {
    const auto& rows = queue_.turns().rows;
    const auto row = std::ranges::find_if(rows, [&](const std::vector<PartId>& parts) {
        return std::ranges::find(parts, part.request.id) != parts.end();
    });
    // What came without the queue can lie in rows beyond those of the policy.
    const auto number = static_cast<int>(row - rows.begin());
    return row == rows.end() || number >= config_.slots ? std::nullopt : std::optional(number);
}

}  // namespace zbs
