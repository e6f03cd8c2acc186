#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/openssl/trust/trust_store.hpp"

struct ssl_st;      // SSL
struct ssl_ctx_st;  // SSL_CTX

namespace zbs::openssl {

/// Sets OpenSSL up, which is otherwise done by its first use. Call it before the first thread that may use OpenSSL and
/// lives until the program's end: what is set up last is taken down first, and a thread that outlives OpenSSL uses what
/// is gone and leaves what it had. May be called again.
void set_up();

/// Server side of TLS: 1.2 for users, 1.3 between services; no resumption (an identity is proved anew by every
/// connection), no renegotiation, no compression, ALPN http/1.1 only, P-256 or X25519 with AEAD ciphers. Client
/// certificates are asked for, never demanded: who shows none is anonymous, who shows a bad one is refused by name.
/// Thread-safe.
class TlsServer {
  public:
    /// Both must outlive this. Errors: OpenSSL's word where the keys do not fit.
    static Result<std::shared_ptr<TlsServer>> make(const KeyFolder& keys, const TrustStore& trust);
    /// The context for new connections.
    std::shared_ptr<ssl_ctx_st> context() const;
    /// Puts the keys as they are now into a new context; connections that are open keep the old one. On an error the
    /// old one stays.
    Result<void> reload();
    /// Who a finished handshake has brought.
    PeerIdentity identify(ssl_st* connection) const;

  private:
    TlsServer(const KeyFolder& keys, const TrustStore& trust) : keys_(keys), trust_(trust) {}
    const KeyFolder& keys_;
    const TrustStore& trust_;
    mutable std::mutex mutex_;
    std::shared_ptr<ssl_ctx_st> context_;
};

/// A client's own certificate as PEM texts, for who has no `KeyFolder`.
struct ClientCertificate {
    std::string key;
    std::string chain;
};

/// Client side of TLS: own certificate, own trust store, and an expectation of who answers; host names prove nothing
/// here. Thread-safe.
class TlsClient {
  public:
    /// Who must answer at one address, and what was wrong with who did.
    class Expectation {
      public:
        Expectation(const TrustStore* trust, Caller who) : trust_(trust), who_(std::move(who)) {}
        /// Why the last handshake was given up, once; empty where it was not.
        std::string take_refusal();
        /// Every later handshake fails, and none is under way when this returns: keys and trust store may be destroyed.
        void close();

      private:
        friend class TlsClient;
        bool check(void* verification);
        const TrustStore* trust_;
        Caller who_;
        std::mutex mutex_;  ///< of what follows; held while a handshake is checked
        std::string refusal_;
        bool is_closed_ = false;
    };

    /// A service's own keys. Both must live until all expectations are closed.
    TlsClient(const KeyFolder& keys, const TrustStore& trust) : keys_(&keys), trust_(&trust) {}
    /// A user's.
    TlsClient(ClientCertificate certificate, const TrustStore& trust)
        : certificate_(std::move(certificate)), trust_(&trust) {}
    /// Nobody's, and believes whoever answers: only for fetching a bundle whose fingerprint is known.
    TlsClient() = default;

    /// TLS 1.3 only: between services.
    void require_newest() { newest_ = true; }
    std::shared_ptr<Expectation> expect(Caller who) const {
        return std::make_shared<Expectation>(trust_, std::move(who));
    }
    /// Sets up a context of one connection. `expectation` must outlive it. Throws std::runtime_error with OpenSSL's
    /// word where the certificate cannot be used, or if `expectation` is closed: called from inside libraries that know
    /// only exceptions.
    void configure(ssl_ctx_st* context, Expectation& expectation) const;

  private:
    const KeyFolder* keys_ = nullptr;
    ClientCertificate certificate_;
    const TrustStore* trust_ = nullptr;
    bool newest_ = false;
};

}  // namespace zbs::openssl
