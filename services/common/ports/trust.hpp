#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/common/messages/registry.hpp"

namespace zbs {

/// What a certificate says, after it was verified.
struct CertificateInfo {
    Caller name;
    std::string serial;  ///< lower-case hexadecimal
    Time not_before{};
    Time not_after{};
    bool operator==(const CertificateInfo&) const = default;
};

/// A verified delegation: whose, for which application, how long.
struct DelegationInfo {
    Caller user;
    std::string serial;       ///< of the user's own certificate: what a revocation names
    std::string application;  ///< id that the proxy is bound to
    Time not_after{};         ///< of the shortest certificate in the chain
    bool operator==(const DelegationInfo&) const = default;
};

/// For whom the CA certificates of a bundle may vouch, as they say themselves: by name constraints on URIs, which our
/// own CAs have and CAs that were made elsewhere mostly lack.
struct BundleNames {
    std::vector<std::string> organisations;  ///< sorted; one that begins with '.' stands for all names that end so
    std::vector<std::string> unbound;        ///< subjects of CAs that are bound to no organisation

    /// False where the bundle is bound to other organisations only.
    bool may_be_of(std::string_view organisation) const {
        return organisations.empty() ||
               std::any_of(organisations.begin(), organisations.end(), [&](const std::string& name) {
                   return name.starts_with('.') ? organisation.ends_with(name) : organisation == name;
               });
    }
    bool operator==(const BundleNames&) const = default;
};

/// Checks signatures against the bundles that this service believes. Safe from any thread.
class SignatureVerifier {
  public:
    virtual ~SignatureVerifier() = default;

    /// The signer of `text`, if the signature is good, was made for `purpose`, and the chain leads to the bundle of the
    /// organisation it names. With `bundle_pem` that bundle is used instead of the pinned one (a self-consistent text
    /// of somebody unknown). Proxies sign nothing here.
    virtual Result<CertificateInfo> verify_text(std::string_view purpose, const SignedText& text,
                                                std::optional<std::string_view> bundle_pem = std::nullopt) const = 0;
    /// A delegation as it comes from a home zone: `proof.chain` is the proxy chain, `proof.text` what home signed with
    /// the proxy's key for this one use. All checks of `verify_proxy_chain` hold, plus: not limited, bound to one
    /// application by its policy.
    virtual Result<DelegationInfo> verify_delegation(std::string_view purpose, const SignedText& proof) const = 0;
    /// The same for a renewal delegation: it names no application and is good only for making proxies that do.
    virtual Result<DelegationInfo> verify_renewal(std::string_view purpose, const SignedText& proof) const = 0;
};

/// Whom this service believes: one bundle of CA certificates per organisation, never merged. An organisation's CA may
/// only vouch for that organisation's names. Safe from any thread; verification sees a pin or a revocation at once.
class TrustBundles : public SignatureVerifier {
  public:
    /// "sha256:" and 64 hexadecimal digits over a bundle's certificates in the order of their own fingerprints: what
    /// operators compare. Errors: no bundle (no PEM, no CA certificate, over 16 certificates or 64 KiB).
    virtual Result<std::string> fingerprint(std::string_view bundle_pem) const = 0;
    /// Whose bundle it says it is. Errors: as `fingerprint`; name constraints that cannot be read.
    virtual Result<BundleNames> names_in(std::string_view bundle_pem) const = 0;
    /// Believes `bundle_pem` for this organisation from now on, in place of what was believed before.
    virtual Result<void> pin(const OrganisationName& organisation, const std::string& bundle_pem) = 0;
    virtual void unpin(const OrganisationName& organisation) = 0;
    virtual std::optional<std::string> bundle(const OrganisationName& organisation) const = 0;
    virtual std::vector<OrganisationName> organisations() const = 0;
    /// Takes an organisation's revocation list (X.509 CRL, PEM, signed by a CA of its bundle). Errors: not its CA's
    /// signature, an older list than the one known (a replay), over 4 MiB.
    virtual Result<void> set_revocations(const OrganisationName& organisation, const std::string& crl_pem) = 0;
    virtual bool is_revoked(const OrganisationName& organisation, std::string_view serial) const = 0;
};

/// What a service does with its own keys; they never leave the adapter.
class OwnKeys {
  public:
    virtual ~OwnKeys() = default;

    virtual const Caller& name() const = 0;
    virtual std::string chain() const = 0;   ///< PEM, leaf first
    virtual std::string bundle() const = 0;  ///< PEM, of the own organisation
    /// Errors: kUnavailable where the key cannot sign.
    virtual Result<SignedText> sign(std::string_view purpose, std::string text) const = 0;

    /// True where this service holds its organisation's CA key.
    virtual bool can_issue() const = 0;
    struct Issued {
        std::string certificate;  ///< PEM
        CertificateInfo info;
    };
    /// A certificate for the key in `request_pem` (PKCS #10, PEM); names in the request are ignored, `name` counts.
    /// Errors: bad request (no proof of key, weak key: under P-256 or RSA 2048), kUnavailable without CA key.
    virtual Result<Issued> issue(std::string_view request_pem, const Caller& name, Duration lifetime) const = 0;
    struct Revoked {
        std::string serial;
        Time at{};
        bool operator==(const Revoked&) const = default;
    };
    /// A revocation list, PEM. `number` grows with every list.
    virtual Result<std::string> make_revocations(const std::vector<Revoked>& revoked, std::uint64_t number) const = 0;

    /// A fresh key for a proxy and its request (both PEM). The key stays at this service.
    struct ProxyRequest {
        std::string key;
        std::string request;
    };
    virtual Result<ProxyRequest> make_proxy_request() const = 0;
    struct Derived {
        std::string key;
        std::string request;
        std::string chain;
        Time not_after{};
    };
    /// A fresh key with a proxy for one application, signed with a renewal delegation that this service holds. Errors:
    /// as of what the user signed; it has run out.
    virtual Result<Derived> derive_proxy(std::string_view renewal_key, std::string_view renewal_chain,
                                         const std::string& application, Duration lifetime) const = 0;
    /// Signs with a proxy's key: proof that home holds what the user signed.
    virtual Result<SignedText> sign_with_proxy(std::string_view purpose, std::string text, std::string_view proxy_key,
                                               std::string chain) const = 0;
};

/// Randomness that nobody can guess, and digests of it for keeping.
class Secrets {
  public:
    virtual ~Secrets() = default;
    /// 130 random bits as 26 characters of a-z 2-7.
    virtual std::string fresh() = 0;
    /// SHA-256, 64 lower-case hexadecimal digits.
    virtual std::string digest(std::string_view text) const = 0;
};

}  // namespace zbs
