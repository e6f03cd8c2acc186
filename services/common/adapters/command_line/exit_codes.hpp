#pragma once
#include <array>
#include <string_view>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/command_line/pages/man_page.hpp"

namespace zbs::command_line {

/// How every program ends, but for those codes that are a job's own.
enum Ending : int {
    kOk = 0,
    kFailed = 1,
    kUsage = 2,
    kNotFound = 3,
    kDenied = 4,
    kUnreachable = 5,
    kTimedOut = 6,
    kRejected = 7,
    kConflict = 8,
    kIncomplete = 9
};

/// What a command ends with that met `error`.
int exit_code_of(const Error& error);

/// As README.md and every man page have them.
inline constexpr std::array<ExitCode, 10> kExitCodes{
    {{kOk, "good"},
     {kFailed, "failed"},
     {kUsage, "usage"},
     {kNotFound, "not found"},
     {kDenied, "denied"},
     {kUnreachable, "unreachable or unavailable (also a file or port or database of this machine)"},
     {kTimedOut, "timed out"},
     {kRejected, "rejected"},
     {kConflict, "conflict"},
     {kIncomplete, "completed without all results that were asked for"}}};

/// Of programs of operators. Whoever asks whether all is well wants a no, not its reason; a command line that is wrong
/// asks nothing.
inline constexpr std::string_view kOperatorExitNote =
    "Commands that ask whether all is well (ready, doctor, config check, audit verify) give 1 where it is not, "
    "whatever "
    "the fault, and 2 for wrong usage.";

}  // namespace zbs::command_line
