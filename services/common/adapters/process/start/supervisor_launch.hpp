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
    std::string log;      ///< file that its own output is appended to
    std::string starter;  ///< socket of who makes the process instead of this one, of its own program; empty: nobody
};

/// Starts the supervisor in a session of its own, with no descriptor and no variable of this process, and waits for its
/// answer: "ok", or what went wrong in its own words. Errors: kUnavailable where it cannot be started or says nothing
/// for 5 s.
Result<std::string> ask_supervisor(const SupervisorLaunch& launch);

/// The same, where an answer that is not "ok" is an error, too (kUnavailable).
Result<void> launch_supervisor(const SupervisorLaunch& launch);

}  // namespace zbs::process
