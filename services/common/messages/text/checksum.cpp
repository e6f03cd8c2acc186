#include "services/common/messages/text/checksum.hpp"

#include <openssl/evp.h>

#include <array>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/text.hpp"

namespace zbs {
namespace {

EVP_MD_CTX* digest_context(void* context) { return static_cast<EVP_MD_CTX*>(context); }

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

void Checksum::Free::operator()(void* context) const { EVP_MD_CTX_free(digest_context(context)); }

Checksum::Checksum() : context_(EVP_MD_CTX_new()) {
    good_ = context_ && EVP_DigestInit_ex(digest_context(context_.get()), EVP_sha256(), nullptr) == 1;
}

void Checksum::add(std::string_view bytes) {
    good_ = good_ && EVP_DigestUpdate(digest_context(context_.get()), bytes.data(), bytes.size()) == 1;
    taken_ += bytes.size();
}

std::string Checksum::text() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    if (!good_ || EVP_DigestFinal_ex(digest_context(context_.get()), digest.data(), &length) != 1) return {};
    return hexadecimal({reinterpret_cast<const char*>(digest.data()), length});
}

std::string sha256(std::string_view bytes) {
    Checksum sum;
    sum.add(bytes);
    std::string text = sum.text();
    ZBS_EXPECTS(!text.empty());
    return text;
}

std::string to_base64(std::string_view bytes) {
    std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');  // one more: OpenSSL ends it with a NUL
    const int size = EVP_EncodeBlock(bytes_of(out), bytes_of(bytes), static_cast<int>(bytes.size()));
    out.resize(static_cast<std::size_t>(size));
    return out;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.empty()) return std::string{};
    if (text.size() % 4 != 0) return std::nullopt;
    std::string out(text.size() / 4 * 3, '\0');
    const int size = EVP_DecodeBlock(bytes_of(out), bytes_of(text), static_cast<int>(text.size()));
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
    if (size < static_cast<int>(padding)) return std::nullopt;
    out.resize(static_cast<std::size_t>(size) - padding);
    if (to_base64(out) != text) return std::nullopt;
    return out;
}

}  // namespace zbs
