#pragma once
#include <functional>
#include <string>

#include "services/common/adapters/command_line/output.hpp"

namespace zbs::command_line {

/// "PROGRAM: place: message" on stderr; the exit code for it.
int fail(const char* program, const Error& error);

/// What an operator's command of a service needs: which service, and where its exit code goes. Both must outlive it.
struct OperatorCommand {
    const char* program;         ///< "zbs-zone"
    const std::string* service;  ///< its configuration file or state folder
    const char* which;           ///< what is said where that is empty
    int* exit_code;

    /// Says it, and sets the exit code; where the command prints JSON, also as a problem on standard output.
    void fail(const Error& error, const Output& output) const;
    /// The same of a command that asks whether all is well: a no is `kFailed`, whatever the fault.
    void not_well(const Error& error, const Output& output) const;
    /// See `Output::print`; what cannot be printed is wrong usage.
    void print(const Output& output, const listing::Listing& listing, const codec::Json& whole = {}) const;
    /// Does `act` where the command can begin, and reports its error.
    void run(const Output& output, const std::function<Result<void>()>& act) const;
    /// Whether it is known which service is meant, and the output can be that of this command; else says why not.
    bool can_begin(const Output& output) const;
};

}  // namespace zbs::command_line
