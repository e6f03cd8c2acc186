// zbs-zone config: what its file and the parts of that say.
#include "services/common/adapters/command_line/config_commands.hpp"

#include "services/zone_scheduler/program/operator_client.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

void add_config_commands(CLI::App& cli, std::string& config_path, int& exit_code) {
    const OperatorCommand shared{&config_path, &exit_code};
    command_line::add_config_commands(cli,
                                      {.program = "zbs-zone",
                                       .file = "zone.toml",
                                       .read = [&config_path]() -> Result<std::vector<ConfigValue>> {
                                           Result<ZoneSettings> settings = load_settings(config_path);
                                           if (!settings) return settings.error();
                                           if (auto good = check_for_service(*settings, config_path); !good)
                                               return good.error();
                                           return std::move(settings->values);
                                       },
                                       .fail =
                                           [shared](const Error& error, const command_line::Output& output, int code) {
                                               shared.fail(error, output);
                                               *shared.exit_code = shared.config->empty() ? 2 : code;
                                           }});
}

}  // namespace zbs::zone_program
