#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "services/common/adapters/beast/server.hpp"
#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/openssl/signature.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/adapters/system/asio_clock.hpp"
#include "services/common/http/rate_limit.hpp"
#include "services/common/http/router.hpp"
#include "services/common/ports/log.hpp"

namespace zbs {

/// The base of a service: the loop of its threads, the strand on which it decides, the clock, its keys, and the
/// organisations it trusts. Outlives all that uses it.
struct ServiceHost {
    using Post = std::function<void(std::function<void()>)>;

    boost::asio::io_context io;
    system::Strand strand = boost::asio::make_strand(io);
    system::AsioClock clock{strand};
    system::SystemIds ids;
    openssl::RandomSecrets secrets;
    openssl::TrustStore trust{now()};
    /// Null where the service has no keys: a zone alone on loopback.
    std::unique_ptr<openssl::KeyFolder> keys;
    std::shared_ptr<openssl::TlsServer> tls_server;

    openssl::Now now() {
        return [this] { return clock.now(); };
    }
    Post post() const;  ///< to the strand, from any thread

    /// Reads keys and certificate from `folder`. Errors: unreadable, not usable for TLS, or what `check` says of the
    /// name in the certificate.
    Result<void> open_keys(const std::string& folder, const std::function<Result<void>(const Caller&)>& check);
    /// For calls as this service; null where it has no keys.
    std::shared_ptr<openssl::TlsClient> make_tls_client() const;
    /// Reads the certificate again, for connections from now on. With a fault the one before stays. It has keys.
    Result<void> reload_keys();
    /// The same with a line in the log, as SIGHUP does it. Whether it was read.
    bool reload_keys_and_log(Log& log);

    struct Calls {
        std::function<void()> ready;   ///< once, when signals are handled; announces the service
        std::function<void()> drain;   ///< once, on SIGTERM or SIGINT
        std::function<void()> reload;  ///< on each SIGHUP
    };
    /// Serves on two threads until SIGTERM or SIGINT (`beast::run_until_signalled`).
    void run(const Calls& calls);
};

struct DoorOptions {
    std::string address;
    unsigned short port = 0;  ///< 0 = any free port
    beast::ListenSetting setting;
    http::RateLimits rates{};
    std::string local_token{};  ///< `beast::ServerOptions::local_token`
    /// `beast::ServerOptions::body_limit`
    std::function<std::optional<std::size_t>(const http::Call&)> body_limit;
};

/// Where calls come in: connections and calls within the rates, over TLS where the host has keys.
class ServiceDoor {
  public:
    /// `serve` is called on any thread of the loop, with calls within the rates.
    ServiceDoor(ServiceHost& host, DoorOptions options, beast::Server::Handler serve);
    /// `router` is called on the strand.
    ServiceDoor(ServiceHost& host, DoorOptions options, http::Router& router);

    /// Listens. Errors: those of `beast::Server::start`.
    Result<void> open() { return server_.start(); }
    unsigned short port() const { return server_.port(); }  ///< the real one, once open
    void set_rates(const http::RateLimits& rates) { limiter_.set_limits(rates); }
    /// Accepts no more; open connections end after the reply they are at.
    void drain() { server_.drain(); }

  private:
    http::RateLimiter limiter_;
    beast::Server server_;
};

}  // namespace zbs
