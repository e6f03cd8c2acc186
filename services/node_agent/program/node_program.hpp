#pragma once
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/command_line/operator_command.hpp"
#include "services/common/ports/config_value.hpp"

/// The program `zbs-node`.
namespace zbs::node_program {

inline constexpr char kWhichNode[] = "which node? give --config FILE or set ZBS_NODE_CONFIG";

/// Serves until SIGTERM. Exit code. `step_starter`, where not empty, goes before the setting of that name.
int run(const std::string& config_path, const std::string& step_starter);
/// All settings of the file and its parts, as `run` would take them.
Result<Configuration> settings_in_force(const std::string& config_path);
/// What else would keep `run` from starting with that file: an address of another host, a program that cannot be run,
/// folders, accounts and a starter that it cannot have, keys that cannot be read. Makes nothing, also while it runs.
/// Looks as the account whose the state folder is, and says in `notes` what it could not know.
Result<void> check_settings(const std::string& config_path, std::vector<std::string>& notes);
/// Asks the running agent whether it takes calls; its file must name a port.
void ready(const command_line::OperatorCommand& shared, const command_line::Output& output);
/// Prints what the machine is and has to give. Exit code.
int describe(const command_line::Output& output);
/// "zbs-node: place: message" on stderr; the exit code for it.
int fail(const Error& error);

}  // namespace zbs::node_program
