#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/time.hpp"
#include "services/common/adapters/process/process_tree.hpp"

namespace zbs::process {

/// One process of a step, with all its threads. States are the kernel's letters.
struct StepProcess {
    ProcessRef ref;
    std::string states;  ///< of its threads, one letter each; "Z" alone where only the entry is left
    pid_t session = 0;
    bool operator==(const StepProcess&) const = default;

    bool has_ended() const { return states.find_first_not_of("ZX") == std::string::npos; }
    /// Every thread is stopped, or, once it was signalled, is where it will stop before it does anything else.
    bool is_stopped(bool was_signalled) const {
        return states.find_first_not_of(was_signalled ? "TtZXD" : "TtZX") == std::string::npos;
    }
    bool is_runnable() const { return states.find('R') != std::string::npos; }
};

/// A walk over the processes of a step, without its supervisor.
struct StepWalk {
    std::vector<StepProcess> processes;  ///< those that have ended and nobody has waited for, too
    bool is_whole = true;                ///< nothing went away while it was looked at
};

/// The supervisor of the step in `folder` (absolute, its control folder), where it lives.
std::optional<ProcessRef> find_supervisor(const std::string& folder);

/// Walks down from the supervisor, which inherits whatever loses its parent; of each process first its state and then
/// its children are read. Without a supervisor: what carries the step's mark. Costs some 30 us a process, without
/// supervisor that for every process of the host.
StepWalk walk_step(const std::string& folder, const StepId& step_id);

/// Sums over a process that lives.
struct ProcessUsage {
    Duration cpu{};           ///< its own, and of children that were waited for
    Duration children_cpu{};  ///< the latter alone
    Duration waiting{};
    std::uint64_t read_bytes = 0, written_bytes = 0;
    std::uint64_t voluntary_switches = 0, involuntary_switches = 0;
};
ProcessUsage read_usage(pid_t pid);

/// Numbers of the threads of a process.
std::vector<pid_t> threads_of(pid_t pid);

}  // namespace zbs::process
