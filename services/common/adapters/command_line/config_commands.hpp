#pragma once
#include <functional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/command_line/operator_command.hpp"
#include "services/common/ports/config_value.hpp"

namespace zbs::command_line {

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
