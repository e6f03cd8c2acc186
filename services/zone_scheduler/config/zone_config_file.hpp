#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "services/common/http/rate_limit.hpp"
#include "services/common/ports/config_value.hpp"
#include "services/common/ports/trust.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"
#include "services/zone_scheduler/trust/site_policy/grid_mapfile.hpp"

namespace zbs {

namespace system {
class ConfigFile;
}

/// The Slurm that a zone gets its processors from.
struct SlurmSettings {
    std::string partition;                    ///< empty = Slurm's default
    std::string account;                      ///< that Slurm charges; empty = each user's default
    std::string configuration;                ///< slurm.conf; empty = as Slurm finds it
    std::vector<std::string> folders;         ///< where its commands are looked for first
    std::vector<std::string> submit_options;  ///< of sbatch, for every hold
    /// For Slurm to start a hold: a scheduling cycle and its answer; a home waits 15 s for a hold.
    static constexpr Duration kWait = std::chrono::seconds{5};
    bool operator==(const SlurmSettings&) const = default;
};

/// The PostgreSQL that a zone's database is in, and how long it may be without an active scheduler.
struct DatabaseSettings {
    std::string url;     ///< as libpq reads it, without a password
    std::string schema;  ///< default: the zone's name
    std::string node;    ///< the name of the active one for the others; default: the host's name
    /// How long the active scheduler counts without a sign of life: a standby takes over soon after. A quarter of it
    /// between renewals, so that one slow answer does not end the zone.
    static constexpr Duration kLease = std::chrono::seconds{8};
    static constexpr Duration kRenewEvery = std::chrono::seconds{2};
    bool operator==(const DatabaseSettings&) const = default;
};

/// A zone's whole configuration (TOML; see docs/settings.md).
struct ZoneSettings {
    ZoneConfig zone;
    std::string listen_address = "127.0.0.1";
    int listen_port = 0;                    ///< 0 = any free port
    std::string advertised_host;            ///< what others reach this zone by; default: the listen address
    bool allow_private_addresses = false;   ///< may the registry and peers send us to loopback and private addresses?
    std::vector<std::string> hidden_paths;  ///< folders beside the state folder that no job may see
    AccountName default_account;            ///< of jobs whose user is mapped to none; needs root
    int minimum_uid = 1'000;                ///< of accounts that jobs may run as
    std::optional<bool> shared_memory;      ///< may jobs of different steps of this host share memory? See zbs-step
    bool require_isolation = false;         ///< do not start where a job could read the zone's keys
    std::optional<SlurmSettings> slurm;     ///< whose nodes are the machines; none: those of the file
    std::optional<DatabaseSettings> database;  ///< none: a file in the state folder
    http::RateLimits rates;
    std::vector<GridUsers> grid_users;  ///< one per organisation
    std::string state_folder;           ///< database and step folders; made if missing
    std::string queue_log;              ///< file that all that happens to the queue is written to; empty: none
    std::string part_log;               ///< file that all steps of parts are written to; empty: none
    std::string step_supervisor;        ///< path of zbs-step; default: beside this program
    std::vector<std::string> files;     ///< that were read
    std::vector<ConfigValue> values;    ///< all settings in force, and where they stand

    std::string place_of(const std::string& key) const { return zbs::place_of(values, key); }
};

/// What only a running program can say of a configuration; what is left out is not asked.
struct ConfigChecks {
    const TrustBundles* trust = nullptr;  ///< reads bundles; believes nobody because of it
    /// Whether jobs may run as an account of this host.
    std::function<Result<void>(const AccountName& account, int minimum_uid)> check_account = {};
};

/// Reads what a file has beside the settings of a zone, which are read already; faults are remembered in the file.
using ReadMore = std::function<void(system::ConfigFile&, const ZoneConfig&)>;

/// Errors name file and line: unreadable, not TOML, unknown or missing key, value out of range, a rule that names what
/// is not there. `program_folder` is where this program lies: its companions are looked for there.
Result<ZoneSettings> read_zone_settings(const std::string& path, const std::string& program_folder,
                                        const ConfigChecks& checks = {}, const ReadMore& read_more = {});

}  // namespace zbs
