#pragma once
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "services/common/messages/names/name_types.hpp"

namespace zbs {

enum class CallerKind { kAnonymous, kUser, kZone, kOperator, kRegistry, kNode };
/// Zones, registries and node agents: programs that answer calls, and speak TLS 1.3 with each other.
constexpr bool is_service(CallerKind kind) {
    return kind == CallerKind::kZone || kind == CallerKind::kRegistry || kind == CallerKind::kNode;
}

/// A name: user, zone, operator, registry or node agent of an organisation. Says nothing about how it was proved; see
/// `PeerIdentity`.
struct Caller {
    CallerKind kind = CallerKind::kAnonymous;
    OrganisationName organisation;
    std::string name;
    bool operator==(const Caller&) const = default;

    bool is_user_of(const OrganisationName& org) const { return kind == CallerKind::kUser && organisation == org; }
    bool is_operator_of(const OrganisationName& org) const {
        return kind == CallerKind::kOperator && organisation == org;
    }
};

/// How a connection proved who it is.
enum class Evidence {
    kNone,         ///< it did not
    kLocalToken,   ///< plain loopback: the token of the zone's own state folder
    kCertificate,  ///< a verified chain to the named organisation's own bundle
    kProxy,        ///< the same through one RFC 3820 proxy or more
};

/// Who makes a call, as the edge established it once from the verified chain; immutable, and the only source of
/// identity for handlers.
class PeerIdentity {
  public:
    PeerIdentity() = default;  ///< anonymous
    PeerIdentity(Caller name, Evidence evidence, bool limited_proxy = false, std::string serial = {})
        : name_(std::move(name)), serial_(std::move(serial)), evidence_(evidence), limited_(limited_proxy) {}
    /// Anonymous, with the reason why its certificate does not count; the refusal sends it to the caller.
    static PeerIdentity refused(std::string reason) {
        PeerIdentity identity;
        identity.refusal_ = std::move(reason);
        return identity;
    }

    const Caller& name() const { return name_; }
    Evidence evidence() const { return evidence_; }
    bool via_proxy() const { return evidence_ == Evidence::kProxy; }
    /// A limited proxy may look, not submit.
    bool via_limited_proxy() const { return limited_; }
    /// Of the end entity's certificate, lower-case hexadecimal; empty without one.
    const std::string& serial() const { return serial_; }
    const std::string& refusal() const { return refusal_; }
    bool is_anonymous() const { return name_.kind == CallerKind::kAnonymous; }
    bool operator==(const PeerIdentity&) const = default;

  private:
    Caller name_;
    std::string serial_;
    std::string refusal_;
    Evidence evidence_ = Evidence::kNone;
    bool limited_ = false;
};

/// The name as a URI: `spiffe://ORG/user/NAME`, `/zone/`, `/operator/`, `/registry/`, `/node/`; "anonymous" without
/// identity.
std::string to_uri(const Caller& caller);
/// Reads `to_uri`'s form. Organisation and name: 1..64 of [a-z0-9.-_], starting with a letter or digit.
std::optional<Caller> parse_identity(std::string_view uri);
/// True for what may name an organisation, zone, user or machine: 1..64 of [a-z0-9._-], first a letter or digit.
bool is_valid_name(std::string_view name);
std::ostream& operator<<(std::ostream& out, const Caller& caller);

}  // namespace zbs
