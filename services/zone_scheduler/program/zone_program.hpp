#pragma once
#include <string>

#include "algorithms/base/result.hpp"
#include "services/common/ports/trust.hpp"
#include "services/zone_scheduler/config/zone_config_file.hpp"

namespace CLI {
class App;
}

/// The program `zbs-zone`: the service itself (`run`), and an operator's commands, each one step.
namespace zbs::zone_program {

inline constexpr char kWhichZone[] = "which zone? give --config FILE or set ZBS_ZONE_CONFIG";

/// Settings as the file says, with an absolute state folder. `program_folder` is where this program lies.
Result<ZoneSettings> load_settings(const std::string& config_path);

/// Whether a service with keys could start with these settings on this host: addresses, programs, accounts and folders
/// that they name. Makes nothing; also while the service runs. Errors name file and line.
Result<void> check_for_service(const ZoneSettings& settings, const std::string& config_path);

/// Whether keys of this name are the zone's that is configured. Error: kInvalidArgument, at the folder of the keys.
Result<void> check_name(const Caller& name, const ZoneSettings& settings);

/// Whether the zone's keys can be read and are its own, if it has some, and are there if it listens beyond loopback.
/// Reads the state folder. Errors name file and line of the setting.
Result<void> check_keys(const ZoneSettings& settings, const std::string& config_path);

/// Whether jobs may run as this account of the host. Errors: kRejected with the reason.
Result<void> check_account(const AccountName& account, int minimum_uid);

/// Files of the state folder.
struct StateFolder {
    std::string path;
    std::string identity() const { return path + "/identity"; }  ///< keys; there with TLS only
    std::string operator_identity() const { return identity() + "/operator"; }
    std::string local_token() const { return path + "/local_token"; }  ///< without TLS: proves a name on loopback
    std::string address() const { return path + "/address"; }          ///< where the running zone listens
    std::string registry() const { return path + "/registry"; }        ///< folder: who and where it is
    std::string database() const { return path + "/zone.db"; }
    std::string audit() const { return path + "/audit.db"; }
    std::string database_mark() const { return path + "/folder_id"; }  ///< there where the database is elsewhere
    std::string steps() const { return path + "/steps"; }
    std::string files() const { return path + "/files"; }  ///< staged ones
    bool has_identity() const;
};

inline constexpr int kStorageFailed = 74;  ///< exit code, as of sysexits' EX_IOERR

/// Serves until SIGTERM. Exit code.
int run(const std::string& config_path);

/// init, renew, user, block, unblock, audit, trust, enrol: adds them to `cli`; each sets `exit_code`.
void add_operator_commands(CLI::App& cli, std::string& config_path, int& exit_code);

/// config check, config show; likewise.
void add_config_commands(CLI::App& cli, std::string& config_path, int& exit_code);

/// backup, restore; likewise.
void add_backup_commands(CLI::App& cli, std::string& config_path, int& exit_code);

/// database move; likewise.
void add_database_command(CLI::App& cli, std::string& config_path, int& exit_code);

/// match; sets `exit_code`.
void add_match_command(CLI::App& cli, int& exit_code);

/// replay; sets `exit_code`.
void add_replay_command(CLI::App& cli, int& exit_code);

/// Makes a registry known.
void add_enrol_command(CLI::App& cli, std::string& config_path, int& exit_code);
/// Where the zone has enrolled, into `config`, and the registry's bundle into `trust`; nothing where it has not.
Result<void> read_registry(const StateFolder& state, ZoneConfig& config, TrustBundles& trust);
/// The code has done its work.
void forget_registry_code(const StateFolder& state);

/// "zbs-zone: place: message" on stderr; the exit code for it.
int fail(const Error& error);

}  // namespace zbs::zone_program
