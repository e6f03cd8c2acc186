#pragma once
#include <string>

namespace CLI {
class App;
}

namespace zbs::zone_program {

/// peer list, show, accept, set, reject, suspend, resume, request, remove: adds them to `cli`; each sets `exit_code`.
void add_peer_commands(CLI::App& cli, std::string& config_path, int& exit_code);

}  // namespace zbs::zone_program
