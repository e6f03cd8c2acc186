#pragma once
#include <functional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/command_line/output.hpp"
#include "services/common/ports/config_value.hpp"

namespace zbs::command_line {

/// What `config` needs of a program with a configuration file.
struct ConfigSource {
    std::string program;  ///< "zbs-zone"
    std::string file;     ///< of the examples: "zone.toml"
    std::function<Result<Configuration>()> read;
    /// What else would keep the service from starting with what was read last; it can be shown all the same.
    std::function<Result<void>()> check;
    /// What `check` could not know, asked after it; sentences for whoever reads its answer.
    std::function<std::vector<std::string>()> notes;
    /// Says a fault, with the code that the program ends with.
    std::function<void(const Error&, const Output&, int exit_code)> fail;
};

/// `config check` and `config show`.
void add_config_commands(CLI::App& cli, ConfigSource source);

}  // namespace zbs::command_line
