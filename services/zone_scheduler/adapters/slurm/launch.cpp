#include "services/zone_scheduler/adapters/slurm/launch.hpp"

#include <algorithm>
#include <set>

#include "services/common/messages/limits.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/zone_scheduler/adapters/slurm/host_list.hpp"
#include "services/zone_scheduler/adapters/slurm/placeholder.hpp"
#include "services/zone_scheduler/adapters/slurm/users.hpp"

namespace zbs::slurm {
namespace {

/// Variables that would change srun itself: they reach the program by `env` on the node.
bool is_for_the_program_only(const std::string& name) {
    return name.starts_with("LD_") || name.starts_with("SLURM") || name.starts_with("SRUN_") ||
           name.starts_with("PMI") || name.starts_with("GLIBC_");
}

bool is_variable(const std::string& name) {
    return !name.empty() && name.find('=') == std::string::npos && name.front() != '-';
}

/// Of srun's file names, whose '%' begins a field.
std::string as_pattern(const std::string& path) {
    std::string pattern;
    for (const char c : path) pattern += c == '%' ? std::string("%%") : std::string(1, c);
    return pattern;
}

/// Sends a signal to a step of Slurm that is known by its name. Slurm lists the step once it runs; a controller that
/// does not answer is asked again. The signal is sent once, but SIGURG each second until the step has ended: a launcher
/// that begins does not wait for it yet. Arguments: squeue, scancel, job, name, signal.
constexpr const char* kSignalStep =
    "while :; do id=$(\"$0\" --noheader --steps --jobs=\"$2\" --format='%i %j' | "
    "while read -r i n; do [ \"$n\" = \"$3\" ] && echo \"$i\"; done); "
    "if [ -n \"$id\" ]; then [ \"$4\" = URG ] || exec \"$1\" --signal=\"$4\" \"$id\"; "
    "\"$1\" --signal=URG \"$id\"; sent=1; elif [ -n \"$sent\" ]; then exit 0; fi; sleep 1; done";

/// On the node, before a program that launches others. Slurm sends its signal to all processes of a step, or only to
/// the first: SIGURG ends none. Without zbs-step on the node the launcher ends at it.
constexpr const char* kSpareLauncher =
    "[ -x \"$ZBS_RANK_PROGRAM\" ] && exec \"$ZBS_RANK_PROGRAM\" launcher \"$@\"; shift; "
    "\"$@\" & p=$!; trap 'kill $p' URG TERM; "
    "while wait $p; c=$?; [ $c -gt 128 ] && kill -0 $p 2>/dev/null; do :; done; exit $c";

/// In place of signals to srun, which ends its tasks at once when it gets one.
std::vector<std::string> signal_command(const SlurmCommands& commands, const Allocation& allocation,
                                        const LaunchSpec& spec) {
    std::vector<std::string> words = {"/usr/bin/env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"};
    if (const std::string& file = commands.settings().configuration; !file.empty())
        words.push_back("SLURM_CONF=" + file);
    words.insert(words.end(), {"/bin/sh", "-c", kSignalStep, commands.path_of("squeue"), commands.path_of("scancel"),
                               std::to_string(allocation.job), spec.step_id, spec.is_launcher ? "URG" : "TERM"});
    return words;
}

/// Why all ended that ran in the allocation.
std::string why_ended(const Allocation& allocation) {
    const std::string job = "Slurm job " + std::to_string(allocation.job);
    const std::string& state = allocation.state;
    if (state == "TIMEOUT" || state == "DEADLINE") return std::string(kWalltimeReason) + " of " + job + " is over";
    if (state == "NODE_FAIL" || state == "BOOT_FAIL") return "a node of " + job + " failed";
    if (state == "PREEMPTED") return "Slurm gave the processors of " + job + " to one of higher priority";
    if (state == "OUT_OF_MEMORY") return "the memory of " + job + " was used up";
    if (state == "CANCELLED" || state == "REVOKED") return job + " was cancelled";
    return job + " ended (" + state + ")";
}

}  // namespace

Result<StepSpec> make_step(const SlurmCommands& commands, const Allocation& allocation, const LaunchSpec& spec) {
    if (!is_operation(spec.step_id)) return invalid("an operation is 1 to 64 letters, digits and dashes", "/operation");
    if (spec.argv.empty() || spec.argv.front().empty()) return invalid("a program", "/argv");
    if (spec.places.empty()) return invalid("a node for at least one task", "/places");
    if (allocation.phase != Phase::kRunning) {
        return Error{ErrorCode::kConflict,
                     "job " + std::to_string(allocation.job) + " of operation " + allocation.operation + " is " +
                         allocation.state + ": nothing can be started in it",
                     {}};
    }
    std::set<std::string> seen;
    for (const std::string& node : spec.places) {
        if (!seen.insert(node).second) continue;
        const bool has = std::any_of(allocation.nodes.begin(), allocation.nodes.end(),
                                     [&](const NodeShare& share) { return share.node == node; });
        if (!has) return invalid("node '" + node + "' is not in job " + std::to_string(allocation.job), "/places");
    }
    int processors = 0;
    for (const NodeShare& share : allocation.nodes) processors += share.processors;
    if (!spec.may_share_processors && spec.places.size() > static_cast<std::size_t>(processors))
        return invalid(std::to_string(spec.places.size()) + " tasks in job " + std::to_string(allocation.job) +
                           ", which has " + std::to_string(processors) + " processors",
                       "/places");
    const Result<User> self = find_user({});
    if (!self) return self.error();
    StepSpec step{
        .step_id = spec.step_id,
        .argv = {commands.path_of("srun"), "--jobid=" + std::to_string(allocation.job), "--job-name=" + spec.step_id,
                 "--overlap", "--distribution=arbitrary", "--nodelist=" + write_host_list(spec.places),
                 "--ntasks=" + std::to_string(spec.places.size()),
                 "--chdir=" + (spec.directory.empty() ? std::string("/tmp") : spec.directory), "--cpu-bind=none",
                 "--mpi=" + (spec.pmi.empty() ? std::string("none") : spec.pmi), "--input=none", "--unbuffered"},
        .account = allocation.user == self->name ? AccountName{} : allocation.user,
        .walltime = spec.walltime,
        .grace = spec.grace,
        .on_stop = signal_command(commands, allocation, spec)};
    if (!spec.output_folder.empty()) {
        step.argv.push_back("--output=" + as_pattern(spec.output_folder) + "/" + std::string(own_files::kOut) + "%t");
        step.argv.push_back("--error=" + as_pattern(spec.output_folder) + "/" + std::string(own_files::kErr) + "%t");
    }
    if (spec.may_share_processors) step.argv.emplace_back("--overcommit");
    // Ranks whose fellows have ended wait for ever.
    if (!spec.pmi.empty()) step.argv.emplace_back("--kill-on-bad-exit=1");
    std::vector<std::string> on_the_node;
    for (const auto& [name, value] : spec.environment) {
        if (!is_variable(name)) return invalid("a variable without a name, or with '=' or '-' in it", "/environment");
        if (is_for_the_program_only(name))
            on_the_node.push_back(name + "=" + value);
        else
            step.environment.emplace_back(name, value);
    }
    if (!commands.settings().configuration.empty())
        step.environment.emplace_back("SLURM_CONF", commands.settings().configuration);
    if (!on_the_node.empty()) {
        step.argv.emplace_back("/usr/bin/env");
        step.argv.insert(step.argv.end(), on_the_node.begin(), on_the_node.end());
    }
    if (spec.is_launcher) step.argv.insert(step.argv.end(), {"/bin/sh", "-c", kSpareLauncher, "sh", spec.step_id});
    step.argv.insert(step.argv.end(), spec.argv.begin(), spec.argv.end());
    return step;
}

std::optional<StepStatus> judge_end(StepStatus status, const Allocation& allocation) {
    constexpr int kTerminated = 128 + 15;
    if (status.state != StepStatus::State::kExited || allocation.phase < Phase::kEnding) return status;
    if (allocation.phase == Phase::kEnding) return std::nullopt;
    if (status.exit_code == 0) status.exit_code = kTerminated;
    status.reason = why_ended(allocation);
    return status;
}

}  // namespace zbs::slurm
