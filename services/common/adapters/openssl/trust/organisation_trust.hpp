#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/adapters/openssl/handles.hpp"
#include "services/common/ports/trust.hpp"

namespace zbs::openssl {

/// The CA certificates of one organisation, ready for checks. Immutable.
struct Bundle {
    std::string pem;
    std::vector<Certificate> authorities;
    Store store;  ///< the same certificates; OpenSSL locks it for its readers
};
/// Errors: no bundle, a certificate in it that is no CA's or has a weak key.
Result<std::shared_ptr<const Bundle>> read_bundle(std::string_view pem, const std::string& what);
/// As `TrustBundles::fingerprint`: SHA-256 over the SHA-256 of each certificate, in their order, each counted once.
std::string fingerprint_of(const Bundle& bundle);

/// As `TrustBundles::names_in`.
Result<BundleNames> names_in(const Bundle& bundle);

/// True where one of the bundle's CA keys has this digest.
bool has_authority(const Bundle& bundle, std::string_view key_digest);

/// A revocation list after its checks.
struct Revocations {
    std::string authority;  ///< digest of the CA key that signed it; a renewed CA certificate keeps it
    std::optional<std::uint64_t> number;
    Time made{};
    std::vector<std::string> serials;  ///< sorted
};
/// Errors: not signed by an authority of `bundle` that may sign lists, only a part of a list (delta, indirect).
Result<Revocations> read_list(std::string_view pem, const Bundle& bundle, const OrganisationName& organisation);
/// True where `next` may take the place of `known`: a higher number, a later time where one has no number, or the same
/// list again.
bool replaces(const Revocations& next, const Revocations& known);

/// All that is believed of one organisation. Immutable; changed by copies.
struct Organisation {
    std::shared_ptr<const Bundle> bundle;
    std::map<std::string, std::shared_ptr<const Revocations>> lists;  ///< by authority
    bool is_revoked(std::string_view serial) const;
};

}  // namespace zbs::openssl
