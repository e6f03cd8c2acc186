#include "algorithms/policy/gang_sharing.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <unordered_map>

namespace zbs {

Result<void> GangSharing::serves(std::int32_t processors) const {
    if (processors > TraceDiagram::kMaxProcessors)
        return invalid("a slice matrix has at most " + std::to_string(TraceDiagram::kMaxProcessors) +
                       " processors, not " + std::to_string(processors));
    if (options_.rule == gang::PackingRule::kBuddy && !std::has_single_bit(static_cast<std::uint32_t>(processors)))
        return invalid("buddy packing halves the machine: give it a power of two of processors, not " +
                       std::to_string(processors));
    return {};
}

/// Makes the front end from the matrix as it stood after the last plan: jobs that ended since are in it still.
void GangSharing::restore(const ZoneSnapshot& zone, std::vector<JobId>& ended) {
    gang::PackingOptions options = options_;
    options.processors = zone.processors;
    options.memory_per_node = zone.memory_bytes;
    // Each change undoes the copies of the one before: once, after the last, is enough.
    options.fill = false;
    TraceDiagram diagram = *zone.diagram;
    diagram.remove_alternatives();
    std::unordered_map<JobId, const JobRecord*> running;
    zone.running.visit([&](const RunningJob& job) {
        const JobRecord& record = zone.record(job.handle);
        running.emplace(record.job.id, &record);
        return true;
    });
    struct Resident {
        std::uint64_t arrival;
        gang::GangPacking::Resident seat;
    };
    std::vector<Resident> residents;
    for (std::int32_t row = 0; row < diagram.row_count(); ++row) {
        for (const TraceDiagram::Entry& entry : diagram.entries(row)) {
            const auto runs = running.find(entry.job);
            if (runs == running.end()) ended.push_back(entry.job);
            residents.push_back({runs == running.end() ? 0 : runs->second->arrival,
                                 {{.job = entry.job,
                                   .processors = entry.processors,
                                   .memory = runs == running.end() ? 0 : runs->second->job.memory_bytes},
                                  diagram.processors_of(row, entry.job)}});
        }
    }
    std::ranges::stable_sort(residents, {}, &Resident::arrival);
    std::vector<gang::GangPacking::Resident> seats;
    residents_.clear();
    for (Resident& resident : residents) {
        residents_.emplace_back(resident.arrival, resident.seat.request.job);
        seats.push_back(std::move(resident.seat));
    }
    packing_ = gang::GangPacking::restore(options, std::move(diagram), std::move(seats), {});
}

/// Whether packing_ is the front end after the last plan, as that plan was carried out; then `ended` has the jobs that
/// ended since, row after row.
bool GangSharing::follow(const ZoneSnapshot& zone, std::vector<JobId>& ended) {
    if (diagram_ == nullptr || zone.diagram != diagram_ || !age_.follows(zone)) return false;
    for (const ZoneChange& change : zone.changes) {
        if (change.kind != ZoneChange::Kind::kEnded) continue;
        const auto found = std::ranges::lower_bound(residents_, std::pair(change.arrival, JobId{}));
        if (found == residents_.end() || found->first != change.arrival) return false;
        ended.push_back(found->second);
    }
    if (residents_.size() != zone.running.size() + ended.size()) return false;
    if (ended.size() < 2) return true;
    std::ranges::sort(ended);
    std::vector<JobId> in_order;
    for (std::int32_t row = 0; row < packing_->diagram().row_count(); ++row)
        for (const TraceDiagram::Entry& entry : packing_->diagram().entries(row))
            if (std::ranges::binary_search(ended, entry.job)) in_order.push_back(entry.job);
    ended = std::move(in_order);
    return true;
}

void GangSharing::plan(const ZoneSnapshot& zone, Plan& plan) {
    ZBS_EXPECTS(zone.diagram != nullptr);
    plan.clear();
    std::vector<JobId> ended;
    if (!follow(zone, ended)) {
        ended.clear();
        restore(zone, ended);
    }
    for (const JobId job : ended) packing_->leave(job);
    if (!ended.empty()) {
        std::vector<JobId> gone = ended;
        std::ranges::sort(gone);
        std::erase_if(residents_, [&](const auto& each) { return std::ranges::binary_search(gone, each.second); });
    }
    bool by_arrival = true;
    zone.waiting.visit([&](const WaitingJob& job) {
        const Job& wanted = zone.record(job.handle).job;
        const Result<gang::WorkloadChange> change =
            packing_->arrive({.job = wanted.id, .processors = wanted.processors, .memory = wanted.memory_bytes});
        // A job that can never fit waits where it harms nobody.
        if (change && !change->placed.empty()) {
            plan.starts.push_back(wanted.id);
            by_arrival = by_arrival && (residents_.empty() || residents_.back().first < job.arrival);
            residents_.emplace_back(job.arrival, wanted.id);
        }
        return packing_->waiting().empty() || options_.overtaking;
    });
    packing_->withdraw_waiting();
    TraceDiagram made = options_.fill ? packing_->filled() : packing_->diagram();
    if (made != *zone.diagram) plan.diagram = std::make_shared<TraceDiagram>(std::move(made));
    // A fresh object would put jobs into the order of arrival.
    diagram_ = !by_arrival ? nullptr : plan.diagram ? plan.diagram : zone.diagram;
    age_.update(zone);
}

}  // namespace zbs
