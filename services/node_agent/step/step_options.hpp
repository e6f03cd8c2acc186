#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/names/name_types.hpp"

namespace zbs::step {

enum class Namespaces {
    kNone,
    kMount,      ///< made with root's rights
    kProcesses,  ///< mount, process and IPC namespaces, made with root's rights
    kUser,       ///< these in a user namespace, where the job has the supervisor's own user
};

/// Whether the job has a process namespace, whose first process outlives the job's program.
inline bool has_processes(Namespaces namespaces) {
    return namespaces == Namespaces::kProcesses || namespaces == Namespaces::kUser;
}

/// The command line of zbs-step.
struct StepOptions {
    StepId step_id;
    std::string folder, directory, account;
    std::vector<std::string> hidden, read_only;
    std::vector<std::string> shared;  ///< folders of other steps that the job may write
    Namespaces namespaces = Namespaces::kNone;
    uid_t minimum_uid = 1'000;
    unsigned long max_open_files = 0, max_processes = 0;  ///< 0 = as inherited
    long walltime_s = 0;                                  ///< 0 = no limit
    long grace_ms = 1'000;                                ///< from SIGTERM at the walltime to SIGKILL
    /// The program launches the job's programs and would end them at once: SIGTERM goes to them, not to it.
    bool is_launcher = false;
    /// Run once at a stop in place of SIGTERM to the tree, with the rights of this process; empty: none.
    std::vector<std::string> on_stop;
    std::size_t proxies = 0;         ///< the program is a launcher that waits for so many (`ProxyGate`)
    std::uint64_t folder_bytes = 0;  ///< of the disk, that the job's folder may take; 0 = no limit
    bool probe = false;              ///< only try the namespaces
    std::vector<failpoint::Arming> failpoints;
    std::vector<std::string> argv;

    std::string job_folder() const { return folder + "/job"; }
};

/// Errors: an unknown option, a value that is none, something needed is missing.
Result<StepOptions> read_step_options(int argc, const char* const* argv);

}  // namespace zbs::step
