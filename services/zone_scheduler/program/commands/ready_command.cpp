// zbs-zone ready: for health checks of containers and watchdogs.
#include "services/zone_scheduler/program/commands/ready_command.hpp"

#include <CLI/CLI.hpp>
#include <iostream>

#include "services/common/codec/service_codec.hpp"
#include "services/zone_scheduler/program/commands/registry_check.hpp"
#include "services/zone_scheduler/program/take_over_checks.hpp"
#include "services/zone_scheduler/program/take_over_watch.hpp"

namespace zbs::zone_program {
namespace {

Result<void> check_in_time(const std::string& folder) {
    TakeOverWatch watch([state = StateFolder{folder}] { return check_shared_folder(state); });
    return watch.found_now();
}

/// A zone that the registry refuses takes calls all the same: it is ready, and its operator should know.
void warn_of_registry(const codec::Json& ready) {
    const std::optional<command_line::Check> registry = check_registry(ready);
    if (registry && registry->verdict == command_line::CheckResult::kFail)
        std::cerr << "zbs-zone: warning: registry: " << registry->found << "; " << registry->remedy << "\n";
}

/// Of several schedulers each watchdog asks its own host's: where it asked the active one, all would look alike.
void ready(const OperatorCommand& shared, const command_line::Output& output, bool wants_active) {
    if (!shared.can_begin(output)) return;
    const Result<ZoneSettings> settings = load_settings(*shared.service);
    if (!settings) return shared.not_well(settings.error(), output);
    // What it asks with lies in the state folder, which may be gone, or hang.
    const Result<void> folder = settings->database ? check_in_time(settings->state_folder) : Result<void>{};
    if (!folder && folder.error().code == ErrorCode::kTimeout) return shared.not_well(folder.error(), output);
    const Result<OwnScheduler> own = check_own_scheduler(*shared.service);
    if (!own) return shared.not_well(folder ? own.error() : folder.error(), output);
    if (own->not_ready) return shared.not_well(*own->not_ready, output);
    if (!own->fault.empty())
        return shared.not_well({ErrorCode::kUnavailable, "stands by, and could not take over: " + own->fault, {}},
                               output);
    if (wants_active && !own->is_active)
        return shared.not_well({ErrorCode::kUnavailable, "this host's scheduler stands by; another one is active", {}},
                               output);
    const std::string role = own->is_active ? "active" : "standby";
    if (own->is_active) warn_of_registry(own->ready);
    output.print_document(codec::encode_is_ready(role), settings->database ? role + "\n" : std::string{});
}

}  // namespace

Result<OwnScheduler> check_own_scheduler(const std::string& config_path) {
    const Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return settings.error();
    using Audience = OperatorClient::Audience;
    // A single one may listen at any port; it has written down where.
    const auto client =
        OperatorClient::connect(config_path, settings->database ? Audience::kThisHost : Audience::kActive);
    if (!client) return client.error();
    const Result<codec::Json> alive = (*client)->call("GET", "/livez");
    if (!alive) return alive.error();
    if (const codec::Health health = codec::decode_health(*alive); health.status == codec::Health::kStandby)
        return OwnScheduler{false, health.reason};
    Result<codec::Json> ready = (*client)->call("GET", "/readyz");
    if (!ready) return OwnScheduler{true, {}, {}, ready.error()};
    return OwnScheduler{true, {}, *std::move(ready), std::nullopt};
}

void add_ready_command(CLI::App& cli, const OperatorCommand& shared) {
    CLI::App* const command = cli.add_subcommand(
        "ready",
        "exits with 0 where the zone runs and takes calls: for health checks of containers and watchdogs. Where a zone "
        "has several schedulers it asks the one of this host, and prints active or standby; a standby that could not "
        "take over is not ready\n\nExample: zbs-zone ready --config zone.toml");
    auto active = std::make_shared<bool>(false);
    command->add_flag("--active", *active, "not where it stands by");
    const auto output = command_line::add_outcome(*command);
    command->callback([shared, output, active] { ready(shared, *output, *active); });
}

}  // namespace zbs::zone_program
