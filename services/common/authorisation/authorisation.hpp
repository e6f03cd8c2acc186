#pragma once
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/base/words.hpp"
#include "services/common/authorisation/action.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/common/messages/names/name_types.hpp"

namespace zbs {

enum class ServiceKind { kZone, kRegistry, kNode };

/// Where the call arrived, and what this service knows of the caller.
struct Site {
    ServiceKind service = ServiceKind::kZone;
    OrganisationName organisation;
    std::string name;  ///< of the zone, registry or node
    /// At a zone: the caller's zone has an accepted peering here. At a registry: it is enrolled. At a node agent: it is
    /// the zone that the node belongs to.
    bool accepts_subject = false;
};

/// What somebody is to a site.
enum class Role {
    kAnonymous,
    kOwnUser,  ///< of the site's organisation
    kForeignUser,
    kOwnOperator,
    kForeignOperator,
    kOwnZone,       ///< at a zone: any zone of its organisation
    kKnownZone,     ///< with an accepted peering; at a registry: enrolled; at a node agent: its own
    kStrangerZone,  ///< proved its name, no more
    kRegistry,
    kOwnNode,  ///< agent of a node of the site's organisation
    kForeignNode,
};
inline constexpr int kRoleCount = static_cast<int>(Role::kForeignNode) + 1;
constexpr auto words_of(Role) {
    return std::array{"callers without a certificate",
                      "users of this organisation",
                      "users of other organisations",
                      "operators of this organisation",
                      "operators of other organisations",
                      "zones of this organisation",
                      "accepted zones",
                      "zones that are not accepted",
                      "registries",
                      "node agents of this organisation",
                      "node agents of other organisations"};
}
/// Anonymous too: a name that came without evidence, and a proxy of anything but a user.
Role role_of(const PeerIdentity& subject, const Site& site);

enum class ObjectKind {
    kService,  ///< the zone, registry or node as a whole, or a list that the domain cuts to the caller's own
    kApplication,
    kProfile,
    kDelegation,
    kUser,
    kPart,       ///< owner: the zone that holds it
    kPeering,    ///< owner: the other zone
    kZoneEntry,  ///< owner: the zone it describes
    kNode,       ///< owner: its agent
};

/// What a call is about. For something that is not there: its kind and no owner; whoever might have seen it gets the
/// same kNotFound as for somebody else's.
struct Object {
    ObjectKind kind = ObjectKind::kService;
    Caller owner;
    ZoneName home_zone;  ///< application, profile, delegation: the zone that keeps it; empty = this one
};

struct Decision {
    enum class Verdict {
        kAllow,
        kUnauthenticated,  ///< no identity, or one that does not count
        kDenied,           ///< depends on the caller and the action alone, so it reveals nothing about any object
        kNotFound,         ///< not the caller's, or not there
    };
    Verdict verdict = Verdict::kDenied;
    std::string reason;  ///< fit for the caller; the same for everybody's and nobody's object

    explicit operator bool() const { return verdict == Verdict::kAllow; }
};
constexpr auto words_of(Decision::Verdict) { return std::array{"allow", "unauthenticated", "denied", "not_found"}; }
/// Success, or the error that the caller gets.
Result<void> to_result(const Decision& decision);

/// The one place that says who may do what; whatever its table does not allow is denied. Proxies speak for users only,
/// and a limited proxy may only look. An object of a kind that the action is not about is denied too.
/// A right to call is no promise: codes, tokens, signed entries, rights of a peering are checked by the domain.
Decision authorise(const PeerIdentity& subject, Action action, const Object& object, const Site& site);

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
