// Parts in a zone that shares its machines through the site's own scheduler: a hold is one once that has granted it.
#include <algorithm>
#include <utility>

#include "services/zone_scheduler/domain/part_service.hpp"

namespace zbs {
namespace {

/// What that scheduler gives back by itself lives this much longer than what is told of it: clocks and calls take time.
constexpr Duration kExpirySlack = std::chrono::seconds{30};
constexpr Duration kMachinesEvery = std::chrono::seconds{10};

}  // namespace

void PartService::use_allocations(Allocations& source) {
    allocations_source_ = &source;
    allocations_.use(source);
}

/// Asks the site's scheduler for what the part has been given here.
void PartService::ask_allocation(Live& part) {
    if (!allocations_.in_use()) return;
    const PartRecord& record = part.record;
    const ProcessorCalendar::Interval when = interval_of(Duration{0}, record.request.walltime);
    AllocationSpec spec{.operation = to_string(record.request.id),
                        .account = config_.run_as_accounts ? record.account : std::string{},
                        .walltime = when.end - when.begin + kExpirySlack,
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
    const std::shared_ptr<Live> part = at->second;
    if (part->record.status.state != PartState::kHeld) {
        // Seen again after a restart, or lost: `end_if_lost` and its processes say what becomes of it.
    } else if (granted) {
        part->deadline = clock_.steady_now() + config_.hold_ttl;  // it was none before
        promise_anew(*part);
    } else {
        refresh_machines();  // somebody else has them
        const std::string why = "the scheduler of the cluster does not give the processors: " + granted.error().message;
        if (auto saved = save(*part, part->record, PartState::kReleased, why); !saved)
            log_.warn("store_failed", {{"part", to_string(id)}, {"reason", saved.error().message}});
    }
    const auto answer = [&](const Caller& home) -> Result<PartStatus> {
        if (granted) return view(*part);
        if (home.organisation == config_.organisation)
            return Error{ErrorCode::kRejected,
                         "zone " + config_.zone.name + " has not enough for this user now (" + granted.error().message +
                             "); plan again",
                         {}};
        return Error{
            ErrorCode::kRejected, "zone " + config_.zone.name + " has not enough for this user now; plan again", {}};
    };
    for (const auto& respond : std::exchange(part->waiting, {})) respond(answer(part->record.home_caller));
}

void PartService::when_settled(const Caller& caller, const PartId& id, Respond respond) {
    const Result<std::shared_ptr<Live>> part = find(caller, id);
    if (!part) return respond(part.error());
    if (!allocations_.is_asked(id)) return respond(view(**part));
    (*part)->waiting.push_back(std::move(respond));
}

/// What was granted and is no more: the part goes, so that its home plans anew. What runs is ended by its processes.
void PartService::end_if_lost(Live& part) {
    const PartState state = part.record.status.state;
    if (state != PartState::kHeld && state != PartState::kCommitted) return;
    const std::optional<std::string> why = allocations_.lost(part.record.request.id);
    if (!why) return;
    if (auto saved = save(part, part.record, PartState::kReleased,
                          "the scheduler of the cluster took the processors back: " + *why);
        !saved)
        log_.warn("store_failed", {{"part", to_string(part.record.request.id)}, {"reason", saved.error().message}});
}

/// Its processors are given back, now that all its processes have ended; asked again until they are.
bool PartService::is_finished(Live& part) {
    if (!allocations_.in_use()) part.finished.emplace();
    if (part.finished) return true;
    if (std::exchange(part.finishing, true)) return false;
    allocations_.finish(part.record.request.id, [this, id = part.record.request.id](const std::string& why) {
        if (const auto at = parts_.find(id); at != parts_.end()) at->second->finished = why;  // the watch goes on
    });
    return false;
}

void PartService::start() {
    if (!allocations_.in_use()) return;
    refresh_machines();
    clock_.after(kMachinesEvery, [this] { start(); });
}

void PartService::refresh_machines() {
    allocations_source_->machines([this](const Result<std::vector<Allocations::MachineUse>>& read) {
        if (!read) {
            log_.warn("machines_not_seen", {{"reason", read.error().message}});
            return;  // what was seen last still counts
        }
        for (const Allocations::MachineUse& use : *read) note_use(use);
    });
}

/// Marks as taken what others have of a machine, and all of one that is out of order.
void PartService::note_use(const Allocations::MachineUse& use) {
    const auto machine = std::ranges::find(config_.zone.machines, use.machine, &Machine::name);
    if (machine == config_.zone.machines.end()) return;
    const auto m = static_cast<std::size_t>(machine - config_.zone.machines.begin());
    const auto first = static_cast<std::size_t>(first_of_[m]);
    std::vector<bool> ours(static_cast<std::size_t>(machine->processors), false);
    for (const auto& [id, part] : parts_) {
        if (!allocations_.is_held(id) && !allocations_.is_asked(id)) continue;
        for (const std::int32_t p : part->record.processors)
            if (machine_of_[static_cast<std::size_t>(p)] == static_cast<std::int32_t>(m))
                ours[static_cast<std::size_t>(p) - first] = true;
    }
    auto others = use.allocated - static_cast<int>(std::count(ours.begin(), ours.end(), true));
    if (!use.fault.empty()) others = machine->processors;
    if (const bool was = faults_.contains(use.machine); was != !use.fault.empty()) {
        log_.info("machine", {{"name", use.machine}, {"state", was ? "takes work again" : use.fault}});
        if (was) faults_.erase(use.machine);
    }
    if (!use.fault.empty()) faults_[use.machine] = use.fault;
    for (std::size_t p = ours.size(); p-- > 0;) {
        elsewhere_[first + p] = others > 0 && (!ours[p] || !use.fault.empty());
        others -= elsewhere_[first + p];
    }
    queue_changed_ = true;
}

std::vector<bool> PartService::busy_in(const ProcessorCalendar::Interval& when, const std::set<PartId>& without,
                                       bool by_experience) const {
    std::vector<bool> busy = queue_.promised().busy(when, without, by_experience);
    for (std::size_t p = 0; p < busy.size(); ++p) busy[p] = busy[p] || elsewhere_[p];
    return busy;
}

}  // namespace zbs
