#include "services/common/adapters/openssl/signature.hpp"

#include <vector>

#include "services/common/adapters/openssl/pem.hpp"
#include "services/common/messages/limits.hpp"

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

std::string to_base64(std::string_view bytes) {
    std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');  // one more: OpenSSL ends it with a NUL
    const int size =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes_of(bytes), static_cast<int>(bytes.size()));
    out.resize(static_cast<std::size_t>(size));
    return out;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.empty()) return std::string{};
    if (text.size() % 4 != 0) return std::nullopt;
    std::string out(text.size() / 4 * 3, '\0');
    const int size =
        EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes_of(text), static_cast<int>(text.size()));
    if (size < 0) return std::nullopt;
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
    if (static_cast<std::size_t>(size) < padding) return std::nullopt;
    out.resize(static_cast<std::size_t>(size) - padding);
    if (to_base64(out) != text) return std::nullopt;
    return out;
}

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

}  // namespace zbs::openssl
