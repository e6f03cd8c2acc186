#pragma once
#include "services/common/adapters/command_line/exit_codes.hpp"

namespace zbs::cli {

/// Exit codes of every command; with `run` and `wait` the program's own code goes through.
using enum command_line::Ending;
using command_line::exit_code_of;
using command_line::kExitCodes;

inline constexpr std::string_view kExitNote =
    "run and wait give the program's own code, 128 + n where signal n ended it, and 143 at the walltime.";

}  // namespace zbs::cli
