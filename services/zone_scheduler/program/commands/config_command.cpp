// zbs-zone config: what its file and the parts of that say.
#include "services/common/adapters/command_line/operator_command.hpp"

#include <utility>

#include "services/common/adapters/beast/port_rights.hpp"
#include "services/common/adapters/process/account.hpp"
#include "services/zone_scheduler/program/commands/operator_client.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {
namespace {

Result<Configuration> settings_in_force(const std::string& config_path) {
    Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return settings.error();
    return Configuration{std::move(settings->values), std::move(settings->files)};
}

Result<void> check_settings(const std::string& config_path, std::vector<std::string>& notes) {
    Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return settings.error();
    if (std::string as_owner = process::check_as_owner(settings->state_folder); !as_owner.empty()) {
        notes.push_back(std::move(as_owner));
        settings = load_settings(config_path);  // may this account read the files, too?
        if (!settings) return settings.error();
    }
    if (auto good = check_for_service(*settings, config_path); !good) return good;
    if (auto good = check_keys(*settings, config_path); !good) return good;
    if (std::string port = beast::port_note(settings->listen_port, beast::own_port_rights()); !port.empty())
        notes.push_back(std::move(port));
    return {};
}

}  // namespace

void add_config_commands(CLI::App& cli, std::string& config_path, int& exit_code) {
    command_line::add_config_commands(
        cli, OperatorCommand{&config_path, &exit_code},
        {.file = "zone.toml",
         .read = [&config_path] { return settings_in_force(config_path); },
         .check = [&config_path](auto& notes) { return check_settings(config_path, notes); }});
}

}  // namespace zbs::zone_program
