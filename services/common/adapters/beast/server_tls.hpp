#pragma once
#include <memory>
#include <utility>

#include "services/common/adapters/beast/server.hpp"
#include "services/common/adapters/openssl/tls.hpp"

namespace zbs::beast {

/// A service's own keys and trust at its server's door.
class ServerTls : public TlsGate {
  public:
    explicit ServerTls(std::shared_ptr<openssl::TlsServer> server) : server_(std::move(server)) {}
    std::shared_ptr<ssl_ctx_st> context() const override { return server_->context(); }
    PeerIdentity identify(ssl_st* connection) const override { return server_->identify(connection); }

  private:
    std::shared_ptr<openssl::TlsServer> server_;
};

}  // namespace zbs::beast
