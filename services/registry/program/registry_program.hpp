#pragma once
#include <string>

#include "services/common/http/rate_limit.hpp"

#include "algorithms/base/result.hpp"

namespace CLI {
class App;
}

/// The program `zbs-registry`: the service itself (`run`), and an operator's commands.
namespace zbs::registry_program {

struct Options {
    std::string state;
    std::string address = "127.0.0.1";
    std::string advertised;  ///< host that others call; default: the listen address
    unsigned short port = 0;
    bool allow_private_addresses = false;
    bool public_metrics = false;
    http::RateLimits rates;
};

/// Files of the state folder.
struct StateFolder {
    std::string path;
    std::string identity() const { return path + "/identity"; }
    std::string operator_identity() const { return identity() + "/operator"; }
    std::string address() const { return path + "/address"; }
    std::string database() const { return path + "/registry.db"; }
    std::string audit() const { return path + "/audit.db"; }
};

/// Serves until SIGTERM. Exit code.
int run(const Options& options);
/// init, operator, renew, token, list, and those below.
void add_operator_commands(CLI::App& cli, Options& options, int& exit_code);
/// zone, organisation.
void add_enrolment_commands(CLI::App& cli, Options& options, int& exit_code);
/// audit.
void add_audit_commands(CLI::App& cli, Options& options, int& exit_code);
/// backup, restore.
void add_backup_commands(CLI::App& cli, Options& options, int& exit_code);
/// "zbs-registry: place: message" on stderr; the exit code for it.
int fail(const Error& error);

}  // namespace zbs::registry_program
