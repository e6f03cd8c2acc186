#include "services/common/adapters/openssl/tls.hpp"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <stdexcept>

#include "services/common/adapters/openssl/pem.hpp"

namespace zbs::openssl {
namespace {

constexpr long kMaxChainBytes = 64 * 1024;  // what a peer may send as its certificates
constexpr const char* kCiphersTls12 =
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305";
constexpr const char* kCurves = "X25519:P-256:P-384";
constexpr unsigned char kHttp[] = "\x08http/1.1";

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_length, const unsigned char* offered,
                    unsigned offered_length, void*) {
    unsigned char* chosen = nullptr;
    if (SSL_select_next_proto(&chosen, out_length, kHttp, sizeof kHttp - 1, offered, offered_length) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

bool set_common(SSL_CTX* context, int oldest) {
    SSL_CTX_set_options(
        context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);  // idle connections hold no record buffers
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_max_cert_list(context, kMaxChainBytes);
    SSL_CTX_set_security_level(context, 2);
    return SSL_CTX_set_min_proto_version(context, oldest) == 1 &&
           SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_cipher_list(context, kCiphersTls12) == 1 && SSL_CTX_set1_groups_list(context, kCurves) == 1;
}

/// The handshake proves that the peer holds the key; what the certificate is worth is decided by `identify`, which can
/// say why.
int accept_for_now(X509_STORE_CTX*, void*) { return 1; }

bool use_certificate(SSL_CTX* context, const ClientCertificate& own) {
    const Result<std::vector<Certificate>> chain = read_certificates(own.chain, kChainLimits, "the own chain");
    // As the chain, it may be a text that holds both.
    const Bio text(BIO_new_mem_buf(own.key.data(), static_cast<int>(own.key.size())));
    const Key key(PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, nullptr));
    if (!chain || !key || SSL_CTX_use_certificate(context, chain->front().get()) != 1) return false;
    for (std::size_t i = 1; i < chain->size(); ++i)
        if (SSL_CTX_add1_chain_cert(context, (*chain)[i].get()) != 1) return false;
    return SSL_CTX_use_PrivateKey(context, key.get()) == 1 && SSL_CTX_check_private_key(context) == 1;
}

}  // namespace

void set_up() { OPENSSL_init_ssl(0, nullptr); }

Result<std::shared_ptr<TlsServer>> TlsServer::make(const KeyFolder& keys, const TrustStore& trust) {
    std::shared_ptr<TlsServer> server(new TlsServer(keys, trust));
    if (auto loaded = server->reload(); !loaded) return loaded.error();
    return server;
}

Result<void> TlsServer::reload() {
    std::shared_ptr<SSL_CTX> fresh(SSL_CTX_new(TLS_server_method()), [](SSL_CTX* c) { SSL_CTX_free(c); });
    if (fresh == nullptr || !set_common(fresh.get(), TLS1_2_VERSION))
        return Error{ErrorCode::kUnavailable, "TLS cannot be set up: " + last_fault(), {}};
    if (auto installed = keys_.install(fresh.get()); !installed) return installed.error();
    SSL_CTX_set_num_tickets(fresh.get(), 0);
    SSL_CTX_set_alpn_select_cb(fresh.get(), choose_protocol, nullptr);
    SSL_CTX_set_verify(fresh.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_cert_verify_callback(fresh.get(), accept_for_now, nullptr);
    const std::lock_guard lock(mutex_);
    context_ = std::move(fresh);
    return {};
}

std::shared_ptr<ssl_ctx_st> TlsServer::context() const {
    const std::lock_guard lock(mutex_);
    return context_;
}

PeerIdentity TlsServer::identify(ssl_st* connection) const {
    X509* leaf = SSL_get0_peer_certificate(connection);
    if (leaf == nullptr) return {};
    PeerIdentity identity = trust_.identify(leaf, SSL_get_peer_cert_chain(connection), Role::kClient);
    if (is_service(identity.name().kind) && SSL_version(connection) < TLS1_3_VERSION)
        return PeerIdentity::refused("services speak TLS 1.3 with each other, not an older version");
    return identity;
}

std::string TlsClient::Expectation::take_refusal() {
    const std::lock_guard lock(mutex_);
    return std::exchange(refusal_, {});
}

void TlsClient::Expectation::close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
}

bool TlsClient::Expectation::check(void* verification) {
    auto* context = static_cast<X509_STORE_CTX*>(verification);
    const std::lock_guard lock(mutex_);
    if (is_closed_) return false;
    if (trust_ == nullptr) return true;
    const PeerIdentity found =
        trust_->identify(X509_STORE_CTX_get0_cert(context), X509_STORE_CTX_get0_untrusted(context), Role::kServer);
    std::string why;
    if (found.is_anonymous())
        why = found.refusal().empty() ? "it showed no certificate" : found.refusal();
    else if (!(found.name() == who_))
        why = "expected " + to_uri(who_) + " there, but " + to_uri(found.name()) + " answered";
    refusal_ = why;
    return why.empty();
}

void TlsClient::configure(ssl_ctx_st* context, Expectation& expectation) const {
    const auto fail = [](const std::string& what) { throw std::runtime_error(what); };
    const std::lock_guard lock(expectation.mutex_);
    if (expectation.is_closed_) fail("no connection is made any more");
    if (!set_common(context, newest_ ? TLS1_3_VERSION : TLS1_2_VERSION)) fail("TLS cannot be set up: " + last_fault());
    SSL_CTX_set_alpn_protos(context, kHttp, sizeof kHttp - 1);
    if (keys_ != nullptr) {
        if (const auto installed = keys_->install(context); !installed) fail(installed.error().message);
    } else if (!certificate_.key.empty() && !use_certificate(context, certificate_)) {
        fail("the own certificate cannot be used: " + last_fault());
    }
    SSL_CTX_set_cert_verify_callback(
        context,
        [](X509_STORE_CTX* verification, void* expected) {
            if (static_cast<Expectation*>(expected)->check(verification)) return 1;
            X509_STORE_CTX_set_error(verification, X509_V_ERR_APPLICATION_VERIFICATION);
            return 0;
        },
        &expectation);
}

}  // namespace zbs::openssl
