#include "services/common/host/service_host.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "services/common/adapters/beast/server_tls.hpp"
#include "services/common/adapters/beast/service_loop.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs {
namespace {

constexpr int kThreads = 2;  ///< one decides, on the strand; the other encrypts meanwhile

beast::ServerOptions server_options(ServiceHost& host, DoorOptions options, http::RateLimiter& limiter) {
    return {.address = std::move(options.address),
            .port = options.port,
            .setting = std::move(options.setting),
            .max_connections = limits::kMaxConnections,
            .max_header_bytes = limits::kMaxHeaderBytes,
            .max_body_bytes = limits::kMaxBodyBytes,
            .body_limit = std::move(options.body_limit),
            .admit =
                [&limiter, &clock = host.clock](const std::string& address) {
                    return !limiter.take_connection(address, clock.steady_now()).has_value();
                },
            .tls = host.tls_server ? std::make_shared<beast::ServerTls>(host.tls_server) : nullptr,
            .local_token = std::move(options.local_token)};
}

DoorOptions with_limits_of(const http::Router& router, DoorOptions options) {
    options.body_limit = [&router](const http::Call& head) { return router.body_limit(head); };
    return options;
}

}  // namespace

ServiceHost::Post ServiceHost::post() const {
    return [strand = strand](std::function<void()> work) { boost::asio::post(strand, std::move(work)); };
}

Result<void> ServiceHost::open_keys(const std::string& folder,
                                    const std::function<Result<void>(const Caller&)>& check) {
    auto opened = openssl::KeyFolder::open(folder, now());
    if (!opened) return opened.error();
    if (auto good = check((*opened)->name()); !good) return good;
    auto server = openssl::TlsServer::make(**opened, trust);
    if (!server) return server.error();
    keys = *std::move(opened);
    tls_server = *std::move(server);
    return {};
}

std::shared_ptr<openssl::TlsClient> ServiceHost::make_tls_client() const {
    if (!keys) return nullptr;
    auto client = std::make_shared<openssl::TlsClient>(*keys, trust);
    client->require_newest();
    return client;
}

Result<void> ServiceHost::reload_keys() {
    if (auto read = keys->reload(); !read) return read;
    return tls_server->reload();
}

bool ServiceHost::reload_keys_and_log(Log& log) {
    const Result<void> done = reload_keys();
    if (done)
        log.info("certificates_reloaded", {});
    else
        log.warn("certificates_not_reloaded", {{"reason", done.error().message}});
    return done.has_value();
}

void ServiceHost::run(const Calls& calls) {
    beast::run_until_signalled(io, kThreads,
                               {.ready = calls.ready, .drain = calls.drain, .reload = calls.reload, .post = post()});
}

ServiceDoor::ServiceDoor(ServiceHost& host, DoorOptions options, beast::Server::Handler serve)
    : limiter_(options.rates),
      server_(host.io, server_options(host, std::move(options), limiter_),
              [this, &clock = host.clock, serve = std::move(serve)](http::Call call, http::Respond respond) {
                  // Before the strand: a flood of one caller costs the others nothing there.
                  if (const auto wait = limiter_.take(call.peer, call.address, clock.steady_now()))
                      return respond(http::too_many_requests(call.peer, *wait));
                  serve(std::move(call), std::move(respond));
              }) {}

ServiceDoor::ServiceDoor(ServiceHost& host, DoorOptions options, http::Router& router)
    : ServiceDoor(host, with_limits_of(router, std::move(options)),
                  [&host, &router](http::Call call, http::Respond respond) {
                      // At once where nothing else is under way, without a change of threads.
                      boost::asio::dispatch(host.strand,
                                            [&router, call = std::move(call), respond = std::move(respond)]() mutable {
                                                router.dispatch(std::move(call), std::move(respond));
                                            });
                  }) {}

}  // namespace zbs
