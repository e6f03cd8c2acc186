// zbs-node: agent of a zone on one machine. See services/node_agent/README.md.
#include <CLI/CLI.hpp>
#include <iostream>

#include "services/common/adapters/command_line/command_pages.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/node_agent/program/node_program.hpp"

int main(int argc, char** argv) {
    try {
        zbs::openssl::set_up();
        CLI::App cli{
            "Agent of a zone on one machine: measures it, starts, suspends and stops steps, keeps the slice "
            "clock.\n\nExample: zbs-node run --config node.toml"};
        std::string config;
        cli.add_option("--config", config, "configuration file (TOML)")->envname("ZBS_NODE_CONFIG");
        cli.fallthrough();
        cli.require_subcommand(0, 1);
        cli.add_subcommand("run", "the agent, until SIGTERM (also without any command); steps go on without it");
        cli.add_subcommand(
            "describe",
            "what this machine is and has to give, as the agent would tell its zone\n\nExample: zbs-node describe");
        cli.add_subcommand("ready",
                           "exits with 0 where the agent runs and takes calls: for health checks of containers and "
                           "watchdogs\n\nExample: zbs-node ready --config node.toml");
        int exit_code = 0;
        zbs::command_line::add_page_commands(cli, "zbs-node", {8, "zbs 0.1.0", "ZBS services"}, exit_code);
        try {
            cli.parse(argc, argv);
        } catch (const CLI::Success& done) {
            return cli.exit(done);
        } catch (const CLI::ParseError& fault) {
            cli.exit(fault);
            return 2;
        }
        if (cli.got_subcommand("ready")) return zbs::node_program::ready(config);
        if (cli.got_subcommand("describe")) return zbs::node_program::describe();
        if (!cli.get_subcommands().empty() && !cli.got_subcommand("run")) return exit_code;
        return zbs::node_program::run(config);
    } catch (const std::exception& fault) {
        std::cerr << "zbs-node: " << fault.what() << "\n";
        return 1;
    }
}
