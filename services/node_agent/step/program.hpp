#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

#include "services/common/adapters/process/account.hpp"
#include "services/common/adapters/process/step_input.hpp"
#include "services/node_agent/step/step_options.hpp"

namespace zbs::step {

/// All that is needed to become the job's program.
struct Program {
    const StepOptions& options;
    const process::StepInput& input;
    std::optional<process::Account> account;
    int job_folder = -1;          ///< descriptor of the job's own folder
    int report = -1;              ///< gets what went wrong; closed by a good start
    int supervisor_is_here = -1;  ///< read end of a pipe whose other end the supervisor keeps
};

/// In a child of the supervisor outside of namespaces: becomes the program.
[[noreturn]] void become_program(const Program& program, pid_t supervisor);

/// In the first process of new namespaces: confines itself, starts the program, ends with its code (128 + n for signal
/// n) when all that it left behind has been asked to end; the kernel ends what stays.
[[noreturn]] void run_namespace(Program program, uid_t uid, gid_t gid);

}  // namespace zbs::step
