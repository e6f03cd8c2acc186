#pragma once
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/process/step_input.hpp"

namespace zbs::process {

/// One start of `zbs-step`.
struct SupervisorLaunch {
    std::string program;
    std::vector<std::string> arguments;  ///< without the program's name
    StepInput input;
    std::string log;  ///< file that its own output is appended to
};

/// Starts the supervisor in a session of its own, with no descriptor and no variable of this process, and waits for its
/// answer. An answer that is not "ok" and silence for 5 s are errors (kUnavailable) in the supervisor's own words.
Result<void> launch_supervisor(const SupervisorLaunch& launch);

}  // namespace zbs::process
