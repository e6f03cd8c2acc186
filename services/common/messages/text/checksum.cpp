#include "services/common/messages/text/checksum.hpp"

#include <openssl/evp.h>

#include <array>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/text.hpp"

namespace zbs {
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
    return hexadecimal({reinterpret_cast<const char*>(digest.data()), length});
}

std::string sha256(std::string_view bytes) {
    Checksum sum;
    sum.add(bytes);
    std::string text = sum.text();
    ZBS_EXPECTS(!text.empty());
    return text;
}

}  // namespace zbs
