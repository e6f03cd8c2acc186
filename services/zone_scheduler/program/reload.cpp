#include "services/zone_scheduler/program/reload.hpp"

#include <boost/asio/post.hpp>

#include "services/zone_scheduler/config/settings_table.hpp"
#include "services/zone_scheduler/program/credentials.hpp"

namespace zbs::zone_program {
namespace {

/// On the strand, as all that reads `running`.
void reload_settings(const std::string& config_path, ServiceHost& host, ZoneCore& zone, Edge& edge,
                     ZoneSettings& running, Log& log) {
    const Result<ZoneSettings> again = load_settings(config_path);
    if (!again)
        return log.warn("rules_not_reloaded", {{"place", again.error().pointer}, {"reason", again.error().message}});
    for (const std::string& key : keys_for_restart(running, *again)) {
        const std::string place = again->place_of(key);
        log.warn("setting_not_reloaded", {{"setting", key},
                                          {"reason", "changed in " + (place.empty() ? config_path : place) +
                                                         ", takes effect after a restart"}});
    }
    // On record before it is done: it changes who is accepted, as whom, and whose blocks count.
    if (auto kept =
            zone.audit().append(reload_entry(config_path, running, *again, host.clock.now()), AuditUrgency::kNow);
        !kept) {
        return log.warn("rules_not_reloaded", {{"place", "the audit log"}, {"reason", kept.error().message}});
    }
    if (auto named = name_grid_users(host.trust, running.grid_users, again->grid_users); !named)
        log.warn("grid_users_not_reloaded", {{"reason", named.error().message}});
    else
        running.grid_users = again->grid_users;
    bool new_entry = running.zone.contact != again->zone.contact;
    if (auto set = zone.set_queue(again->zone.queue); set) {
        new_entry = new_entry || running.zone.queue != again->zone.queue;
        running.zone.queue = again->zone.queue;
        running.zone.sharing = again->zone.sharing;
    } else
        log.warn("setting_not_reloaded", {{"key", "queue"}, {"reason", set.error().message}});
    running.zone.contact = again->zone.contact;
    running.zone.public_metrics = again->zone.public_metrics;
    running.zone.honour_blocks = again->zone.honour_blocks;
    running.zone.reuse_pool_accounts = again->zone.reuse_pool_accounts;
    running.zone.account_map_file = again->zone.account_map_file;
    running.zone.accounts = again->zone.accounts;
    running.zone.rules = again->zone.rules;
    running.zone.asks = again->zone.asks;
    running.zone.results_kept = again->zone.results_kept;
    running.rates = again->rates;
    if (new_entry) zone.sign_anew();
    edge.door.set_rates(again->rates);
    zone.set_accounts(again->zone.accounts);
    zone.set_rules(again->zone.rules);
    zone.set_asks(again->zone.asks);
    log.info("rules_reloaded", {{"rules", std::to_string(again->zone.rules.size())}});
}

}  // namespace

void reload(const std::string& config_path, ServiceHost& host, ZoneCore& zone, Edge& edge, ZoneSettings& running,
            Log& log) {
    boost::asio::post(host.strand, [&host, &zone, &edge, &running, &log, config_path] {
        reload_settings(config_path, host, zone, edge, running, log);
    });
    if (!host.keys || !host.reload_keys_and_log(log)) return;
    boost::asio::post(host.strand, [&zone] { zone.sign_anew(); });
}

}  // namespace zbs::zone_program
