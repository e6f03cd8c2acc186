#include "services/common/messages/names/owned_id.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace zbs {
namespace {

constexpr std::size_t kMarkBytes = 4;

}  // namespace

Id128 marked(Id128 fresh, const Caller& owner) {
    const std::string uri = to_uri(owner);
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(uri.data()), uri.size(), digest.data());
    std::ranges::copy(std::span(digest).first<kMarkBytes>(), fresh.bytes.end() - kMarkBytes);
    return fresh;
}

bool has_mark_of(const Id128& id, const Caller& owner) { return marked(id, owner) == id; }

Result<void> check_mark(const Id128& id, const Caller& owner) {
    if (has_mark_of(id, owner)) return {};
    return invalid("is not an id of " + to_uri(owner) +
                       ": make it as docs/protocol.md describes under \"Ids\"; a user may also leave it out",
                   "/id");
}

}  // namespace zbs
