#include "services/common/messages/names/join_token.hpp"

#include <optional>
#include <vector>

namespace zbs {
namespace {

constexpr std::size_t kMaxTokenBytes = 2'048;
constexpr const char* kUserPrefix = "zbs-login-1";
constexpr const char* kZonePrefix = "zbs-enrol-1";

bool is_code(std::string_view text) {
    return text.size() == 26 && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567") == std::string_view::npos;
}

}  // namespace

bool is_fingerprint(std::string_view text) {
    return text.size() == 71 && text.starts_with("sha256:") &&
           text.substr(7).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string to_text(const JoinToken& token) {
    return std::string(token.kind == JoinToken::Kind::kUser ? kUserPrefix : kZonePrefix) + "+" + token.name + "+" +
           token.code + "+" + token.fingerprint + "+" + to_uri(token.service) + "+" + token.url;
}

Result<JoinToken> parse_join_token(std::string_view text) {
    if (text.size() > kMaxTokenBytes) return invalid("a token is not that long; paste it as it was printed");
    std::vector<std::string_view> parts;
    while (parts.size() < 5) {
        const std::size_t end = text.find('+');
        if (end == std::string_view::npos) return invalid("this is no whole token; paste all of it, as it was printed");
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    JoinToken token;
    if (parts[0] == kZonePrefix)
        token.kind = JoinToken::Kind::kZone;
    else if (parts[0] != kUserPrefix)
        return invalid("this is no token of a version that is known here");
    token.name = parts[1];
    token.code = parts[2];
    token.fingerprint = parts[3];
    token.url = text;
    const std::optional<Caller> service = parse_identity(parts[4]);
    if (!is_valid_name(token.name)) return invalid("the token's name is none");
    if (!is_code(token.code)) return invalid("the token's code is damaged");
    if (!is_fingerprint(token.fingerprint)) return invalid("the token's fingerprint is damaged");
    if (!service) return invalid("the token names no service");
    if (!token.url.starts_with("https://")) return invalid("the token's address must start with https://");
    // It is printed and called: no escape sequences, no user names, no paths.
    if (token.url.size() == 8 || token.url.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                             "0123456789.-:[]",
                                                             8) != std::string::npos)
        return invalid("the token's address must be https://host:port and nothing behind");
    token.service = *service;
    return token;
}

}  // namespace zbs
