// Machines that are not the zone's alone: what they have for parts now, and, where they belong to the site's own
// scheduler, its grant of each hold.
#include <algorithm>
#include <utility>

#include "services/zone_scheduler/peer/part_service.hpp"

namespace zbs {
namespace {

/// That scheduler releases a hold by itself this much later than the announced end: clocks and calls take time.
constexpr Duration kExpirySlack = std::chrono::seconds{30};
constexpr Duration kMachinesEvery = std::chrono::seconds{10};

}  // namespace

void PartService::use_allocations(Allocations& source) {
    allocations_.use(source);
    use_machines([&source](auto done) { source.machines(std::move(done)); }, kMachinesEvery);
}

/// Asks the site's scheduler for what the part has been given here.
void PartService::ask_allocation(ActivePart& part) {
    if (!allocations_.in_use()) return;
    const PartRecord& record = part.record;
    const ProcessorCalendar::Interval when = interval_of(Duration{0}, record.request.walltime, record.request.grace);
    AllocationSpec spec{.operation = to_string(record.request.id),
                        .account = config_.run_as_accounts ? record.account : AccountName{},
                        .walltime = when.end - when.begin + kExpirySlack + window_for_files(config_),
                        .expiry = config_.hold_ttl + kExpirySlack,
                        .start = record.starts_at};
    for (const RankPlace& place : record.status.assignment) {
        const auto known = std::ranges::find(spec.shares, place.machine, &AllocationSpec::Share::machine);
        if (known == spec.shares.end())
            spec.shares.push_back({place.machine, 1});
        else
            ++known->processors;
    }
    allocations_.ask(record.request.id, std::move(spec),
                     [this, id = record.request.id](const Result<void>& granted) { take_grant(id, granted); });
}

void PartService::take_grant(const PartId& id, const Result<void>& granted) {
    const auto at = parts_.find(id);
    if (at == parts_.end()) return allocations_.release(id);  // given back meanwhile
    const std::shared_ptr<ActivePart> part = at->second;
    const std::vector<Respond> waiting = std::exchange(part->waiting, {});
    const PartState state = part->record.status.state;
    if (granted && state != PartState::kRunning) {
        // It was none before, or nobody knew.
        part->deadline = clock_.steady_now() + config_.hold_ttl;
        if (state == PartState::kCommitted)
            part->deadline = std::max(part->start, clock_.steady_now()) + config_.launch_window;
        promise_anew(*part);
    } else if (!granted && state == PartState::kHeld) {
        refresh_machines();  // somebody else has them
        const std::string why = "the scheduler of the cluster does not give the processors: " + granted.error().message;
        if (auto saved = save(*part, part->record, PartState::kReleased, why); !saved)
            log_.warn("store_failed", {{"part", to_string(id)}, {"reason", saved.error().message}});
    }
    for (const Respond& respond : waiting)
        respond(granted ? Result<PartStatus>(view(*part)) : refusal(*part, granted.error().message));
}

/// The error for a home that waits for a hold which was not granted.
Error PartService::refusal(const ActivePart& part, const std::string& why) const {
    const bool own = part.record.home_caller.organisation == config_.organisation;
    return {ErrorCode::kRejected,
            "zone " + config_.zone.name + " has not enough for this user now" + (own ? " (" + why + ")" : "") +
                "; plan again",
            {}};
}

void PartService::when_settled(const Caller& caller, const PartId& id, Respond respond) {
    const Result<std::shared_ptr<ActivePart>> part = find(caller, id);
    if (!part) return respond(part.error());
    if (!allocations_.is_asked(id)) return respond(view(**part));
    (*part)->waiting.push_back(std::move(respond));
}

/// What was granted and is no more: the part goes, so that its home plans anew. What runs is ended by its processes.
void PartService::end_if_lost(ActivePart& part) {
    const PartState state = part.record.status.state;
    if (state != PartState::kHeld && state != PartState::kCommitted) return;
    const std::optional<std::string> why = allocations_.lost(part.record.request.id);
    if (!why) return;
    if (auto saved = save(part, part.record, PartState::kReleased,
                          "the scheduler of the cluster took the processors back: " + *why);
        !saved)
        log_.warn("store_failed", {{"part", to_string(part.record.request.id)}, {"reason", saved.error().message}});
}

/// Now that all processes of the part have ended: why that was is on record, then its processors are given back; asked
/// again until they are.
bool PartService::is_finished(ActivePart& part) {
    if (!allocations_.in_use() || part.finished) return true;
    const PartId id = part.record.request.id;
    if (!part.record.verdict) {
        if (std::exchange(part.judging, true)) return false;
        allocations_.judge(id, [this, id](const std::string& why) {
            const auto at = parts_.find(id);
            if (at == parts_.end()) return;
            ActivePart& judged = *at->second;
            judged.judging = false;
            PartRecord changed = judged.record;
            changed.verdict = why;
            // Before it is given back: afterwards its end would look like one that others made.
            if (auto saved = store_.save(changed); !saved)
                return log_.warn("store_failed", {{"part", to_string(id)}, {"reason", saved.error().message}});
            judged.record = std::move(changed);
        });
        return false;
    }
    if (std::exchange(part.finishing, true)) return false;
    allocations_.finish(id, [this, id] {
        if (const auto at = parts_.find(id); at != parts_.end()) at->second->finished = true;  // the watch goes on
    });
    return false;
}

void PartService::start() {
    share_time();  // also where nothing runs: agents keep the columns of a life before
    check_again();
}

void PartService::check_again() {
    if (!machine_usage_) return;
    refresh_machines();
    clock_.after(check_interval_, [this] { check_again(); });
}

void PartService::refresh_machines() {
    if (!machine_usage_ || std::exchange(is_checking_, true)) return;
    machine_usage_([this](const Result<std::vector<MachineUse>>& read) {
        is_checking_ = false;
        if (!read) {
            log_.warn("machines_not_seen", {{"reason", read.error().message}});
            return;  // what was seen last still counts
        }
        std::vector<bool> ours(physical_count(), false);
        for (const auto& [id, part] : parts_) {
            if (!allocations_.is_held(id) && !allocations_.is_asked(id) && !part->finishing) continue;
            for (const std::int32_t p : part->record.processors)
                ours[static_cast<std::size_t>(p) % physical_count()] = true;
        }
        std::map<MachineName, std::size_t> number;
        for (std::size_t m = 0; m < config_.zone.machines.size(); ++m)
            number[MachineName(config_.zone.machines[m].name)] = m;
        for (const MachineUse& use : *read)
            if (const auto m = number.find(use.machine); m != number.end()) record_use(m->second, use, ours);
        queue_changed_ = true;
    });
}

/// Marks as taken what others have of machine `m`, and all of one that is out of order.
void PartService::record_use(std::size_t m, const MachineUse& use, const std::vector<bool>& ours) {
    const Machine& machine = config_.zone.machines[m];
    const auto first = static_cast<std::size_t>(first_of_[m]), count = static_cast<std::size_t>(machine.processors);
    speed_[m] = machine.speed * use.speed;
    if (!use.host.empty()) hosts_[use.machine] = use.host;
    if (const bool was = faults_.contains(use.machine); was != !use.fault.empty()) {
        log_.info("machine", {{"name", use.machine}, {"state", was ? "takes work again" : use.fault}});
        if (was) faults_.erase(use.machine);
    }
    if (!use.fault.empty()) faults_[use.machine] = use.fault;
    const auto own = std::count(ours.begin() + first_of_[m], ours.begin() + first_of_[m] + machine.processors, true);
    auto others = use.fault.empty() ? use.allocated - own : machine.processors;
    for (std::size_t p = first + count; p-- > first;) {
        const bool taken = others > 0 && (!ours[p] || !use.fault.empty());
        for (std::size_t r = 0; r < row_count(); ++r) elsewhere_[r * physical_count() + p] = taken;
        others -= taken;
    }
}

std::vector<bool> PartService::busy_in(const ProcessorCalendar::Interval& when, const std::set<PartId>& without,
                                       bool by_estimate) const {
    std::vector<bool> busy = queue_.promised().busy(when, without, by_estimate);
    for (std::size_t p = 0; p < busy.size(); ++p) busy[p] = busy[p] || elsewhere_[p];
    return busy;
}

}  // namespace zbs
