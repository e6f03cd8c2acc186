// Machines that are not the zone's alone: what they have for parts now, and, where they belong to the site's own
// scheduler, its grant of each hold.
#include <algorithm>
#include <utility>

#include "services/zone_scheduler/peer/part_service.hpp"

namespace zbs {
namespace {

/// That scheduler releases a hold by itself this much later than the announced end: clocks and calls take time.
constexpr Duration kExpirySlack = std::chrono::seconds{30};

}  // namespace

/// Asks the site's scheduler for what the part has been given here.
void PartService::ask_allocation(const part::State& part) {
    if (!allocations_.in_use()) return;
    const PartRecord& record = part.record;
    const ProcessorCalendar::Interval when =
        part::interval_of(config_, clock_.steady_now(), Duration{0}, record.request.walltime, record.request.grace);
    AllocationSpec spec{.operation = to_string(record.request.id),
                        .account = config_.run_as_accounts ? record.account : AccountName{},
                        .walltime = when.end - when.begin + kExpirySlack + window_for_files(config_),
                        .expiry = config_.hold_ttl + kExpirySlack,
                        .start = record.starts_at};
    for (const RankPlace& place : processors_in(record.status.assignment)) {
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
    const Shared part = table_.find(id);
    if (!part) return allocations_.release(id);  // given back meanwhile
    const auto waiting = unsettled_.extract(id);
    if (granted) {
        try_apply(part, part::Granted{});
    } else if (std::holds_alternative<part::Held>(part->phase)) {
        refresh_machines();  // somebody else has them
        try_apply(part, part::Withdraw{"the scheduler of the cluster does not give the processors: " +
                                       granted.error().message});
    }
    if (!waiting) return;
    for (const Respond& respond : waiting.mapped())
        respond(granted ? Result<PartStatus>(view(*part)) : refusal(part->record.home_caller, granted.error().message));
}

void PartService::when_settled(const Caller& caller, const PartId& id, Respond respond) {
    const Result<Shared> part = find(caller, id);
    if (!part) return respond(part.error());
    if (!allocations_.is_asked(id)) return respond(view(**part));
    unsettled_[id].push_back(std::move(respond));
}

/// What was granted and is no more: the part goes, so that its home plans anew. What runs is ended by its processes.
void PartService::end_if_lost(const Shared& part) {
    if (const std::optional<std::string> why = allocations_.lost(part->record.request.id))
        try_apply(part, part::Withdraw{"the scheduler of the cluster took the processors back: " + *why});
}

void PartService::ask_verdict(const PartId& id) {
    allocations_.judge(id, [this, id](const std::string& why) { take_verdict(id, why); });
}

void PartService::take_verdict(const PartId& id, const std::string& verdict) {
    const Shared part = table_.find(id);
    if (!part) return;
    if (auto stored = apply(part, part::Judged{verdict}); !stored) {
        log_.warn("store_failed", {{"part", to_string(id)}, {"reason", stored.error().message}});
        clock_.after(config_.poll_every, [this, id, verdict] { take_verdict(id, verdict); });
    }
}

void PartService::check_again() {
    if (!ports_.machines) return;
    refresh_machines();
    clock_.after(ports_.machines_every, [this] { check_again(); });
}

void PartService::refresh_machines() {
    if (!ports_.machines || std::exchange(is_checking_, true)) return;
    ports_.machines([this](const Result<std::vector<MachineUse>>& read) {
        is_checking_ = false;
        if (!read) {
            log_.warn("machines_not_seen", {{"reason", read.error().message}});
            return;  // what was seen last still counts
        }
        std::vector<std::int32_t> ours;
        for (const auto& [id, part] : table_.all()) {
            const bool is_returning = std::holds_alternative<part::Returning>(part->phase);
            if (!allocations_.is_held(id) && !allocations_.is_asked(id) && !is_returning) continue;
            ours.insert(ours.end(), part->record.processors.begin(), part->record.processors.end());
        }
        for (const auto& [machine, fault] : table_.ledger().record_use(*read, ours))
            log_.info("machine", {{"name", machine}, {"state", fault.empty() ? "takes work again" : fault}});
        table_.note_change();
    });
}

}  // namespace zbs
