#pragma once
#include "services/zone_scheduler/program/commands/operator_client.hpp"

namespace CLI {
class App;
}

namespace zbs::zone_program {

/// Adds `ready`. Sets the exit code to 1 where this host's scheduler is not in order.
void add_ready_command(CLI::App& cli, const OperatorCommand& shared);

/// What the scheduler of this host says of itself.
struct OwnScheduler {
    bool is_active = false;
    std::string fault;                 ///< of a standby: why it could not take over
    codec::Json ready{};               ///< of the active one: its answer to GET /readyz
    std::optional<Error> not_ready{};  ///< of the active one: why it takes no new work, or did not answer that
};
/// Errors: it does not run, or takes no calls.
Result<OwnScheduler> check_own_scheduler(const std::string& config_path);

}  // namespace zbs::zone_program
