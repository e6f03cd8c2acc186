#include "services/common/adapters/openssl/random_secrets.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <cstdint>

#include "algorithms/base/expects.hpp"

namespace zbs::openssl {

std::string RandomSecrets::fresh() {
    constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz234567";
    std::array<unsigned char, 26> bytes{};
    // Without randomness nothing here may go on.
    ZBS_EXPECTS(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
    std::string text;
    for (const unsigned char byte : bytes) text += kLetters[byte % 32];
    return text;
}

std::string RandomSecrets::digest(std::string_view text) const {
    constexpr char kHex[] = "0123456789abcdef";
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned length = 0;
    ZBS_EXPECTS(EVP_Digest(text.data(), text.size(), bytes.data(), &length, EVP_sha256(), nullptr) == 1);
    std::string out;
    for (unsigned i = 0; i < length; ++i) out += {kHex[bytes[i] >> 4], kHex[bytes[i] & 15]};
    return out;
}

}  // namespace zbs::openssl
