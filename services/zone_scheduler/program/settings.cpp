#include <filesystem>

#include "services/common/adapters/beast/server.hpp"
#include "services/common/adapters/command_line/operator_command.hpp"
#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/openssl/trust/trust_store.hpp"
#include "services/common/adapters/process/account.hpp"
#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/process/step_executor.hpp"
#include "services/common/adapters/system/absolute_path.hpp"
#include "services/common/adapters/system/network_interface.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/messages/names/host_name.hpp"
#include "services/zone_scheduler/adapters/postgresql/connection.hpp"
#include "services/zone_scheduler/program/commands/line_log_file.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

Result<ZoneSettings> load_settings(const std::string& config_path) {
    const std::string folder = std::filesystem::canonical("/proc/self/exe").parent_path().string();
    if (config_path.empty()) return invalid(kWhichZone);
    const openssl::TrustStore trust(system::wall_clock);
    const ConfigChecks checks{.trust = &trust, .check_account = check_account};
    Result<ZoneSettings> settings = read_zone_settings(config_path, folder, checks);
    if (!settings) return settings.error();
    settings->state_folder = system::absolute_path(settings->state_folder);
    return settings;
}

Result<void> check_for_service(const ZoneSettings& settings, const std::string& config_path) {
    const auto place = [&](const char* key) { return place_of(settings.values, key, config_path); };
    if (auto good =
            beast::check_listen_address(settings.listen_address, static_cast<unsigned short>(settings.listen_port),
                                        {"'listen'", "'listen'", place("listen")});
        !good)
        return good;
    if (auto good = process::check_supervisor(settings.step_supervisor, place("step_supervisor")); !good) return good;
    if (auto good = process::check_step_settings({.hidden_paths = settings.hidden_paths,
                                                  .default_account = settings.default_account,
                                                  .allow_root_jobs = !settings.zone.run_as_accounts,
                                                  .minimum_uid = static_cast<uid_t>(settings.minimum_uid)},
                                                 {place("hidden_paths"), place("default_account"), {}});
        !good)
        return good;
    // A folder that several schedulers share may hang: the checks of taking over see to that.
    if (!settings.database) {
        if (auto good = process::check_state_folder(settings.state_folder, place("state")); !good) return good;
    }
    for (const auto& [kind, path] :
         {std::pair(&kQueueLog, &settings.queue_log), std::pair(&kPartLog, &settings.part_log)}) {
        if (path->empty()) continue;
        if (auto good = LineLogFile::check(*kind, *path); !good)
            return Error{good.error().code, good.error().message, place(kind->setting)};
    }
    if (const auto found = system::resolve_interface(settings.zone.mpi_interface); !found) {
        return Error{found.error().code, "[mpi] interface: " + found.error().message, place("mpi.interface")};
    }
    if (settings.database) {
        if (auto good = postgresql::check_url(settings.database->url); !good)
            return invalid(good.error().message, place("database.url"));
    }
    // Without keys it cannot listen there at all.
    if (is_wildcard_address(settings.advertised_host) && StateFolder{settings.state_folder}.has_identity())
        return invalid(
            "'listen' takes all addresses of this machine, so the one that others call must be named: set "
            "'advertise', e.g. advertise = \"zone-a.example.org\"",
            place("listen"));
    return {};
}

Result<void> check_name(const Caller& name, const ZoneSettings& settings) {
    const Caller expected = settings.zone.self();
    if (name == expected) return {};
    return invalid("the certificate is of " + to_uri(name) + ", the configuration of " + to_uri(expected) +
                       "; correct one of them",
                   StateFolder{settings.state_folder}.identity());
}

Result<void> check_keys(const ZoneSettings& settings, const std::string& config_path) {
    const StateFolder state{settings.state_folder};
    if (state.has_identity()) {
        Result<void> good = openssl::check_identity(state.identity(), system::wall_clock());
        if (good) {
            const auto keys = openssl::KeyFolder::open(state.identity(), system::wall_clock);
            good = keys ? check_name((*keys)->name(), settings) : Result<void>{keys.error()};
        }
        if (good) return {};
        return Error{good.error().code, "the zone's keys: " + text_with_pointer(good.error()),
                     place_of(settings.values, "state", config_path)};
    }
    if (beast::is_loopback_address(settings.listen_address)) return {};
    std::error_code fault;
    if (!std::filesystem::exists(state.identity(), fault) && fault)
        return Error{ErrorCode::kUnavailable, state.identity() + " cannot be looked at: " + fault.message(),
                     place_of(settings.values, "state", config_path)};
    return invalid(
        "beyond loopback a zone needs keys, and there are none in " + state.identity() +
            "; make them with 'zbs-zone init --config " + config_path +
            "', or set 'listen' to an address of loopback, e.g. 127.0.0.1:" + std::to_string(settings.listen_port),
        place_of(settings.values, "listen", config_path));
}

Result<void> check_account(const AccountName& account, int minimum_uid) {
    const auto found = process::find_account(account, static_cast<uid_t>(minimum_uid));
    if (!found) return found.error();
    return {};
}

bool StateFolder::has_identity() const {
    std::error_code fault;
    return std::filesystem::exists(identity(), fault);
}

int fail(const Error& error) { return command_line::fail("zbs-zone", error); }

}  // namespace zbs::zone_program
