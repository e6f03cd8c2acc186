#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/command_line/output.hpp"
#include "services/common/ports/config_value.hpp"
#include "services/common/ports/storage/audit.hpp"

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

/// The record of decisions of a service, as its running program shows it and as its storage has it.
struct AuditSource {
    std::function<Result<codec::Json>(const std::string& path)> get;
    std::function<Result<AuditSummary>(const std::optional<AuditHead>& expected)> verify;
    Result<AuditHead> (*parse_head)(std::string_view);
    std::string (*text_of)(const AuditHead&);
    Time (*now)();
    std::string example;  ///< how an example names the service: "--config zone.toml"
};

/// `audit list` and `audit verify`.
void add_audit_command(CLI::App& cli, const OperatorCommand& shared, AuditSource source);

/// What `config` needs of a program with a configuration file.
struct ConfigSource {
    std::string file;  ///< of the examples: "zone.toml"
    std::function<Result<Configuration>()> read;
    /// What else would keep the service from starting with that; it can be shown all the same. `notes`: what this
    /// could not know, sentences for whoever reads the answer.
    std::function<Result<void>(std::vector<std::string>& notes)> check;
};

/// `config check` and `config show`.
void add_config_commands(CLI::App& cli, const OperatorCommand& shared, ConfigSource source);

}  // namespace zbs::command_line
