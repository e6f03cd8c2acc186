#pragma once
#include <sys/types.h>

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

/// What a supervisor gets as its descriptors 1 and 2, 3, and 4; the caller keeps its own.
struct SupervisorDescriptors {
    int log = -1, answer = -1, input = -1;
};

/// Makes a process of `program` in a session of its own, with default signals, no variable and no other descriptor of
/// this process; its descriptor 0 is empty. Error number, 0 where `pid` is made.
int spawn_supervisor(const std::string& program, const std::vector<std::string>& arguments,
                     const SupervisorDescriptors& given, pid_t& pid);

/// The same of another program, an absolute path, which gets `output` as its descriptors 1 and 2.
int spawn_tool(const std::string& program, const std::vector<std::string>& arguments, int output, pid_t& pid);

}  // namespace zbs::process
