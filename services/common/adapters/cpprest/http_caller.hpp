#pragma once
#include <functional>
#include <memory>
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/messages/names/join_token.hpp"
#include "services/common/ports/http_client.hpp"

namespace zbs::openssl {
class TlsClient;
}

namespace zbs::cpprest {

/// How calls are made: with certificates where there is `tls`, else plain on loopback.
struct HttpCallerOptions {
    Caller self;                                    ///< plain loopback only: the name in `Zbs-Identity`
    std::string local_token;                        ///< and what proves it there
    std::shared_ptr<const openssl::TlsClient> tls;  ///< own certificate and whom to believe; none: https is refused
    std::size_t max_reply_bytes = 32 * 1024 * 1024;
    /// True for addresses that the user or operator gave; others may not send us into our own network.
    bool allow_private_addresses = true;
};

/// The one wrapper of cpprestsdk's client: no redirects, a total deadline, a cap on the answer, no reuse of a
/// connection that the other side closed, its own trust store, asking again after `Retry-After` where the service
/// limits this caller's rate and the deadline leaves the time, name headers on plain loopback connections. Safe from
/// any thread.
class HttpCaller : public HttpClient {
  public:
    explicit HttpCaller(HttpCallerOptions options);
    /// No handshake reads the certificates after this or `close`.
    ~HttpCaller() override;
    HttpCaller(const HttpCaller&) = delete;
    HttpCaller& operator=(const HttpCaller&) = delete;
    /// `respond` is called exactly once, unless `close` comes first, on a thread of cpprestsdk's pool. Errors:
    /// kUnavailable (refused, reset), kTimeout, kTooLarge, kUnauthenticated (no certificate of the service that counts
    /// was shown there), kDenied (a private address), kInvalidArgument (bad address; plain HTTP to another host; https
    /// without certificates).
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override;
    /// The same, waiting.
    Result<HttpAnswer> call(HttpCall call);
    /// Connections made from now on use the certificates as they are now.
    void forget_connections();
    /// Nobody is answered any more once this has returned: what answers would go to may end. Waits for those that are
    /// being called; not to be called by one of them.
    void close();

  private:
    class Gate;
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

/// The bundle that the service of a token shows. Nobody is believed yet: it counts because its fingerprint is the one
/// that the operator handed over. Error: kDenied where it is another.
Result<std::string> fetch_bundle(const JoinToken& token, Time (*now)());

}  // namespace zbs::cpprest
