#pragma once
#include <optional>
#include <string>

#include "services/common/adapters/command_line/output.hpp"
#include "services/common/codec/json/json.hpp"
#include "services/registry/program/registry_program.hpp"

namespace zbs::registry_program {

/// One call to the running registry, with the operator's key from its state folder. Errors: a registry that has never
/// run or does not answer, keys that cannot be read, and what it says.
Result<codec::Json> call(const Options& options, const std::string& method, const std::string& path,
                         const codec::Json& body = {});

/// What an operator's command needs besides: how it prints, and where its exit code goes. Both must outlive it.
struct Printer {
    const command_line::Output* output;
    int* exit_code;

    /// Says it, and sets the exit code; where the command prints JSON, also as a problem on standard output.
    void fail(const Error& error) const;
    /// The same of a command that asks whether all is well: a no is `kFailed`, whatever the fault.
    void not_well(const Error& error) const;
    /// Whether it is known which registry is meant, and the output can be that of this command; else says why not.
    bool can_begin(const Options& options) const;
    /// See `Output::print`; what cannot be printed is wrong usage.
    void print(const listing::Listing& listing, const codec::Json& whole) const;
};

}  // namespace zbs::registry_program
