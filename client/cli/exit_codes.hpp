#pragma once
#include "services/common/adapters/command_line/man_page.hpp"

namespace zbs::cli {

/// Exit codes of every command; with `run` and `wait` the program's own code goes through.
enum ExitCode {
    kOk = 0,
    kFailed = 1,
    kUsage = 2,
    kNotFound = 3,
    kDenied = 4,
    kUnreachable = 5,
    kTimedOut = 6,
    kRejected = 7,
    kConflict = 8
};

/// As README.md and every man page have them.
inline constexpr command_line::ExitCode kExitCodes[] = {
    {kOk, "good"},          {kFailed, "failed"},           {kUsage, "usage"},        {kNotFound, "not found"},
    {kDenied, "denied"},    {kUnreachable, "unreachable"}, {kTimedOut, "timed out"}, {kRejected, "rejected"},
    {kConflict, "conflict"}};
inline constexpr std::string_view kExitNote =
    "run and wait give the program's own code, 128 + n where signal n ended it, and 143 at the walltime.";

}  // namespace zbs::cli
