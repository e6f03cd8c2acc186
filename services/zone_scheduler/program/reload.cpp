#include "services/zone_scheduler/program/reload.hpp"

#include <boost/asio/post.hpp>

namespace zbs::zone_program {
namespace {

/// On the strand.
void reload_settings(const std::string& config_path, Engine& engine, ZoneParts& zone, ZoneSettings& running, Log& log) {
    const Result<ZoneSettings> again = load_settings(config_path);
    if (!again)
        return log.warn("rules_not_reloaded", {{"place", again.error().pointer}, {"reason", again.error().message}});
    zone.peerings.set_rules(again->zone.rules);
    zone.peers.set_asks(again->zone.asks);
    zone.filter.set_accounts(again->zone.accounts);
    if (auto named = name_grid_users(engine.trust, running.grid_users, again->grid_users); !named)
        log.warn("grid_users_not_reloaded", {{"reason", named.error().message}});
    else
        running.grid_users = again->grid_users;
    log.info("rules_reloaded", {{"rules", std::to_string(again->zone.rules.size())}});
}

}  // namespace

void reload(const std::string& config_path, Engine& engine, ZoneParts& zone, ZoneSettings& running, Log& log) {
    boost::asio::post(engine.strand, [&, config_path] { reload_settings(config_path, engine, zone, running, log); });
    const Credentials& own = engine.credentials;
    if (!own.keys) return;
    const Result<void> read = own.keys->reload();
    const Result<void> done = read ? own.server->reload() : read;
    if (!done) return log.warn("certificates_not_reloaded", {{"reason", done.error().message}});
    boost::asio::post(engine.strand, [&zone] { zone.registry.sign_anew(); });
    log.info("certificates_reloaded", {});
}

}  // namespace zbs::zone_program
