#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "services/common/adapters/openssl/trust/trust_store.hpp"
#include "services/common/messages/names/name_types.hpp"
#include "services/common/ports/trust.hpp"

struct ssl_ctx_st;  // SSL_CTX

namespace zbs::openssl {

inline constexpr Duration kCertificateLifetime = std::chrono::hours{24 * 365};
inline constexpr Duration kAuthorityLifetime = std::chrono::hours{24 * 3652};

/// The own identity, read from a folder: `key.pem`, `certificate.pem` (chain, leaf first), `bundle.pem`, and where this
/// service issues for its organisation `ca_key.pem` and `ca.pem`. Thread-safe.
class KeyFolder : public OwnKeys {
  public:
    /// Errors, each with its file and remedy: a file is missing or damaged; others can read a key (anything of mode
    /// 077) or may write the folder; key and certificate do not belong together; the certificate is not yet valid or
    /// has expired; the chain does not lead to the own
    /// bundle.
    static Result<std::unique_ptr<KeyFolder>> open(const std::string& folder, Now now);
    ~KeyFolder() override;

    const Caller& name() const override;
    std::string chain() const override;
    std::string bundle() const override;
    Result<SignedText> sign(std::string_view purpose, std::string text) const override;
    bool can_issue() const override;
    /// The lifetime is cut at the CA's own end. Also errors: `name` is of another organisation or no valid name.
    Result<Issued> issue(std::string_view request_pem, const Caller& name, Duration lifetime) const override;
    Result<std::string> make_revocations(const std::vector<Revoked>& revoked, std::uint64_t number) const override;
    Result<ProxyRequest> make_proxy_request() const override;
    Result<Derived> derive_proxy(std::string_view renewal_key, std::string_view renewal_chain,
                                 const std::string& application, Duration lifetime) const override;
    Result<SignedText> sign_with_proxy(std::string_view purpose, std::string text, std::string_view proxy_key,
                                       std::string chain) const override;

    /// Reads the folder anew. Errors as `open`; on an error nothing has changed. The name cannot change.
    Result<void> reload();
    /// End of the own certificate.
    Time not_after() const;
    /// What this service is called at, DNS names and addresses: the next certificate names them, too, so that browsers
    /// and collectors of figures, which know no URIs, believe it. Those of the last one stay, 16 in all at most.
    void serve_as(std::vector<std::string> hosts);
    /// True when under a third of the own certificate's life is left, or it lacks a host and the CA key is here.
    bool is_due(Time now) const;
    /// A new certificate for the same key when it is due and the CA key is here; the file is replaced in one step.
    /// True: there is a new one, put it into the TLS contexts. Errors: the disk.
    Result<bool> renew_if_due(Time now);
    /// Key and chain into a TLS context, client's or server's. Errors: OpenSSL's word.
    Result<void> install(ssl_ctx_st* context) const;

  private:
    struct State;
    explicit KeyFolder(std::string folder, Now now, std::shared_ptr<const State> state);
    std::shared_ptr<const State> state() const;

    std::string folder_;
    Now now_;
    mutable std::mutex mutex_;
    bool lacks_host(const State& own) const;
    std::shared_ptr<const State> state_;
    std::vector<std::string> hosts_;
    Caller name_;
};

/// Whether `KeyFolder::open` could read the folder. Changes nothing. Errors: those of it.
Result<void> check_identity(const std::string& folder, Time now);

struct OrganisationOptions {
    std::vector<std::string> hosts = {};  ///< of the service, as `KeyFolder::serve_as`
    std::string operator_name = "operator";
    Duration authority_lifetime = kAuthorityLifetime;
    Duration certificate_lifetime = kCertificateLifetime;
};

/// A new organisation in `folder`: its CA (P-256, path length 0, limited by name constraints to the organisation's own
/// names), a zone's key and certificate, and in `operator/` the operator's. The folder is made whole or not at all,
/// mode 0700, files 0600. Errors: the folder exists and is not empty (nothing is ever overwritten), names that are
/// none.
Result<void> create_organisation(const std::string& folder, const OrganisationName& organisation,
                                 const ZoneName& zone_name, Time now, const OrganisationOptions& options = {});
/// The same for a registry's organisation.
Result<void> make_registry(const std::string& folder, const OrganisationName& organisation,
                           const std::string& registry_name, Time now, const OrganisationOptions& options = {});

/// An identity made elsewhere, all PEM; `ca_key` and `ca` may be empty, both or none.
struct IdentityFiles {
    std::string key;
    std::string chain;
    std::string bundle;
    std::string ca_key;
    std::string ca;
};
/// Writes an existing identity into a new `folder`, checked as `KeyFolder::open` would. Errors: as there, and a folder
/// that is not empty. Where the CA's key comes along and `operator_name` is given, that operator gets a certificate in
/// `operator/`.
Result<void> import_identity(const std::string& folder, const IdentityFiles& files, Time now,
                             const std::string& operator_name = {});
/// A new certificate for the operator in `operator/` of this identity's folder: for the key that is there, or with a
/// new key where there is none. Errors: no CA key here, a name that is none, the disk.
Result<void> issue_operator(const std::string& folder, const std::string& operator_name, Time now);
/// Key, certificate and bundle of a node agent of this identity's organisation, in a new folder `out`. Errors: as
/// `issue_operator`; `out` exists and is not empty.
Result<void> issue_node(const std::string& folder, const std::string& node_name, const std::string& out, Time now);
/// A renewed chain for the key that is in `folder`, checked likewise; the old file is replaced in one step.
Result<void> replace_certificate(const std::string& folder, const std::string& chain_pem, Time now);

/// A fresh P-256 key and its PKCS #10 request, both PEM: what a user's client makes. The key has never been elsewhere.
Result<OwnKeys::ProxyRequest> make_user_request();

}  // namespace zbs::openssl
