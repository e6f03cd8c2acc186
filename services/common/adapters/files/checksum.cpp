#include "services/common/adapters/files/checksum.hpp"

#include <openssl/evp.h>

#include <array>

namespace zbs::files {
namespace {

EVP_MD_CTX* digest_context(void* context) { return static_cast<EVP_MD_CTX*>(context); }

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
    constexpr char kHex[] = "0123456789abcdef";
    std::string out;
    for (unsigned i = 0; i < length; ++i) out += {kHex[digest[i] >> 4], kHex[digest[i] & 15]};
    return out;
}

}  // namespace zbs::files
