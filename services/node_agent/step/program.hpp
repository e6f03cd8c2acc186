#pragma once
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/common/adapters/process/account.hpp"
#include "services/common/adapters/process/step_input.hpp"
#include "services/node_agent/step/step_options.hpp"

namespace zbs::step {

/// All that is needed to become the job's program.
struct Program {
    const StepOptions& options;
    const process::StepInput& input;
    std::optional<process::Account> account;
    std::vector<std::pair<std::string, std::string>> login;  ///< `login_environment` of its account
    int job_folder = -1;                                     ///< descriptor of the job's own folder
    int report = -1;                                         ///< gets what went wrong; closed by a good start
    int supervisor_is_here = -1;  ///< read end of a pipe whose other end the supervisor keeps
};

/// In the child of `fork_into`: confines itself where asked and becomes the program. In a process namespace it starts
/// the program instead, and ends with its code (128 + n for signal n) when all that it left behind has been asked to
/// end; the kernel ends what stays. Ends with 0 after a probe.
[[noreturn]] void run_program(Program program, pid_t supervisor, uid_t uid, gid_t gid);

/// Sets the umask and the soft limits that the owner of the job asked for
/// (services/common/messages/steps/job_limits.hpp), as the job's user, in the process that becomes the program.
/// `variable` returns a variable of the job, or null. The reason if it cannot; else empty.
std::string set_own_limits(const std::function<const char*(const char* name)>& variable);

}  // namespace zbs::step
