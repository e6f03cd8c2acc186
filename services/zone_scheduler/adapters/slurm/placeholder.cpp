#include "services/zone_scheduler/adapters/slurm/placeholder.hpp"

#include <algorithm>
#include <chrono>

namespace zbs::slurm {

bool is_operation(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    });
}

std::string job_name(std::string_view operation) { return "zbs-" + std::string(operation); }

std::string_view operation_of(std::string_view job_name) {
    const std::string_view operation = job_name.starts_with("zbs-") ? job_name.substr(4) : std::string_view{};
    return is_operation(operation) ? operation : std::string_view{};
}

std::string placeholder_script(const HoldSpec& spec, const std::string& commands) {
    const auto seconds = [](Duration d) { return std::to_string(std::chrono::ceil<std::chrono::seconds>(d).count()); };
    std::string script =
        "#!/bin/sh\n"
        "# Holds processors for operation " +
        spec.operation +
        " of the zone based scheduler ZBS; the work itself is started beside it.\n"
        "PATH=" +
        commands + ":/usr/local/bin:/usr/bin:/bin\n";
    if (spec.expiry > Duration{0}) {
        script += "sleep " + seconds(spec.expiry) +
                  "\n"
                  "case \"$(squeue --noheader --jobs=\"$SLURM_JOB_ID\" --format=%k)\" in\n"
                  "*" +
                  std::string(kHeldComment) +
                  "*) exit 0 ;;  # nobody kept it\n"
                  "esac\n";
    }
    return script + "exec sleep " + seconds(spec.walltime + std::chrono::hours{1}) + "\n";
}

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
