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
        respond(granted ? Result<PartStatus>(view(*part)) : refusal(part->record.home_caller, granted.error().message));
}

/// The error for a home whose hold is not granted.
Error PartService::refusal(const Caller& home, const std::string& why) const {
    const bool own = home.organisation == config_.organisation;
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
    sharing_.send();  // also where nothing runs: agents keep the columns of a life before
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
        std::vector<std::int32_t> ours;
        for (const auto& [id, part] : parts_) {
            if (!allocations_.is_held(id) && !allocations_.is_asked(id) && !part->finishing) continue;
            ours.insert(ours.end(), part->record.processors.begin(), part->record.processors.end());
        }
        for (const auto& [machine, fault] : ledger_.record_use(*read, ours))
            log_.info("machine", {{"name", machine}, {"state", fault.empty() ? "takes work again" : fault}});
        queue_changed_ = true;
    });
}

}  // namespace zbs
