// zbs-node: agent of a zone on one machine. See services/node_agent/README.md.
#include <CLI/CLI.hpp>

#include "services/common/adapters/command_line/exit_codes.hpp"
#include "services/common/adapters/command_line/operator_command.hpp"
#include "services/common/adapters/command_line/pages/command_pages.hpp"
#include "services/common/adapters/command_line/refusal.hpp"
#include "services/common/adapters/command_line/terminal.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/node_agent/program/node_program.hpp"

namespace {

int run(int argc, char** argv) {
    zbs::openssl::set_up();
    CLI::App cli{
        "Agent of a zone on one machine: measures it, starts, suspends and stops steps, keeps the slice "
        "clock.\n\nExample: zbs-node run --config node.toml"};
    std::string config;
    cli.add_option("--config", config,
                   "TOML file; services/node_agent/README.md lists its settings (the package has it in "
                   "/usr/share/doc/zbs-node)")
        ->envname("ZBS_NODE_CONFIG");
    cli.set_version_flag("--version", "zbs-node 0.1.0");
    cli.fallthrough();
    cli.require_subcommand(0, 1);
    std::string step_starter;
    cli.add_subcommand("run", "the agent, until SIGTERM (also without any command); steps go on without it")
        ->add_option("--step-starter", step_starter,
                     "socket of 'zbs-step serve', which starts the steps, so that the agent may be confined more "
                     "tightly than they are; without it the agent starts them itself");
    zbs::command_line::Output output(zbs::command_line::Output::Kind::kDocument, "json");
    output.add_to(*cli.add_subcommand("describe",
                                      "what this machine is and offers, as the agent would report it to its "
                                      "zone\n\nExample: zbs-node describe\nExample: zbs-node describe -o table"));
    CLI::App* const ready = cli.add_subcommand(
        "ready",
        "exits with 0 where the agent runs and takes calls: for health checks of containers and watchdogs\n\nExample: "
        "zbs-node ready --config node.toml");
    const auto readiness = zbs::command_line::add_outcome(*ready);
    int exit_code = 0;
    const zbs::command_line::OperatorCommand shared{"zbs-node", &config, zbs::node_program::kWhichNode, &exit_code};
    ready->callback([shared, readiness] { zbs::node_program::ready(shared, *readiness); });
    zbs::command_line::add_config_commands(
        cli, shared,
        {.file = "node.toml",
         .read = [&config] { return zbs::node_program::settings_in_force(config); },
         .check = [&config](auto& notes) { return zbs::node_program::check_settings(config, notes); }});
    zbs::command_line::add_page_commands(
        cli, "zbs-node",
        {8, "zbs 0.1.0", "ZBS services", zbs::command_line::kExitCodes, zbs::command_line::kOperatorExitNote},
        exit_code);
    if (const auto ended = zbs::command_line::parse(cli, "zbs-node", argc, argv)) return *ended;
    if (cli.got_subcommand("describe")) return zbs::node_program::describe(output);
    if (!cli.get_subcommands().empty() && !cli.got_subcommand("run")) return exit_code;
    return zbs::node_program::run(config, step_starter);
}

}  // namespace

int main(int argc, char** argv) { return zbs::command_line::run_program("zbs-node", run, argc, argv); }
