#include "services/zone_scheduler/program/engine.hpp"

#include <utility>

#include "services/common/messages/limits.hpp"

namespace zbs::zone_program {

Result<void> prepare(Engine& engine, const StateFolder& state, ZoneSettings& settings) {
    if (auto named = name_grid_users(engine.trust, {}, settings.grid_users); !named) return named;
    const openssl::Now now = [&clock = engine.clock] { return clock.now(); };
    Result<Credentials> credentials = load_credentials(state, settings, engine.trust, now, engine.secrets);
    if (!credentials) return credentials.error();
    engine.credentials = *std::move(credentials);
    if (const auto& keys = engine.credentials.keys) {  // a standby has no bundle from a zone and uses its own
        if (auto pinned = engine.trust.pin(settings.zone.organisation, keys->bundle()); !pinned) return pinned;
    }
    return read_registry(state, settings.zone, engine.trust);
}

std::unique_ptr<cpprest::HttpCaller> make_client(const Engine& engine, const ZoneSettings& settings) {
    return std::make_unique<cpprest::HttpCaller>(
        cpprest::HttpCallerOptions{.self = {CallerKind::kZone, settings.zone.organisation, settings.zone.zone.name},
                                   .local_token = {},
                                   .tls = engine.credentials.client,
                                   .max_reply_bytes = limits::kMaxReplyBytes,
                                   .allow_private_addresses = settings.allow_private_addresses});
}

}  // namespace zbs::zone_program
