#include "services/common/messages/names/identity.hpp"

#include <algorithm>

namespace zbs {

bool is_valid_name(std::string_view name) {
    const auto letter_or_digit = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    return !name.empty() && name.size() <= 64 && letter_or_digit(name[0]) &&
           std::all_of(name.begin(), name.end(),
                       [&](char c) { return letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
}

std::string to_uri(const Caller& caller) {
    const char* kind = nullptr;
    switch (caller.kind) {
        case CallerKind::kAnonymous:
            return "anonymous";
        case CallerKind::kUser:
            kind = "/user/";
            break;
        case CallerKind::kZone:
            kind = "/zone/";
            break;
        case CallerKind::kOperator:
            kind = "/operator/";
            break;
        case CallerKind::kRegistry:
            kind = "/registry/";
            break;
        case CallerKind::kNode:
            kind = "/node/";
            break;
    }
    return "spiffe://" + caller.organisation + kind + caller.name;
}

std::optional<Caller> parse_identity(std::string_view uri) {
    constexpr std::string_view kScheme = "spiffe://";
    if (!uri.starts_with(kScheme)) return std::nullopt;
    uri.remove_prefix(kScheme.size());
    const std::size_t first = uri.find('/');
    if (first == std::string_view::npos) return std::nullopt;
    const std::size_t second = uri.find('/', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    const std::string_view kind = uri.substr(first + 1, second - first - 1);
    Caller caller{CallerKind::kAnonymous, OrganisationName(std::string(uri.substr(0, first))),
                  std::string(uri.substr(second + 1))};
    if (kind == "user") caller.kind = CallerKind::kUser;
    if (kind == "zone") caller.kind = CallerKind::kZone;
    if (kind == "operator") caller.kind = CallerKind::kOperator;
    if (kind == "registry") caller.kind = CallerKind::kRegistry;
    if (kind == "node") caller.kind = CallerKind::kNode;
    if (caller.kind == CallerKind::kAnonymous) return std::nullopt;
    if (!is_valid_name(caller.organisation) || !is_valid_name(caller.name)) return std::nullopt;
    return caller;
}

std::ostream& operator<<(std::ostream& out, const Caller& caller) { return out << to_uri(caller); }

}  // namespace zbs
