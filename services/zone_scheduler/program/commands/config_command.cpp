// zbs-zone config: what its file and the parts of that say.
#include "services/common/adapters/command_line/config_commands.hpp"

#include <memory>
#include <utility>

#include "services/common/adapters/beast/port_rights.hpp"
#include "services/common/adapters/process/account.hpp"
#include "services/zone_scheduler/program/commands/operator_client.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

void add_config_commands(CLI::App& cli, std::string& config_path, int& exit_code) {
    const OperatorCommand shared{&config_path, &exit_code};
    const auto settings = std::make_shared<ZoneSettings>();
    command_line::ConfigSource source{.program = "zbs-zone", .file = "zone.toml"};
    source.read = [&config_path, settings]() -> Result<Configuration> {
        Result<ZoneSettings> read = load_settings(config_path);
        if (!read) return read.error();
        *settings = *std::move(read);
        return Configuration{settings->values, settings->files};
    };
    const auto notes = std::make_shared<std::vector<std::string>>();
    source.check = [&config_path, settings, notes]() -> Result<void> {
        if (std::string as_owner = process::check_as_owner(settings->state_folder); !as_owner.empty()) {
            notes->push_back(std::move(as_owner));
            Result<ZoneSettings> read = load_settings(config_path);  // may this account read the files, too?
            if (!read) return read.error();
        }
        if (auto good = check_for_service(*settings, config_path); !good) return good;
        if (auto good = check_keys(*settings, config_path); !good) return good;
        if (std::string port = beast::port_note(settings->listen_port, beast::own_port_rights()); !port.empty())
            notes->push_back(std::move(port));
        return {};
    };
    source.notes = [notes] { return *notes; };
    source.fail = [shared](const Error& error, const command_line::Output& output, int code) {
        shared.fail(error, output);
        *shared.exit_code = shared.config->empty() ? 2 : code;
    };
    command_line::add_config_commands(cli, std::move(source));
}

}  // namespace zbs::zone_program
