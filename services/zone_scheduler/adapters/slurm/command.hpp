#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace zbs::slurm {

/// One run of a program to its end, by its arguments: no shell reads them.
struct Command {
    std::string program;  ///< absolute path
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;  ///< all of it; nothing is inherited
    std::string input;                                             ///< on standard input; at most kMaxCommandInput
    Duration deadline{};
    std::size_t max_output = 0;  ///< bytes, of each of the two outputs
};

inline constexpr std::size_t kMaxCommandInput = 16 * 1024;  ///< what a pipe takes without a reader

struct CommandOutput {
    int exit_code = 0;  ///< 128 + n where signal n ended it
    std::string out;
    std::string error;
};

/// Runs the command and waits for its end, in this thread; it and all it started are dead afterwards, unless they left
/// its session. Works where the process ignores SIGCHLD. Errors: kTimeout after the deadline (its last words are in the
/// message), kTooLarge, kUnavailable where it cannot be started.
Result<CommandOutput> run(const Command& command);

}  // namespace zbs::slurm
