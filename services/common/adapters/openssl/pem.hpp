#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/openssl/handles.hpp"

// PEM text <-> objects. No reader ever asks for a password; a file that needs one is refused. `what` names the text in
// messages ("the chain", a path).
namespace zbs::openssl {

struct PemLimits {
    std::size_t bytes;
    int certificates;
};
extern const PemLimits kChainLimits;
extern const PemLimits kBundleLimits;

/// At least one certificate, in the order of the text. Errors: none, one that is damaged, over a limit.
Result<std::vector<Certificate>> read_certificates(std::string_view pem, const PemLimits& limits,
                                                   const std::string& what);
/// Errors: no unencrypted private key, over `kMaxKeyBytes`, a weak key.
Result<Key> read_key(std::string_view pem, const std::string& what);
/// The public key that the request proves. Errors: no request, no proof of key, a weak key.
Result<Key> read_request(std::string_view pem, const std::string& what);
Result<RevocationList> read_revocations(std::string_view pem, const std::string& what);

std::string write_pem(const X509* certificate);
std::string write_pem(const EVP_PKEY* key);
std::string write_pem(const X509_REQ* request);
std::string write_pem(const X509_CRL* list);
std::string write_pem(const std::vector<Certificate>& chain);

/// Empties OpenSSL's error queue; its last word, for messages.
std::string last_fault();

}  // namespace zbs::openssl
