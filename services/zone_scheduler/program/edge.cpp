#include "services/zone_scheduler/program/edge.hpp"

#include <boost/asio/dispatch.hpp>
#include <filesystem>
#include <utility>

#include "services/common/adapters/beast/server_tls.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/host_port.hpp"

namespace zbs::zone_program {
namespace {

beast::ServerOptions server_options(const Engine& engine, const ZoneSettings& settings, http::RateLimiter& limiter,
                                    std::function<std::optional<std::size_t>(const http::Call&)> body_limit) {
    beast::ServerOptions options{.address = settings.listen_address,
                                 .port = static_cast<unsigned short>(settings.listen_port),
                                 .setting = {"'listen'", "'listen'", settings.place_of("listen")},
                                 .max_connections = limits::kMaxConnections,
                                 .max_header_bytes = limits::kMaxHeaderBytes,
                                 .max_body_bytes = limits::kMaxBodyBytes,
                                 .body_limit = std::move(body_limit),
                                 .local_token = engine.credentials.local_token};
    if (engine.credentials.server) options.tls = std::make_shared<beast::ServerTls>(engine.credentials.server);
    options.admit = [&limiter, &clock = engine.clock](const std::string& address) {
        return !limiter.take_connection(address, clock.steady_now()).has_value();
    };
    return options;
}

}  // namespace

Edge::Edge(Engine& engine, const ZoneSettings& settings, std::function<http::Reply(const http::Call&)> standby)
    : limiter(settings.rates),
      server(engine.io,
             server_options(engine, settings, limiter,
                            [this](const http::Call& head) {
                                return serves_ ? zone_->body_limit(head) : std::nullopt;  // a standby reads none
                            }),
             [this, &engine](http::Call call, http::Respond respond) {
                 // Before the strand: a flood of one caller costs the others nothing there.
                 if (const auto wait = limiter.take(call.peer, call.address, engine.clock.steady_now()))
                     return respond(http::too_many_requests(call.peer, *wait));
                 // At once where nothing else is under way, without a change of threads.
                 boost::asio::dispatch(engine.strand, [this, came_early = !serves_, call = std::move(call),
                                                       respond = std::move(respond)]() mutable {
                     if (zone_ == nullptr || was_judged_early(came_early, call)) return respond(standby_(call));
                     zone_->serve(std::move(call), std::move(respond));
                 });
             }),
      standby_(std::move(standby)) {}

Result<std::string> Edge::open(const ZoneSettings& settings, const StateFolder& state) {
    if (auto started = server.start(); !started) return started.error();
    return (state.has_identity() ? "https://" : "http://") + HostPort{settings.advertised_host, server.port()}.text();
}

Result<void> Edge::announce(const ZoneSettings& settings, const StateFolder& state, const std::string& url) {
    if (!process::write_file(state.address(), url + "\n"))
        return Error{ErrorCode::kUnavailable, "cannot write the address of this zone", state.address()};
    const std::string home = state.operator_identity() + "/home";  // makes the folder credentials of `zbs`, too
    std::error_code fault;
    if (std::filesystem::exists(state.operator_identity(), fault) &&
        !process::write_file(
            home, url + " " + to_uri({CallerKind::kZone, settings.zone.organisation, settings.zone.zone.name}) + "\n"))
        return Error{ErrorCode::kUnavailable, "cannot write where operators find this zone", home};
    return {};
}

}  // namespace zbs::zone_program
