#pragma once
#include <memory>
#include <optional>
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/messages/names/join_token.hpp"
#include "services/common/messages/registry.hpp"

namespace zbs::openssl {
class TlsClient;
class TrustStore;
class KeyFolder;
}  // namespace zbs::openssl

namespace zbs::client {

/// A user's certificate and whom it is for: a folder with key, certificate, bundle and the address of the home zone.
/// The private key is made here and stays here.
class Credentials {
  public:
    /// Errors, each with its file and remedy: none here yet (kNotFound: 'zbs login'), others can read the key, expired.
    static Result<Credentials> open(const std::string& folder);
    /// The same home zone, but the caller's certificate is a proxy: `file` holds proxy, key and chain, as
    /// `grid-proxy-init` writes it. Errors: the file; others can read it.
    static Result<Credentials> open_with_proxy(const std::string& folder, const std::string& file);
    ~Credentials();
    Credentials(Credentials&&) noexcept;
    Credentials& operator=(Credentials&&) noexcept;

    /// Turns a token into a folder of credentials; one that is there is replaced, and its key removed. May be repeated
    /// with the same token when the answer was lost. Errors: whoever answers is not the zone of the token; the code
    /// does not work; the new ones are in place, but the earlier key cannot be removed.
    static Result<void> log_in(const std::string& folder, const JoinToken& token);
    /// A fresh key and certificate in place of these, whose key is removed. Errors: the zone's, e.g. that the user was
    /// revoked; as of `log_in` where the earlier key cannot be removed.
    Result<void> renew() const;
    /// As `renew`, if these are still due and no other command renews them at this moment.
    Result<void> renew_if_due() const;

    const ServiceAddress& home() const { return home_; }
    const Caller& name() const { return name_; }  ///< anonymous with a proxy of a grid certificate: home knows
    std::optional<Time> not_after() const;        ///< none with a proxy
    std::shared_ptr<const openssl::TlsClient> tls() const { return tls_; }
    /// A proxy for the key in `request_pem`, signed here: for one application, or (empty) to renew from. PEM chain.
    Result<std::string> sign_delegation(const std::string& request_pem, const std::string& application,
                                        Duration lifetime) const;
    /// True when under a third of the certificate's usual life is left.
    bool is_due() const;

  private:
    Credentials();
    static Result<Credentials> read(const std::string& folder);
    static Result<Credentials> read_with_proxy(const std::string& folder, const std::string& file);
    Result<void> request_renewal() const;
    std::string folder_;
    ServiceAddress home_;
    Caller name_;
    std::shared_ptr<openssl::TrustStore> trust_;
    std::shared_ptr<openssl::KeyFolder> keys_;
    std::shared_ptr<const openssl::TlsClient> tls_;
    std::string key_;    ///< PEM, as read with the certificate: another command may replace the files
    std::string proxy_;  ///< PEM of the proxy, its key and chain, where one is used
};

}  // namespace zbs::client
