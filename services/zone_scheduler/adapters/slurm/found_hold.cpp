#include "services/zone_scheduler/adapters/slurm/found_hold.hpp"

#include "services/zone_scheduler/adapters/slurm/placeholder.hpp"

namespace zbs::slurm {

Allocation FoundHold::allocation() const {
    Allocation made{.operation = std::string(operation_of(line.name)),
                    .job = line.job,
                    .phase = phase,
                    .state = line.state,
                    .reason = line.reason == "None" ? "" : line.reason,
                    .user = AccountName(line.user),
                    .partition = line.partition,
                    .kept = line.comment.find(kHeldComment) == std::string::npos,
                    .start = line.start,
                    .end = line.end};
    for (const std::string& node : line.nodes) made.nodes.push_back({node, 0});
    if (phase == Phase::kRunning || line.state == "CONFIGURING")  // the latter: its nodes boot
        made.strength = Strength::kPlaceholder;
    else if (phase == Phase::kWaiting && line.reservation == line.name)
        made.strength = Strength::kReservation;
    return made;
}

std::optional<FoundHold> choose(const std::vector<JobLine>& jobs, const std::string& name, const AccountName& owner) {
    std::optional<FoundHold> first, last_ended;
    std::vector<std::uint32_t> living;
    for (const JobLine& job : jobs) {
        if (job.name != name || job.user != owner) continue;
        const Phase phase = *phase_of(job.state);
        if (phase >= Phase::kEnding) {
            if (!last_ended || job.job > last_ended->line.job) last_ended = FoundHold{job, phase, {}};
            continue;
        }
        living.push_back(job.job);
        if (!first || job.job < first->line.job) first = FoundHold{job, phase, {}};
    }
    if (!first) return last_ended;
    for (const std::uint32_t job : living)
        if (job != first->line.job) first->late.push_back(job);
    return first;
}

}  // namespace zbs::slurm
