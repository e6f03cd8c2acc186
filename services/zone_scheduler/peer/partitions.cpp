#include "services/zone_scheduler/peer/partitions.hpp"

#include <algorithm>
#include <utility>

#include "services/zone_scheduler/peer/start_windows.hpp"

namespace zbs {
namespace {

StartWindow now_of(const Capacity& capacity) {
    return {.processors = capacity.processors,
            .speed_sum = capacity.speed_sum,
            .speed_mean = capacity.speed_mean,
            .speed_variance = capacity.speed_variance,
            .largest_machine = capacity.largest_machine};
}

/// What starts `after` from now would have.
StartWindow window_at(const Capacity& capacity, Duration after) {
    StartWindow found = now_of(capacity);
    for (const StartWindow& window : capacity.windows)
        if (window.after <= after) found = window;
    found.expected = std::min(found.expected, after);
    found.after = after;
    return found;
}

/// The better of two partitions at each instant: a part lies in one of them.
void take_better(Capacity& best, const Capacity& other) {
    std::vector<Duration> at;
    for (const Capacity* one : {&std::as_const(best), &other})
        for (const StartWindow& window : one->windows) at.push_back(window.after);
    std::ranges::sort(at);
    at.erase(std::ranges::unique(at).begin(), at.end());
    std::vector<StartWindow> windows;
    for (const Duration after : at) {
        const StartWindow one = window_at(best, after), two = window_at(other, after);
        windows.push_back(two.processors > one.processors ? two : one);
    }
    if (other.processors > best.processors) {
        best.processors = other.processors;
        best.speed_sum = other.speed_sum;
        best.speed_mean = other.speed_mean;
        best.speed_variance = other.speed_variance;
        best.largest_machine = other.largest_machine;
    }
    best.windows = merge_windows(std::move(windows));
    best.total_processors = std::max(best.total_processors, other.total_processors);
    best.max_overcommit = std::max(best.max_overcommit, other.max_overcommit);  // 1 where nothing is given
    best.queues = best.queues || other.queues;
}

}  // namespace

Partitions::Partitions(PartPorts ports) : zone_(ports.config), store_(ports.store) {
    const auto add = [&](const std::string& name) {
        parts_.push_back(std::make_unique<Part>(Part{name, {}, {}}));
        parts_.back()->config = config_of(name);
    };
    for (const PartitionConfig& partition : zone_.partitions) add(partition.name);
    if (zone_.partitions.empty() || !config_of({}).zone.machines.empty()) add({});
    for (const auto& part : parts_) {
        PartPorts own = ports;
        own.tables = &tables_;
        if (!zone_.partitions.empty()) {
            own.config = part->config;
            own.partition = part->name;
            own.is_here = [this, own = part.get()](const PartRecord& record) { return &part_of(record) == own; };
            own.owner = [this](const PartId& id) { return owner(id); };
        }
        if (ports.queue_observer_of) own.queue_observer = ports.queue_observer_of(part->name);
        part->service = std::make_unique<PartService>(std::move(own));
    }
}

ZoneConfig Partitions::config_of(const std::string& partition) const {
    const auto own = std::ranges::find(zone_.partitions, partition, &PartitionConfig::name);
    return zbs::config_of(zone_, own == zone_.partitions.end() ? nullptr : &*own);
}

Result<void> Partitions::resume() {
    for (const auto& part : parts_) {
        const ZoneConfig& config = zone_.partitions.empty() ? zone_ : part->config;
        if (auto set = part->service->use_queue(config.queue); !set) return set;
        if (auto resumed = part->service->resume(); !resumed) return resumed;
    }
    return {};
}

void Partitions::start() {
    for (const auto& part : parts_) part->service->start();
}

Result<void> Partitions::use_queue(const std::string& discipline) {
    const auto own = std::ranges::find(parts_, std::string{}, [](const auto& part) { return part->name; });
    if (own == parts_.end()) return {};
    if (auto used = (*own)->service->use_queue(discipline); !used) return used;
    (*own)->config.queue = discipline;
    return {};
}

Result<void> Partitions::refresh(const std::string& partition) {
    const auto at = std::ranges::find(parts_, partition, [](const auto& part) { return part->name; });
    if (at == parts_.end() || zone_.partitions.empty()) return {};
    Part& part = **at;
    ZoneConfig next = config_of(partition);
    if (next.queue != part.config.queue) {
        if (auto used = part.service->use_queue(next.queue); !used) return used;
    } else if (next.slots != part.config.slots)
        return invalid("its policy takes other rows of processors than since the start; restart the zone");
    part.config = std::move(next);
    part.service->take_settings();
    return {};
}

void Partitions::restate_queue(const std::string& partition) {
    for (const auto& part : parts_)
        if (part->name == partition) part->service->restate_queue();
}

void Partitions::restate_parts() const {
    for (const auto& part : parts_) part->service->restate_parts();
}

Result<Capacity> Partitions::capacity(const Caller& caller, const CapacityRequest& request) {
    Result<Capacity> best = front().capacity(caller, request);
    for (std::size_t i = 1; best && i < parts_.size(); ++i) {
        const Result<Capacity> other = parts_[i]->service->capacity(caller, request);
        if (!other) return other;
        take_better(*best, *other);
        for (std::size_t k = 0; k < best->others.size(); ++k) take_better(best->others[k], other->others[k]);
    }
    return best;
}

Result<PartStatus> Partitions::hold(const Caller& caller, const PartRequest& request) {
    if (parts_.size() == 1) return front().hold(caller, request);
    if (PartService* known = owner(request.id)) return known->hold(caller, request);
    std::vector<PartService*> order;
    for (const auto& part : parts_) order.push_back(part->service.get());
    if (request.queued)
        std::ranges::stable_sort(order, {}, [&](const PartService* service) {
            const PartTable& table = service->table();
            const bool waits = table.waiting_count() > 0 || table.free_processors() < processors_of(request);
            return std::pair(waits, table.waiting_count());
        });
    Result<PartStatus> held = order.front()->hold(caller, request);
    for (std::size_t i = 1; i < order.size() && !held && held.error().code == ErrorCode::kRejected; ++i)
        held = order[i]->hold(caller, request);
    return held;
}

PartService* Partitions::owner(const PartId& id) const {
    for (const auto& part : parts_)
        if (part->service->table().find(id)) return part->service.get();
    return nullptr;
}

PartService& Partitions::of(const PartId& id) const {
    if (parts_.size() == 1) return front();
    if (PartService* live = owner(id)) return *live;
    const Result<std::optional<PartRecord>> ended = store_.find_part(id);
    return ended && *ended ? *part_of(**ended).service : front();
}

/// By its first machine, for the file may have changed; where it has none yet, by its name. If no queue has that name
/// any more, its machines are in the last one, that of the machines outside of partitions.
Partitions::Part& Partitions::part_of(const PartRecord& record) const {
    for (const auto& part : parts_) {
        const std::vector<RankPlace>& places = record.status.assignment;
        if (places.empty() ? part->name == record.partition
                           : std::ranges::find(part->config.zone.machines, std::string(places.front().machine),
                                               &Machine::name) != part->config.zone.machines.end())
            return *part;
    }
    return *parts_.back();
}

std::vector<ProcessorLedger::NodeView> Partitions::nodes() const {
    std::vector<ProcessorLedger::NodeView> nodes;
    for (const PartTable* table : tables_) std::ranges::move(table->nodes(), std::back_inserter(nodes));
    return nodes;
}

std::size_t Partitions::waiting_count() const {
    std::size_t waiting = 0;
    for (const PartTable* table : tables_) waiting += table->waiting_count();
    return waiting;
}

int Partitions::slots() const {
    int most = 1;
    for (const auto& part : parts_) most = std::max(most, part->config.slots);
    return most;
}

std::string Partitions::sharing_mode() const {
    for (const auto& part : parts_)
        if (const std::string mode = part->service->sharing_mode(); !mode.empty()) return mode;
    return {};
}

}  // namespace zbs
