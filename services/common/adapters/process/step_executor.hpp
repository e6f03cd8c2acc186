#pragma once
#include <memory>
#include <string>

#include "services/common/ports/executor.hpp"

namespace zbs::process {

struct StepExecutorOptions {
    std::string folder;      ///< absolute; one sub-folder per step is made in it
    std::string supervisor;  ///< path of the program `zbs-step`
};

/// Executor of process trees on this host. Each step gets a supervisor (`zbs-step`) in its own session, which outlives
/// this service, ends the tree at its walltime or when asked, and leaves the exit code in a file; this class only
/// starts it and reads what it left. A supervisor that was killed is noticed by `status`, which then kills what it left
/// behind. Errors at construction: the folder cannot be made, the supervisor is missing.
Result<std::unique_ptr<Executor>> make_step_executor(StepExecutorOptions options);

}  // namespace zbs::process
