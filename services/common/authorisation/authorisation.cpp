#include "services/common/authorisation/authorisation.hpp"

#include "services/common/authorisation/rules.hpp"

namespace zbs {
namespace {

using Verdict = Decision::Verdict;

Decision denied(std::string reason) { return {Verdict::kDenied, std::move(reason)}; }

bool is_proxy(const PeerIdentity& subject) { return subject.via_proxy() || subject.via_limited_proxy(); }

std::string why_anonymous(const PeerIdentity& subject) {
    if (!subject.refusal().empty()) return "what came with the call does not count: " + subject.refusal();
    if (is_proxy(subject)) return "proxies speak for users only; come with the certificate itself";
    return "say who you are: no certificate came with the call; users get one with 'zbs login'";
}

std::string roles_text(unsigned roles) {
    std::string text;
    for (int i = 0; i < kRoleCount; ++i) {
        const auto role = static_cast<Role>(i);
        if ((roles & bit(role)) != 0) text += (text.empty() ? "" : ", ") + std::string(to_string(role));
    }
    return text;
}

/// "change peering" of the operation changePeering.
std::string words_of(std::string_view operation_id) {
    std::string words;
    for (const char c : operation_id)
        words += c >= 'A' && c <= 'Z' ? std::string{' ', static_cast<char>(c - 'A' + 'a')} : std::string(1, c);
    return words;
}

/// Users' things belong to the organisation of the site that keeps them.
bool is_kept_here(const Object& object, const Site& site) {
    return object.owner.organisation == site.organisation &&
           (object.home_zone.empty() || object.home_zone == site.name);
}

/// Whether the caller may know of the object at all.
bool may_see(const Caller& caller, Role role, const Object& object, const Site& site) {
    if (object.owner.kind == CallerKind::kAnonymous) return false;
    switch (object.kind) {
        case ObjectKind::kApplication:
        case ObjectKind::kProfile:
        case ObjectKind::kDelegation:
        case ObjectKind::kUser:
            if (!is_kept_here(object, site)) return false;
            return role == Role::kOwnOperator || object.owner == caller;
        case ObjectKind::kPart:
        case ObjectKind::kZoneEntry:
        case ObjectKind::kNode:
            return object.owner == caller;
        case ObjectKind::kPeering:
        case ObjectKind::kService:
            break;
    }
    return false;
}

}  // namespace

Role role_of(const PeerIdentity& subject, const Site& site) {
    if (subject.evidence() == Evidence::kNone) return Role::kAnonymous;
    if (is_proxy(subject) && subject.name().kind != CallerKind::kUser) return Role::kAnonymous;
    const bool own = subject.name().organisation == site.organisation;
    switch (subject.name().kind) {
        case CallerKind::kAnonymous:
            return Role::kAnonymous;
        case CallerKind::kUser:
            return own ? Role::kOwnUser : Role::kForeignUser;
        case CallerKind::kOperator:
            return own ? Role::kOwnOperator : Role::kForeignOperator;
        case CallerKind::kZone:
            // A registry knows zones by their enrolment only, also those of its own organisation.
            if (own && site.service == ServiceKind::kZone) return Role::kOwnZone;
            // An agent serves one zone, and never one of another organisation.
            if (!own && site.service == ServiceKind::kNode) return Role::kStrangerZone;
            return site.accepts_subject ? Role::kKnownZone : Role::kStrangerZone;
        case CallerKind::kRegistry:
            return Role::kRegistry;
        case CallerKind::kNode:
            return own ? Role::kOwnNode : Role::kForeignNode;
    }
    return Role::kAnonymous;
}

Result<void> to_result(const Decision& decision) {
    switch (decision.verdict) {
        case Verdict::kAllow:
            return {};
        case Verdict::kUnauthenticated:
            return Error{ErrorCode::kUnauthenticated, decision.reason, {}};
        case Verdict::kNotFound:
            return Error{ErrorCode::kNotFound, decision.reason, {}};
        case Verdict::kDenied:
            break;
    }
    return Error{ErrorCode::kDenied, decision.reason, {}};
}

Decision authorise(const PeerIdentity& subject, Action action, const Object& object, const Site& site) {
    const ActionRule* rule = find_rule(action);
    if (rule == nullptr || (rule->services & bit(site.service)) == 0)
        return denied("this service has no such operation");
    const std::string words = words_of(rule->operation_id), what = "'" + words + "'";

    const Role role = role_of(subject, site);
    if ((rule->roles & bit(role)) == 0) {
        if (role == Role::kAnonymous) return {Verdict::kUnauthenticated, why_anonymous(subject)};
        const bool is_peer = role == Role::kStrangerZone && site.service == ServiceKind::kZone;
        return denied((is_peer ? "organisation " + subject.name().organisation + " is not accepted here now; " : "") +
                      "only " + roles_text(rule->roles) + " may " + words);
    }
    if (is_proxy(subject) && rule->channel == Channel::kCertificate)
        return denied(what + " needs the certificate itself; a proxy is not enough");
    if (subject.via_limited_proxy() && rule->channel == Channel::kFullProxy)
        return denied(what + " is more than a limited proxy may do; make a full one");

    if (object.kind != rule->object) return denied(what + " is not about such an object");
    if (rule->ownership == Ownership::kOwn && !may_see(subject.name(), role, object, site))
        return {Verdict::kNotFound, "there is nothing of yours under this name; list what you have"};
    return {Verdict::kAllow, "allowed for " + std::string(to_string(role))};
}

}  // namespace zbs
