// zbs-registry's commands about the record of decisions.
#include "services/common/adapters/command_line/audit_command.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/registry/program/registry_client.hpp"

namespace zbs::registry_program {

void add_audit_commands(CLI::App& cli, Options& options, int& exit_code) {
    command_line::add_audit_command(cli, operator_command(options, exit_code),
                                    {.get = [&options](const std::string& path) { return call(options, "GET", path); },
                                     .verify =
                                         [&options](const auto& expected) {
                                             return sqlite::verify_audit_log(StateFolder{options.state}.audit(),
                                                                             expected);
                                         },
                                     .parse_head = sqlite::parse_audit_head,
                                     .text_of = sqlite::to_string,
                                     .now = system::wall_clock,
                                     .example = "--state DIR"});
}

}  // namespace zbs::registry_program
