#pragma once
#include <memory>
#include <utility>

#include "services/common/adapters/openssl/tls.hpp"

namespace zbs::beast {

/// A service's own keys and trust at its server's door.
class ServerTls {
  public:
    explicit ServerTls(std::shared_ptr<openssl::TlsServer> server) : server_(std::move(server)) {}
    virtual ~ServerTls() = default;
    /// The context for the next connection; another one after certificates were read anew. From any thread.
    std::shared_ptr<ssl_ctx_st> context() const { return server_->context(); }
    /// Called once for every connection, after its handshake. Anonymous where no certificate came.
    virtual PeerIdentity identify(ssl_st* connection) const { return server_->identify(connection); }

  private:
    std::shared_ptr<openssl::TlsServer> server_;
};

}  // namespace zbs::beast
