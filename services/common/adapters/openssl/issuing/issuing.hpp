#pragma once
#include <string>
#include <vector>

#include "algorithms/base/time.hpp"
#include "services/common/adapters/openssl/handles.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/common/ports/trust.hpp"

// Making of keys, requests, certificates and lists. Arguments are checked by the callers; failures here are OpenSSL's
// own (no memory, no randomness) and stop the program.
namespace zbs::openssl {

/// A fresh P-256 key.
Key make_key();
CertificateRequest make_request(EVP_PKEY* key);
/// Positive, 16 bytes, 126 of their bits random.
Integer make_serial();
/// In decimal.
std::string decimal_text(const ASN1_INTEGER* number);

struct Validity {
    Time not_before{};
    Time not_after{};
};

/// A CA for `organisation`'s own names: path length 0, key usage certificates and lists, name constraints.
Certificate make_authority(EVP_PKEY* key, const OrganisationName& organisation, Validity validity);
/// Authority of `ca` over `key`: extended key usage by the kind of `name`; alternative names are its URI and `hosts`
/// (DNS names and literal addresses, as check_advertised_host takes them), for programs that know hosts only.
Certificate make_end_entity(EVP_PKEY* key, const Caller& name, Validity validity, X509* ca, EVP_PKEY* ca_key,
                            const std::vector<std::string>& hosts = {});
RevocationList make_list(X509* ca, EVP_PKEY* ca_key, const std::vector<OwnKeys::Revoked>& revoked, std::uint64_t number,
                         Validity validity);

/// Adds the extension `nid`, its value in the words of OpenSSL's configuration files. Precondition: `value` is ours.
void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value);

}  // namespace zbs::openssl
