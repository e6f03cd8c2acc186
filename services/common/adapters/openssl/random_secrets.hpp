#pragma once
#include "services/common/ports/secrets.hpp"

namespace zbs::openssl {

/// Secrets from OpenSSL's generator. Thread-safe.
class RandomSecrets : public Secrets {
  public:
    std::string fresh() override;
    std::string digest(std::string_view text) const override;
};

}  // namespace zbs::openssl
