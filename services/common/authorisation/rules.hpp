#pragma once
#include "services/common/authorisation/authorisation.hpp"

namespace zbs {

/// Ownership objects an action may touch.
enum class Ownership {
    kAny,  ///< those of the service; who may call may name any
    kOwn,  ///< the caller's own; the site's operators, where they may call, those of their organisation
};

/// What a caller may come through.
enum class Channel {
    kAnything,     ///< also a limited proxy: it only looks
    kFullProxy,    ///< a proxy, but not a limited one
    kCertificate,  ///< no proxy: what it gives lives longer than a proxy, or says who others are
};

constexpr unsigned bit(ServiceKind service) { return 1U << static_cast<unsigned>(service); }

/// A line of the table: who may do this, to what, through what. Whoever is not in `roles` is denied.
struct ActionRule {
    Action action{};
    std::string_view operation_id;
    unsigned services = 0;  ///< bit 1 << ServiceKind
    ObjectKind object = ObjectKind::kService;
    unsigned roles = 0;  ///< bit 1 << Role
    Ownership ownership = Ownership::kAny;
    Channel channel = Channel::kAnything;
};

constexpr unsigned bit(Role role) { return 1U << static_cast<unsigned>(role); }

/// Null for a number that is no action.
const ActionRule* find_rule(Action action);

}  // namespace zbs
