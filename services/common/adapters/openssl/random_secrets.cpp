#include "services/common/adapters/openssl/random_secrets.hpp"

#include <openssl/rand.h>

#include <array>

#include "algorithms/base/expects.hpp"
#include "services/common/messages/text/checksum.hpp"

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

std::string RandomSecrets::digest(std::string_view text) const { return sha256(text); }

}  // namespace zbs::openssl
