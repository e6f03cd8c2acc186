#include "algorithms/policy/gang_sharing.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <unordered_map>

namespace zbs {
namespace {

/// The front end as it stood after the last plan: jobs that ended since are in it still.
gang::GangPacking restored(const ZoneSnapshot& zone, const gang::PackingOptions& options, std::vector<JobId>& ended) {
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
    for (Resident& resident : residents) seats.push_back(std::move(resident.seat));
    return gang::GangPacking::restore(options, std::move(diagram), std::move(seats), {});
}

}  // namespace

Result<void> GangSharing::serves(std::int32_t processors) const {
    if (processors > TraceDiagram::kMaxProcessors)
        return invalid("a slice matrix has at most " + std::to_string(TraceDiagram::kMaxProcessors) +
                       " processors, not " + std::to_string(processors));
    if (packing_.rule == gang::PackingRule::kBuddy && !std::has_single_bit(static_cast<std::uint32_t>(processors)))
        return invalid("buddy packing halves the machine: give it a power of two of processors, not " +
                       std::to_string(processors));
    return {};
}

void GangSharing::plan(const ZoneSnapshot& zone, Plan& plan) {
    ZBS_EXPECTS(zone.diagram != nullptr);
    plan.clear();
    gang::PackingOptions options = packing_;
    options.processors = zone.processors;
    options.memory_per_node = zone.memory_bytes;
    // Each change undoes the copies of the one before: once, after the last, is enough.
    options.fill = false;
    std::vector<JobId> ended;
    gang::GangPacking packing = restored(zone, options, ended);
    for (const JobId job : ended) packing.leave(job);
    zone.waiting.visit([&](const WaitingJob& job) {
        const Job& wanted = zone.record(job.handle).job;
        const Result<gang::WorkloadChange> change =
            packing.arrive({.job = wanted.id, .processors = wanted.processors, .memory = wanted.memory_bytes});
        // A job that can never fit waits where it harms nobody.
        if (change && !change->placed.empty()) plan.starts.push_back(wanted.id);
        return packing.waiting().empty() || options.overtaking;
    });
    if (packing_.fill) packing.fill();
    if (packing.diagram() != *zone.diagram) plan.diagram = std::make_shared<TraceDiagram>(packing.diagram());
}

}  // namespace zbs
