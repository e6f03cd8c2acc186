#pragma once
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace zbs {

enum class CallerKind { kAnonymous, kUser, kZone, kOperator };

/// Who makes a call. Made once at the edge of a service, immutable after that; the only source of identity for
/// handlers.
struct Caller {
    CallerKind kind = CallerKind::kAnonymous;
    std::string organisation;
    std::string name;
    bool operator==(const Caller&) const = default;

    bool is_user_of(std::string_view org) const { return kind == CallerKind::kUser && organisation == org; }
    bool is_operator_of(std::string_view org) const { return kind == CallerKind::kOperator && organisation == org; }
};

/// The name as a URI: `spiffe://ORG/user/NAME`, `/zone/`, `/operator/`; "anonymous" without identity.
std::string to_uri(const Caller& caller);
/// Reads `to_uri`'s form. Organisation and name: 1..64 of [a-z0-9.-_], starting with a letter or digit.
std::optional<Caller> parse_identity(std::string_view uri);
/// True for what may name an organisation, zone, user or machine: 1..64 of [a-z0-9._-], first a letter or digit.
bool is_valid_name(std::string_view name);
std::ostream& operator<<(std::ostream& out, const Caller& caller);

}  // namespace zbs
