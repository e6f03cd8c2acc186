#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/common/messages/names/name_types.hpp"

namespace zbs::process {

/// A process that cannot be mistaken for a later one with the same number.
struct ProcessRef {
    pid_t pid = 0;
    std::uint64_t start_time = 0;  ///< clock ticks since boot, /proc/PID/stat field 22
    bool operator==(const ProcessRef&) const = default;
};

/// What /proc/PID/stat says, or the file of one of its threads. Times are clock ticks.
struct ProcessStat {
    char state = 0;  ///< the kernel's letter
    pid_t parent = 0, session = 0;
    unsigned long long user = 0, system = 0, children_user = 0, children_system = 0;
    long threads = 0;
    unsigned long long start_time = 0;
};
std::optional<ProcessStat> read_stat(const std::string& path);

/// The process `pid` as it is now; nothing where it is gone or a zombie.
std::optional<ProcessRef> find_process(pid_t pid);
bool is_alive(const ProcessRef& process);
/// Can this process see those of its user that nobody may look into (PR_SET_DUMPABLE), as supervisors are? Not where
/// /proc is mounted with hidepid and this process is not root: there what runs looks as if it were gone.
bool sees_closed_processes();
/// Signals exactly this process (pidfd); false where it is gone.
bool send_signal(const ProcessRef& process, int signal);

/// The variable that every process of a step carries in its environment, so that none gets away by leaving its parent.
std::string step_variable(const StepId& step_id);
/// The child of `parent` that began first, of those that are alive. O(processes on the host).
std::optional<ProcessRef> find_first_child(pid_t parent);
/// All live processes whose environment this process may read and that have `variable` in it, and all descendants of
/// `parent` where > 0; never the caller itself. O(processes on the host).
std::vector<ProcessRef> find_marked(const std::string& variable, pid_t parent);

/// Writes `text` to `path` by way of a temporary file and rename, synced. No link is followed.
bool write_file(const std::string& path, const std::string& text);
/// At most `limit` bytes of a small file; nothing where it cannot be read.
std::optional<std::string> read_file(const std::string& path, std::size_t limit = 64 * 1024);

}  // namespace zbs::process
