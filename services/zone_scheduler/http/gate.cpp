#include "services/zone_scheduler/http/gate.hpp"

#include <optional>

#include "services/common/authorisation/authorisation.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/http/reply.hpp"

namespace zbs {
namespace {

/// Whether anybody may do it.
bool is_public(const ActionRule& rule) { return rule.roles == (1U << kRoleCount) - 1; }

std::string parameter(const http::Call& call, const char* name) {
    const auto at = call.parameters.find(name);
    return at == call.parameters.end() ? std::string{} : at->second;
}

/// The object with the id of the call; `owner_of` finds its owner.
template <class Id, class OwnerOf>
Result<Object> object_with_id(ObjectKind kind, const http::Call& call, const OwnerOf& owner_of) {
    const auto id = codec::decode_id<Id>(parameter(call, "id"), "id");
    if (!id) return id.error();
    const Result<std::optional<Caller>> owner = owner_of(*id);
    if (!owner) return owner.error();
    return Object{kind, owner->value_or(Caller{}), {}};
}

/// What a call is about; the error is of an id that is none.
Result<Object> object_of(ObjectKind kind, const http::Call& call, const ZoneServices& services) {
    switch (kind) {
        case ObjectKind::kApplication:
            return object_with_id<ApplicationId>(
                kind, call, [&](const ApplicationId& id) { return services.applications.owner_of(id); });
        case ObjectKind::kProfile:
            return object_with_id<ProfileId>(kind, call,
                                             [&](const ProfileId& id) { return services.store.profile_owner(id); });
        case ObjectKind::kPart:
            return object_with_id<PartId>(kind, call,
                                          [&](const PartId& id) { return services.parts.of(id).home_of(id); });
        case ObjectKind::kDelegation:
            return object_with_id<DelegationId>(
                kind, call, [&](const DelegationId& id) { return services.delegations.owner_of(id); });
        case ObjectKind::kPeering:
            return Object{kind, {CallerKind::kZone, OrganisationName(parameter(call, "organisation")), {}}, {}};
        case ObjectKind::kNode:
            return Object{kind, {CallerKind::kNode, services.config.organisation, parameter(call, "name")}, {}};
        case ObjectKind::kUser:
            return Object{kind, {CallerKind::kUser, services.config.organisation, parameter(call, "name")}, {}};
        case ObjectKind::kZoneEntry:
        case ObjectKind::kService:
            break;
    }
    return Object{};
}

}  // namespace

ZoneGate::ZoneGate(ZoneServices& services, http::DecisionLog& decisions) : services_(services), decisions_(decisions) {}

Result<void> ZoneGate::check(Action action, const http::Call& call) {
    const ActionRule& rule = *find_rule(action);
    if (is_public(rule) || (action == Action::kGetMetrics && services_.config.public_metrics)) return {};
    if (http::comes_from_elsewhere(call)) {
        decisions_.refuse(action, call, "denied", "a page of " + call.origin);
        return Error{
            ErrorCode::kDenied, "a page of another site asked your browser to do this; use the zone's own", {}};
    }
    if (services_.membership.is_blocked(call.peer)) {
        decisions_.refuse(action, call, "blocked", {});
        return Error{ErrorCode::kDenied,
                     to_uri(call.caller()) + " may do nothing at zone " + services_.config.zone.name +
                         ": it was revoked or blocked; ask " + services_.config.contact,
                     {}};
    }
    const Result<Object> object = object_of(rule.object, call, services_);
    const bool bad_id = !object && object.error().code == ErrorCode::kInvalidArgument;
    if (!object && !bad_id) return object.error();
    const Site site{.service = ServiceKind::kZone,
                    .organisation = services_.config.organisation,
                    .name = services_.config.zone.name,
                    .accepts_subject = services_.peerings.accepts(call.caller())};
    const Decision decision = authorise(call.peer, action, object ? *object : Object{}, site);
    // An invalid id is reported to everybody alike: it reveals nothing about any object.
    if (bad_id && decision.verdict != Decision::Verdict::kUnauthenticated) return object.error();
    if (!decision) {
        decisions_.refuse(action, call, to_string(decision.verdict), decision.reason);
        return to_result(decision);
    }
    // A node that says again that it is there: what let it in is on record.
    if (action == Action::kRegisterNode && services_.nodes.is_live(MachineName(call.caller().name))) return {};
    return decisions_.allow(action, call);
}

}  // namespace zbs
