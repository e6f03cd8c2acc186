#pragma once
#include <string>

namespace CLI {
class App;
}

namespace zbs::zone_program {

/// Adds `doctor`. Sets `exit_code` to 1 where something fails.
void add_doctor_command(CLI::App& cli, std::string& config_path, int& exit_code);

}  // namespace zbs::zone_program
