#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/common/ports/trust.hpp"

// OpenSSL's own types by name only, so that who asks for an identity need not see OpenSSL.
struct x509_st;        // X509
struct stack_st_X509;  // STACK_OF(X509)

namespace zbs::openssl {

/// Which end of a connection a certificate speaks for.
enum class Role {
    kClient,  ///< it calls us: users, zones, operators, registries; proxies of users
    kServer,  ///< we call it: zones and registries; no proxies
};

/// Current time, Unix epoch.
using Now = std::function<Time()>;

/// Who is believed, and the one place where a certificate becomes an identity. Thread-safe: readers work on an
/// immutable snapshot, so a pin, an unpin or a revocation counts from the next call on and never half.
class TrustStore : public TrustBundles {
  public:
    explicit TrustStore(Now now);
    ~TrustStore() override;

    Result<std::string> fingerprint(std::string_view bundle_pem) const override;
    Result<BundleNames> names_in(std::string_view bundle_pem) const override;
    /// A revocation list stays in force for as long as the key that signed it is in the bundle; `unpin` forgets it.
    Result<void> pin(const OrganisationName& organisation, const std::string& bundle_pem) override;
    void unpin(const OrganisationName& organisation) override;
    std::optional<std::string> bundle(const OrganisationName& organisation) const override;
    std::vector<OrganisationName> organisations() const override;
    Result<void> set_revocations(const OrganisationName& organisation, const std::string& crl_pem) override;
    bool is_revoked(const OrganisationName& organisation, std::string_view serial) const override;
    Result<CertificateInfo> verify_text(std::string_view purpose, const SignedText& text,
                                        std::optional<std::string_view> bundle_pem = std::nullopt) const override;
    Result<DelegationInfo> verify_delegation(std::string_view purpose, const SignedText& proof) const override;
    Result<DelegationInfo> verify_renewal(std::string_view purpose, const SignedText& proof) const override;

    /// Names the users of grid certificates, which carry no URI: exact subject -> user name of `organisation`. A
    /// subject is written as in RFC 2253 ("CN=Ana,O=Grid,C=BR") or as OpenSSL's line ("/C=BR/O=Grid/CN=Ana"; never
    /// matched where an attribute itself holds '/', because that form is ambiguous then). Counts where this
    /// organisation pinned the certificate's CA and no other that did has the subject, too. Replaces the map set
    /// before; may come before the pin. Errors: a user or organisation name that is none, over `kMaxSubjectMapEntries`.
    Result<void> set_subject_map(const OrganisationName& organisation, std::map<std::string, std::string> subjects);

    /// The peer that showed `leaf` and `chain`, or `PeerIdentity::refused` with a reason fit for it; without `leaf`
    /// anonymous. All checks are made here, so the TLS library is set to request a certificate and accept any. `chain`
    /// is as SSL_get_peer_cert_chain gives it, with or without a leading copy of `leaf`; null for none. A proxy bound
    /// to an application, or made for renewal, opens no connection. Cost: one signature check per certificate, two with
    /// proxies; nothing is allocated in proportion to what the peer sends beyond `kMaxChainCertificates`.
    PeerIdentity identify(x509_st* leaf, stack_st_X509* chain, Role role) const;

  private:
    struct Snapshot;
    std::shared_ptr<const Snapshot> snapshot() const;
    Result<DelegationInfo> verify_proxy_of(std::string_view purpose, const SignedText& proof, bool renewal) const;

    Now now_;
    mutable std::mutex mutex_;
    std::shared_ptr<const Snapshot> snapshot_;
};

}  // namespace zbs::openssl
