#include "services/common/adapters/openssl/signature.hpp"

#include <openssl/rand.h>

#include <array>

#include "algorithms/base/expects.hpp"
#include "services/common/adapters/openssl/pem.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/checksum.hpp"

namespace zbs::openssl {
namespace {

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

std::string with_purpose(std::string_view purpose, std::string_view text) {
    ZBS_EXPECTS(!purpose.empty() && purpose.find('\n') == std::string_view::npos);
    std::string all;
    all.reserve(purpose.size() + 1 + text.size());
    all += purpose;
    all += '\n';
    all += text;
    return all;
}

}  // namespace

const EVP_MD* digest_for(const EVP_PKEY* key) {
    return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? nullptr : EVP_sha256();
}

Result<std::string> sign_text(EVP_PKEY* key, std::string_view purpose, std::string_view text) {
    const std::string all = with_purpose(purpose, text);
    const Digest context(EVP_MD_CTX_new());
    std::size_t size = 0;
    if (!context || EVP_DigestSignInit(context.get(), nullptr, digest_for(key), nullptr, key) != 1 ||
        EVP_DigestSign(context.get(), nullptr, &size, bytes_of(all), all.size()) != 1)
        return Error{ErrorCode::kUnavailable, "the key cannot sign: " + last_fault(), {}};
    std::string signature(size, '\0');
    if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes_of(all),
                       all.size()) != 1)
        return Error{ErrorCode::kUnavailable, "the key cannot sign: " + last_fault(), {}};
    signature.resize(size);
    return to_base64(signature);
}

bool is_signed_by(EVP_PKEY* key, std::string_view purpose, std::string_view text, std::string_view signature) {
    if (signature.size() > limits::kMaxSignatureBytes) return false;
    const std::optional<std::string> bytes = from_base64(signature);
    if (!bytes || bytes->empty()) return false;
    const std::string all = with_purpose(purpose, text);
    const Digest context(EVP_MD_CTX_new());
    const bool good = context && EVP_DigestVerifyInit(context.get(), nullptr, digest_for(key), nullptr, key) == 1 &&
                      EVP_DigestVerify(context.get(), bytes_of(*bytes), bytes->size(), bytes_of(all), all.size()) == 1;
    static_cast<void>(last_fault());
    return good;
}

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
