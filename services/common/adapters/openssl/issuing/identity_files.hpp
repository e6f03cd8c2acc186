#pragma once
#include <string>
#include <vector>

#include "services/common/adapters/openssl/handles.hpp"
#include "services/common/adapters/openssl/own_keys.hpp"

// The own identity in memory, and its files.
namespace zbs::openssl {

/// A whole and consistent identity. Immutable.
struct OwnIdentity {
    Key key;
    std::vector<Certificate> chain;
    std::string bundle;
    Key ca_key;  ///< null where this service does not issue
    Certificate ca;
    CertificateInfo info;

    Result<OwnKeys::Issued> issue(EVP_PKEY* key, const Caller& name, Duration lifetime, Time now,
                                  const std::vector<std::string>& hosts = {}) const;
};

inline constexpr const char* kKeyFile = "key.pem";
inline constexpr const char* kCertificateFile = "certificate.pem";
inline constexpr const char* kBundleFile = "bundle.pem";
inline constexpr const char* kAuthorityKeyFile = "ca_key.pem";
inline constexpr const char* kAuthorityFile = "ca.pem";

/// Errors: see `KeyFolder::open`; `where` (a folder, with its slash) stands before the names of files in messages. An
/// identity whose own certificate has expired but that holds the CA key is taken: it can renew itself.
Result<OwnIdentity> make_identity(const IdentityFiles& files, const std::string& where, Time now);
Result<IdentityFiles> read_identity_files(const std::string& folder);
/// The identity of a folder: both of the above.
Result<OwnIdentity> open_identity(const std::string& folder, Time now);
void wipe(IdentityFiles& files);

}  // namespace zbs::openssl
