#pragma once
#include <string>
#include <string_view>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/openssl/handles.hpp"
#include "services/common/ports/trust.hpp"

namespace zbs::openssl {

/// The digest that goes with `key`; null for Ed25519, which brings its own.
const EVP_MD* digest_for(const EVP_PKEY* key);

/// The signature (base64) over `purpose`, a line end and `text`: a signature made for one purpose proves nothing for
/// another. Precondition: `purpose` is one line. Errors: kUnavailable where the key cannot sign.
Result<std::string> sign_text(EVP_PKEY* key, std::string_view purpose, std::string_view text);
bool is_signed_by(EVP_PKEY* key, std::string_view purpose, std::string_view text, std::string_view signature);

/// Secrets from OpenSSL's generator. Thread-safe.
class RandomSecrets : public Secrets {
  public:
    std::string fresh() override;
    std::string digest(std::string_view text) const override;
};

}  // namespace zbs::openssl
