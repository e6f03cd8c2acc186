#include "services/zone_scheduler/config/settings_table.hpp"

#include <array>
#include <tuple>

namespace zbs {
namespace {

using S = const ZoneSettings&;

template <auto kField>
bool same(S a, S b) {
    return a.*kField == b.*kField;
}
template <auto kField>
bool same_in_zone(S a, S b) {
    return a.zone.*kField == b.zone.*kField;
}

auto listen_of(S s) { return std::tie(s.listen_address, s.listen_port); }
/// Empty where it follows the listen address, whose change is reported by itself.
std::string advertise_of(S s) { return s.advertised_host == s.listen_address ? "" : s.advertised_host; }
auto account_map_of(S s) { return std::tie(s.zone.account_map_file, s.zone.accounts); }
auto machines_of(S s) { return std::tie(s.zone.zone.machines, s.zone.partition_of, s.zone.agents); }
auto turns_of(S s) { return std::tie(s.zone.slice, s.zone.concurrent_gang); }
auto network_of(S s) {
    return std::tie(s.zone.zone.within_machine, s.zone.zone.within_zone, s.zone.declares_within_zone,
                    s.zone.default_link);
}
auto mpi_of(S s) {
    return std::tie(s.zone.mpiexec, s.zone.mpi_proxy, s.zone.mpirun, s.zone.orted, s.zone.mpi_interface,
                    s.zone.profiler, s.zone.max_output_bytes);
}
std::string place_of(S s) { return s.database ? s.database->schema + "\n" + s.database->url : ""; }
std::string node_of(S s) { return s.database ? s.database->node : ""; }
auto timing_of(S s) {
    return std::tie(s.zone.hold_ttl, s.zone.launch_window, s.zone.max_grace, s.zone.reserve_ahead, s.zone.lease,
                    s.zone.renew_every, s.zone.discover_every);
}

constexpr TakesEffect kReload = TakesEffect::kAfterReload, kRestart = TakesEffect::kAfterRestart;

constexpr std::array kSettings = {
    Setting{"name", kRestart, [](S a, S b) { return a.zone.zone.name == b.zone.zone.name; }},
    Setting{"organisation", kRestart, same_in_zone<&ZoneConfig::organisation>},
    Setting{"state", kRestart, same<&ZoneSettings::state_folder>},
    Setting{"contact", kReload, same_in_zone<&ZoneConfig::contact>},
    Setting{"listen", kRestart, [](S a, S b) { return listen_of(a) == listen_of(b); }},
    Setting{"allow_private_addresses", kRestart, same<&ZoneSettings::allow_private_addresses>},
    Setting{"advertise", kRestart, [](S a, S b) { return advertise_of(a) == advertise_of(b); }},
    Setting{"honour_blocks", kReload, same_in_zone<&ZoneConfig::honour_blocks>},
    Setting{"run_as", kRestart, same_in_zone<&ZoneConfig::run_as_accounts>},
    Setting{"default_account", kRestart, same<&ZoneSettings::default_account>},
    Setting{"minimum_uid", kRestart, same<&ZoneSettings::minimum_uid>},
    Setting{"hidden_paths", kRestart, same<&ZoneSettings::hidden_paths>},
    Setting{"require_isolation", kRestart, same<&ZoneSettings::require_isolation>},
    Setting{"shared_memory", kRestart, same<&ZoneSettings::shared_memory>},
    Setting{"step_supervisor", kRestart, same<&ZoneSettings::step_supervisor>},
    Setting{"peering", kReload, same_in_zone<&ZoneConfig::rules>},
    Setting{"ask", kReload, same_in_zone<&ZoneConfig::asks>},
    Setting{"account_map", kReload, [](S a, S b) { return account_map_of(a) == account_map_of(b); }},
    Setting{"reuse_pool_accounts", kReload, same_in_zone<&ZoneConfig::reuse_pool_accounts>},
    Setting{"grid_mapfile", kReload, same<&ZoneSettings::grid_users>},
    Setting{"mapper", kRestart, same_in_zone<&ZoneConfig::level_two_mapper>},
    Setting{"max_overcommit", kReload, same_in_zone<&ZoneConfig::max_overcommit>},
    Setting{"queue", kReload, same_in_zone<&ZoneConfig::queue>},
    Setting{"partition", kReload, same_in_zone<&ZoneConfig::partitions>},
    Setting{"queue_log", kRestart, same<&ZoneSettings::queue_log>},
    Setting{"part_log", kRestart, same<&ZoneSettings::part_log>},
    Setting{"reservations", kRestart, same_in_zone<&ZoneConfig::max_reservations>},
    // Where Slurm has the machines, Slurm defines them, not the file.
    Setting{"machine", kRestart, [](S a, S b) { return a.slurm || b.slurm || machines_of(a) == machines_of(b); }},
    Setting{"time_sharing", kRestart, [](S a, S b) { return turns_of(a) == turns_of(b); }},
    Setting{"slurm", kRestart, same<&ZoneSettings::slurm>},
    Setting{"database", kRestart, [](S a, S b) { return place_of(a) == place_of(b); }},
    Setting{"high_availability", kRestart, [](S a, S b) { return node_of(a) == node_of(b); }},
    Setting{"link", kRestart, same_in_zone<&ZoneConfig::links>},
    Setting{"network", kRestart, [](S a, S b) { return network_of(a) == network_of(b); }},
    Setting{"mpi", kRestart, [](S a, S b) { return mpi_of(a) == mpi_of(b); }},
    Setting{"sensors", kRestart, same_in_zone<&ZoneConfig::probe_every>},
    Setting{"metrics", kReload, same_in_zone<&ZoneConfig::public_metrics>},
    Setting{"rates", kReload, same<&ZoneSettings::rates>},
    Setting{"retention", kReload, same_in_zone<&ZoneConfig::results_kept>},
    Setting{"staging", kRestart, same_in_zone<&ZoneConfig::staging>},
    Setting{"timing", kRestart, [](S a, S b) { return timing_of(a) == timing_of(b); }},
};

std::vector<std::string> changed_keys(S running, S read, TakesEffect takes_effect) {
    std::vector<std::string> keys;
    for (const Setting& setting : kSettings) {
        if (setting.takes_effect == takes_effect && !setting.same(running, read)) keys.emplace_back(setting.key);
    }
    return keys;
}

}  // namespace

std::span<const Setting> settings_table() { return kSettings; }

std::vector<std::string> keys_for_restart(const ZoneSettings& running, const ZoneSettings& read) {
    return changed_keys(running, read, kRestart);
}

std::vector<std::string> keys_for_reload(const ZoneSettings& running, const ZoneSettings& read) {
    return changed_keys(running, read, kReload);
}

AuditEntry reload_entry(const std::string& config_path, const ZoneSettings& running, const ZoneSettings& read,
                        Time at) {
    std::string changed;
    for (const std::string& key : keys_for_reload(running, read)) changed += (changed.empty() ? "" : ", ") + key;
    return {.at = at,
            .who = to_uri({CallerKind::kOperator, running.zone.organisation, "signal"}),
            .action = "reloadSettings",
            .object = config_path,
            .decision = "allow",
            .request_id = {},
            .detail = changed.empty() ? "SIGHUP: no setting changed" : "SIGHUP: changed are " + changed};
}

}  // namespace zbs
