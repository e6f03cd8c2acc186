#pragma once
#include <signal.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "services/common/adapters/process/process_tree.hpp"

namespace zbs::step {

/// Sends SIGTERM to every process of a step but this one and `spared`, parents first. They are stopped (SIGSTOP)
/// before, so that none is missed, and go on then, also those that a user had stopped. O(processes on the host).
void ask_tree(const StepId& step_id, pid_t spared);
/// Whether no process of the step is alive but these and this one. O(processes on the host).
bool has_only(const StepId& step_id, const std::set<pid_t>& processes);
/// Processes that ranks left behind.
struct Leftover {
    std::vector<process::ProcessRef> processes;
    std::string first;  ///< "12 (sleep)", for people
};
/// What `program`, a launcher's proxy, waits for if all that it launched have ended; else nothing. `child` is the
/// step's own child: the program, or the first process of its namespace. O(processes on the host), and O(1) while no
/// process has lost its parent.
Leftover find_leftover(const StepId& step_id, pid_t child, pid_t program);
/// For the reason of a step whose walltime is over: ": the program had ended, but ..."; empty if nothing was left.
std::string reason_of(const Leftover& leftover);
/// Kills them; those in a control group of the step's own at once, so that none forks away (Linux 5.14).
void kill_tree(const StepId& step_id);

/// Of a tree that is to end.
struct TreeEnd {
    StepId step_id;
    std::chrono::steady_clock::time_point kill_at;
    bool is_asked = false;  ///< it got SIGTERM before; else each process gets one, once
    sigset_t watched;       ///< blocked; SIGCHLD among them
};
/// Ends what is left and returns once nothing is, however long that takes: every 20 ms it checks, after 5 s once a
/// second. Returns a message for people where it took so long; else nothing. Reaps this process's children.
std::string end_tree(const TreeEnd& tree);

}  // namespace zbs::step
