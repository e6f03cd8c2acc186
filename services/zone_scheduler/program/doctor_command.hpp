#pragma once
#include <optional>
#include <string>

#include "services/common/adapters/command_line/check.hpp"
#include "services/common/codec/json.hpp"

namespace CLI {
class App;
}

namespace zbs::zone_program {

/// Adds `doctor`. Sets `exit_code` to 1 where something fails.
void add_doctor_command(CLI::App& cli, std::string& config_path, int& exit_code);

/// How it stands with the registry, of the answer to GET /v1/peerings or /readyz; none for a zone without one.
std::optional<command_line::Check> check_registry(const codec::Json& peerings);

}  // namespace zbs::zone_program
