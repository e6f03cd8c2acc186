// zbs-zone: the scheduler of one zone, home for its own users and peer for other zones. See
// services/zone_scheduler/README.md.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "services/common/adapters/command_line/exit_codes.hpp"
#include "services/common/adapters/command_line/output.hpp"
#include "services/common/adapters/command_line/pages/command_pages.hpp"
#include "services/common/adapters/command_line/refusal.hpp"
#include "services/common/adapters/command_line/terminal.hpp"
#include "services/zone_scheduler/program/commands/peer_text.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace {

constexpr auto kExitCodes = [] {
    constexpr auto& kAll = zbs::command_line::kExitCodes;
    std::array<zbs::command_line::ExitCode, kAll.size() + 1> codes{};
    std::ranges::copy(kAll, codes.begin());
    codes.back() = {zbs::zone_program::kStorageFailed, "run: another scheduler has taken the zone over"};
    return codes;
}();

int run(int argc, char** argv) {
    CLI::App cli{
        "Scheduler of one zone, and its operator's commands.\n\nExample: zbs-zone init --config /etc/zbs/zone.toml "
        "&& zbs-zone run --config /etc/zbs/zone.toml"};
    std::string config_path;
    int exit_code = 0;
    cli.add_option("--config", config_path,
                   "TOML file; docs/settings.md lists its settings (the package has it in "
                   "/usr/share/doc/zbs-server)")
        ->envname("ZBS_ZONE_CONFIG");
    cli.set_version_flag("--version", "zbs-zone 0.1.0");
    cli.fallthrough();
    cli.require_subcommand(0, 1);
    cli.add_subcommand("run", "the service, until SIGTERM (also without any command)");
    CLI::App* const failpoints = cli.add_subcommand(
        "failpoints",
        "for tests: the places where ZBS_FAILPOINTS can make a service die (crash), fail (error) or stall "
        "(stall:5s)\n\nExample: ZBS_FAILPOINTS='home.after_held=crash' zbs-zone run --config zone.toml");
    zbs::command_line::Output output(zbs::command_line::Output::Kind::kList);
    output.add_to(*failpoints, zbs::zone_program::failpoints());
    zbs::zone_program::add_operator_commands(cli, config_path, exit_code);
    zbs::zone_program::add_config_commands(cli, config_path, exit_code);
    zbs::command_line::add_page_commands(
        cli, "zbs-zone", {8, "zbs 0.1.0", "ZBS services", kExitCodes, zbs::command_line::kOperatorExitNote}, exit_code);
    if (const auto ended = zbs::command_line::parse(cli, "zbs-zone", argc, argv)) return *ended;
    if (failpoints->parsed()) {
        zbs::Result<void> printed = output.check();
        if (printed) printed = output.print(zbs::zone_program::failpoints());
        if (!printed) return zbs::zone_program::fail(printed.error()), 2;
        return 0;
    }
    if (!cli.get_subcommands().empty() && !cli.got_subcommand("run")) return exit_code;
    if (config_path.empty()) return zbs::zone_program::fail(zbs::invalid(zbs::zone_program::kWhichZone)), 2;
    return zbs::zone_program::run(config_path);
}

}  // namespace

int main(int argc, char** argv) { return zbs::command_line::run_program("zbs-zone", run, argc, argv); }
