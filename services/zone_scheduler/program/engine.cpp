#include "services/zone_scheduler/program/engine.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/http/rest_transport.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::zone_program {

Result<void> prepare(Engine& engine, const StateFolder& state, ZoneSettings& settings) {
    if (auto named = name_grid_users(engine.trust, {}, settings.grid_users); !named) return named;
    const openssl::Now now = [&clock = engine.clock] { return clock.now(); };
    Result<Credentials> credentials = load_credentials(state, settings, engine.trust, now, engine.secrets);
    if (!credentials) return credentials.error();
    engine.credentials = *std::move(credentials);
    return read_registry(state, settings.zone, engine.trust);
}

std::unique_ptr<ZoneTransport> make_transport(Engine& engine, const ZoneSettings& settings,
                                              std::function<void(http::Call, http::Respond)> serve) {
    // To the zone itself: when its own work is done.
    const auto call_self = [serve = std::move(serve), strand = engine.strand](http::Call call, http::Respond respond) {
        boost::asio::post(strand, [serve, call = std::move(call), respond = std::move(respond)]() mutable {
            serve(std::move(call), std::move(respond));
        });
    };
    const Caller self{CallerKind::kZone, settings.zone.organisation, settings.zone.zone.name};
    return http::make_rest_transport(
        {.client = std::make_unique<cpprest::HttpCaller>(
             cpprest::HttpCallerOptions{.self = self,
                                        .local_token = {},
                                        .tls = engine.credentials.client,
                                        .max_reply_bytes = limits::kMaxReplyBytes,
                                        .allow_private_addresses = settings.allow_private_addresses}),
         .self = self,
         .post = [strand = engine.strand](std::function<void()> work) { boost::asio::post(strand, std::move(work)); },
         .own = call_self});
}

}  // namespace zbs::zone_program
