#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs::cli {

/// The path of an executable file of this name on PATH; empty where there is none.
std::string path_of(const std::string& name);

struct ProgramOutput {
    int exit_code = 0;  ///< 128 + the signal that ended it
    std::string text;   ///< standard output and error together, at most 256 KiB
};
/// Runs argv[0] (a path) without input. Errors: cannot be started; kTimeout, when it is killed with all of its group.
Result<ProgramOutput> run_briefly(const std::vector<std::string>& argv, std::chrono::milliseconds patience);

}  // namespace zbs::cli
