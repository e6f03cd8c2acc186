#pragma once
#include <string>
#include <string_view>

#include "algorithms/base/result.hpp"
#include "services/common/messages/names/identity.hpp"

namespace zbs {

/// What an operator hands to somebody who is to join: one word for one paste. It holds all that is needed to find the
/// service and to know it: where it is, who must answer there, and the fingerprint of its bundle.
struct JoinToken {
    enum class Kind { kUser, kZone };
    Kind kind = Kind::kUser;
    std::string name;         ///< the user; for a zone its organisation, or "any"
    std::string code;         ///< works once; a secret
    std::string fingerprint;  ///< of the service's bundle, "sha256:..."
    Caller service;
    std::string url;
    bool operator==(const JoinToken&) const = default;
};

/// True for "sha256:" and 64 hexadecimal digits in small letters: the fingerprint of a bundle.
bool is_fingerprint(std::string_view text);

std::string to_text(const JoinToken& token);
/// Errors say which of its six parts is wrong, never what the code was.
Result<JoinToken> parse_join_token(std::string_view text);

}  // namespace zbs
