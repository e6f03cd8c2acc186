// zbs-registry: discovery of zones. See services/registry/README.md.
#include <CLI/CLI.hpp>

#include "services/common/adapters/command_line/exit_codes.hpp"
#include "services/common/adapters/command_line/output.hpp"
#include "services/common/adapters/command_line/pages/command_pages.hpp"
#include "services/common/adapters/command_line/refusal.hpp"
#include "services/common/adapters/command_line/terminal.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/registry/program/registry_program.hpp"

namespace {

int run(int argc, char** argv) {
    CLI::App cli{
        "Discovery of zones: white, yellow and green pages with leases.\n\nExample: zbs-registry init --state "
        "/var/lib/zbs-registry --organisation grid && zbs-registry run --state /var/lib/zbs-registry --listen-port "
        "8000"};
    zbs::registry_program::Options options;
    int exit_code = 0;
    cli.add_option("--state", options.state, "folder of keys and database")->envname("ZBS_REGISTRY_STATE");
    cli.add_option("--listen-address", options.address, "IP address to listen on")->capture_default_str();
    cli.add_option("--advertise", options.advertised, "host that others reach this registry by; default: the same");
    cli.add_option("--listen-port", options.port, "port; 0 = any free one, printed at start")->capture_default_str();
    cli.add_flag("--allow-private-addresses", options.allow_private_addresses,
                 "zones may be at loopback, private and link-local addresses (one machine, or one private network)");
    cli.add_flag("--public-metrics", options.public_metrics,
                 "anybody who reaches the registry may read /metrics, not its operators only");
    cli.add_option("--zone-rate", options.rates.zone.per_second, "calls a second of one zone, in the long run; 0: any")
        ->check(zbs::command_line::number_in(0.0, 100'000.0))
        ->capture_default_str();
    cli.add_option("--anonymous-rate", options.rates.anonymous.per_second,
                   "calls a second of all without a certificate at one address; 0: any")
        ->check(zbs::command_line::number_in(0.0, 100'000.0))
        ->capture_default_str();
    cli.add_option("--connection-rate", options.rates.connection.per_second,
                   "new connections a second from one address; 0: any")
        ->check(zbs::command_line::number_in(0.0, 100'000.0))
        ->capture_default_str();
    cli.set_version_flag("--version", "zbs-registry 0.1.0");
    cli.fallthrough();
    cli.require_subcommand(0, 1);
    cli.add_subcommand("run", "the service, until SIGTERM (also without any command)");
    zbs::registry_program::add_operator_commands(cli, options, exit_code);
    zbs::command_line::add_page_commands(
        cli, "zbs-registry",
        {8, "zbs 0.1.0", "ZBS services", zbs::command_line::kExitCodes, zbs::command_line::kOperatorExitNote},
        exit_code);
    if (const auto ended = zbs::command_line::parse(cli, "zbs-registry", argc, argv)) return *ended;
    if (!cli.get_subcommands().empty() && !cli.got_subcommand("run")) return exit_code;
    if (options.state.empty())
        return zbs::registry_program::fail(
                   zbs::invalid("which registry? give --state FOLDER or set ZBS_REGISTRY_STATE")),
               2;
    return zbs::registry_program::run(options);
}

}  // namespace

int main(int argc, char** argv) { return zbs::command_line::run_program("zbs-registry", run, argc, argv); }
