#include "services/common/adapters/openssl/own_keys.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <utility>

#include "services/common/adapters/openssl/issuing/identity_files.hpp"
#include "services/common/adapters/openssl/issuing/issuing.hpp"
#include "services/common/adapters/openssl/pem.hpp"
#include "services/common/adapters/openssl/secure_files.hpp"
#include "services/common/adapters/openssl/signature.hpp"
#include "services/common/adapters/openssl/trust/certificate_view.hpp"
#include "services/common/adapters/openssl/trust/proxy.hpp"

namespace zbs::openssl {
namespace {

/// Lists are made long before this; a list that is over it stays in force all the same.
constexpr Duration kListLifetime = std::chrono::hours{24 * 7};
constexpr std::size_t kMaxHosts = 16;

bool is_serial(const std::string& text) {
    return !text.empty() && text.size() <= 40 && text.size() % 2 == 0 &&
           std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

OwnKeys::ProxyRequest make_key_and_request() {
    const Key key = make_key();
    return {write_pem(key.get()), write_pem(make_request(key.get()).get())};
}

}  // namespace

struct KeyFolder::State : OwnIdentity {
    explicit State(OwnIdentity identity) : OwnIdentity(std::move(identity)), pem(write_pem(chain)) {}
    std::string pem;
};

KeyFolder::KeyFolder(std::string folder, Now now, std::shared_ptr<const State> state)
    : folder_(std::move(folder)), now_(std::move(now)), state_(std::move(state)), name_(state_->info.name) {}
KeyFolder::~KeyFolder() = default;

Result<std::unique_ptr<KeyFolder>> KeyFolder::open(const std::string& folder, Now now) {
    const Time at = now();
    Result<OwnIdentity> identity = open_identity(folder, at);
    if (!identity) return identity.error();
    const bool expired = identity->info.not_after <= at;
    std::unique_ptr<KeyFolder> keys(
        new KeyFolder(folder, std::move(now), std::make_shared<const State>(*std::move(identity))));
    if (expired) {
        if (const Result<bool> renewed = keys->renew_if_due(at); !renewed) return renewed.error();
    }
    return keys;
}

Result<void> check_identity(const std::string& folder, Time now) {
    const Result<OwnIdentity> identity = open_identity(folder, now);
    return identity ? Result<void>{} : identity.error();
}

Result<void> KeyFolder::reload() {
    Result<OwnIdentity> identity = open_identity(folder_, now_());
    if (!identity) return identity.error();
    if (!(identity->info.name == name_))
        return invalid("the certificate is of " + to_uri(identity->info.name) + " now, this service is " +
                           to_uri(name_) + "; put the right one back, or restart the service under its new name",
                       folder_);
    const std::lock_guard lock(mutex_);
    state_ = std::make_shared<const State>(*std::move(identity));
    return {};
}

std::shared_ptr<const KeyFolder::State> KeyFolder::state() const {
    const std::lock_guard lock(mutex_);
    return state_;
}

const Caller& KeyFolder::name() const { return name_; }
std::string KeyFolder::chain() const { return state()->pem; }
std::string KeyFolder::bundle() const { return state()->bundle; }
bool KeyFolder::can_issue() const { return state()->ca_key != nullptr; }
Time KeyFolder::not_after() const { return state()->info.not_after; }

Result<SignedText> KeyFolder::sign(std::string_view purpose, std::string text) const {
    const auto own = state();
    Result<std::string> signature = sign_text(own->key.get(), purpose, text);
    if (!signature) return signature.error();
    return SignedText{std::move(text), own->pem, *std::move(signature)};
}

Result<OwnKeys::Issued> KeyFolder::issue(std::string_view request_pem, const Caller& name, Duration lifetime) const {
    const auto own = state();
    if (!own->ca_key)
        return Error{ErrorCode::kUnavailable,
                     to_uri(name_) + " does not hold the CA key of '" + name_.organisation +
                         "'; ask the service of the organisation that does",
                     {}};
    if (name.kind == CallerKind::kAnonymous || !is_valid_name(name.organisation) || !is_valid_name(name.name))
        return invalid("'" + printable(to_uri(name)) + "' is no name (1..64 of a-z 0-9 . _ -)");
    if (name.organisation != name_.organisation)
        return invalid("the CA of '" + name_.organisation + "' names nobody of '" + name.organisation + "'");
    if (lifetime < std::chrono::seconds(1) || lifetime > kAuthorityLifetime)
        return invalid("a certificate lasts at least 1 s and at most 3652 days");
    const Result<Key> key = read_request(request_pem, "the request for " + to_uri(name));
    if (!key) return key.error();
    return own->issue(key->get(), name, lifetime, now_());
}

Result<std::string> KeyFolder::make_revocations(const std::vector<Revoked>& revoked, std::uint64_t number) const {
    const auto own = state();
    if (!own->ca_key)
        return Error{ErrorCode::kUnavailable, to_uri(name_) + " does not hold the CA key of its organisation", {}};
    for (const Revoked& entry : revoked) {
        if (!is_serial(entry.serial))
            return invalid("'" + printable(entry.serial) +
                           "' is no serial number (lower-case hexadecimal, whole bytes)");
    }
    const Time now = now_();
    return write_pem(make_list(own->ca.get(), own->ca_key.get(), revoked, number, {now, now + kListLifetime}).get());
}

Result<OwnKeys::ProxyRequest> KeyFolder::make_proxy_request() const { return make_key_and_request(); }

Result<OwnKeys::Derived> KeyFolder::derive_proxy(std::string_view renewal_key, std::string_view renewal_chain,
                                                 const std::string& application, Duration lifetime) const {
    const ProxyRequest fresh = make_key_and_request();
    const Time now = now_();
    const Result<std::string> chain =
        sign_proxy(renewal_key, renewal_chain, fresh.request, {.application = application, .lifetime = lifetime}, now);
    if (!chain) return chain.error();
    const Result<std::vector<Certificate>> certificates = read_certificates(*chain, kChainLimits, "the new proxy");
    if (!certificates) return certificates.error();
    const Result<ProxyChain> info = verify_proxy_chain(view(*certificates), now);
    if (!info) return info.error();
    return Derived{fresh.key, fresh.request, *chain, info->not_after};
}

Result<SignedText> KeyFolder::sign_with_proxy(std::string_view purpose, std::string text, std::string_view proxy_key,
                                              std::string chain) const {
    const Result<Key> key = read_key(proxy_key, "the proxy's key");
    if (!key) return key.error();
    const Result<std::vector<Certificate>> proxies = read_certificates(chain, kChainLimits, "the proxy's chain");
    if (!proxies) return proxies.error();
    const EVP_PKEY* leaf_key = X509_get0_pubkey(proxies->front().get());
    if (leaf_key == nullptr || EVP_PKEY_eq(key->get(), leaf_key) != 1) {
        static_cast<void>(last_fault());
        return invalid("the proxy that the user signed is not for the key that was made for it; ask for it again");
    }
    Result<std::string> signature = sign_text(key->get(), purpose, text);
    if (!signature) return signature.error();
    return SignedText{std::move(text), std::move(chain), *std::move(signature)};
}

void KeyFolder::serve_as(std::vector<std::string> hosts) {
    const std::lock_guard lock(mutex_);
    hosts_ = std::move(hosts);
}

bool KeyFolder::lacks_host(const State& own) const {
    const std::vector<std::string> there = host_names(own.chain.front().get());
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(hosts_, [&](const std::string& host) { return !std::ranges::count(there, host); });
}

bool KeyFolder::is_due(Time now) const {
    const auto own = state();
    const CertificateInfo& info = own->info;
    return info.not_after - now < (info.not_after - info.not_before) / 3 || (own->ca_key && lacks_host(*own));
}

Result<bool> KeyFolder::renew_if_due(Time now) {
    const auto own = state();
    const Duration whole = own->info.not_after - own->info.not_before;
    if (!own->ca_key || !is_due(now)) return false;
    // For as long as the one before; never more than was asked for when the identity was made.
    std::vector<std::string> hosts;
    {
        const std::lock_guard lock(mutex_);
        hosts = hosts_;
    }
    for (std::string& old : host_names(own->chain.front().get()))
        if (hosts.size() < kMaxHosts && !std::ranges::count(hosts, old)) hosts.push_back(std::move(old));
    const Result<Issued> issued = own->issue(own->key.get(), name_, whole - kClockTolerance, now, hosts);
    if (!issued) return issued.error();
    if (issued->info.not_after <= own->info.not_after && !lacks_host(*own)) return false;  // the CA's own end is near
    if (Result<void> written = replace_file(folder_, {kCertificateFile, issued->certificate}); !written)
        return written.error();
    Result<OwnIdentity> identity = open_identity(folder_, now);
    if (!identity) return identity.error();
    const std::lock_guard lock(mutex_);
    state_ = std::make_shared<const State>(*std::move(identity));
    return true;
}

Result<void> KeyFolder::install(ssl_ctx_st* context) const {
    ZBS_EXPECTS(context != nullptr);
    const auto own = state();
    const BorrowedStack others(sk_X509_new_null());
    ZBS_EXPECTS(others);
    for (std::size_t i = 1; i < own->chain.size(); ++i)
        ZBS_EXPECTS(sk_X509_push(others.get(), own->chain[i].get()) > 0);
    if (SSL_CTX_use_cert_and_key(context, own->chain.front().get(), own->key.get(), others.get(), /*override=*/1) != 1)
        return Error{ErrorCode::kUnavailable, "the identity in " + folder_ + " is refused by TLS: " + last_fault(), {}};
    return {};
}

Result<OwnKeys::ProxyRequest> make_user_request() { return make_key_and_request(); }

}  // namespace zbs::openssl
