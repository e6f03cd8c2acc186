#include "services/common/messages/text/base64.hpp"

#include <openssl/evp.h>

namespace zbs {
namespace {

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

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
