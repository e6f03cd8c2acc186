#include "services/registry/http/registry_routes.hpp"

#include "services/common/authorisation/authorisation.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/common/codec/site_codec.hpp"
#include "services/common/http/parameters.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/limits.hpp"
#include "services/registry/http/operator_codec.hpp"

namespace zbs {
namespace {

using http::Body;
using http::Reply;
using http::Request;
using http::Respond;

constexpr std::string_view kEnrolments = "/v1/enrolments/";
constexpr std::string_view kOrganisations = "/v1/organisations/";

Reply lease_reply(const Result<ZoneLease>& lease) {
    return http::reply(lease, [](const ZoneLease& l) { return codec::encode(l); });
}

/// An answer that comes later.
Registry::Respond<ZoneLease> answer_with(Respond respond) {
    return [respond = std::move(respond)](const Result<ZoneLease>& lease) {
        if (!lease) return respond(http::problem(lease.error()));
        respond(http::created("/v1/zones/" + lease->zone, codec::encode(*lease)));
    };
}

void offer(const Request& request, Registry& registry, bool newcomer, Respond respond) {
    const Result<codec::EntryOffer> offered = codec::decode_entry_offer(request.json);
    if (!offered) return respond(http::problem(offered.error()));
    if (newcomer == offered->code.empty()) {
        return respond(http::problem(
            invalid(newcomer ? "is needed: the code from the registry's operator" : "is for newcomers only", "/code")));
    }
    if (newcomer) return registry.enrol(offered->code, offered->entry, answer_with(std::move(respond)));
    registry.publish(request.call.caller(), offered->entry, answer_with(std::move(respond)));
}

Reply list_zones(const Request& request, const Registry& registry) {
    const http::Call& call = request.call;
    if (auto good = http::check_parameters(call, {"category", "interface", "after", "limit", "leases"}); !good)
        return http::problem(good.error());
    const auto interface = http::number_parameter(call, "interface", 0);
    if (!interface || *interface > 1'000 || (*interface == 0 && call.query.contains("interface")))
        return http::problem(invalid("must be a version number >= 1", "interface"));
    const auto limit = http::number_parameter(call, "limit", limits::kMaxZonesPerPage);
    if (!limit || *limit < 1 || *limit > limits::kMaxZonesPerPage)
        return http::problem(invalid("must be from 1 to " + std::to_string(limits::kMaxZonesPerPage), "limit"));
    const ZoneName after(http::text_parameter(call, "after", ""));
    if (!after.empty() && !is_valid_name(after)) return http::problem(invalid("must be the name of a zone", "after"));
    const std::string leases = http::text_parameter(call, "leases", "false");
    if (leases != "true" && leases != "false") return http::problem(invalid("must be true or false", "leases"));
    return http::ok(codec::encode(registry.list({.category = http::text_parameter(call, "category", ""),
                                                 .interface_version = static_cast<int>(*interface),
                                                 .after = after,
                                                 .limit = *limit,
                                                 .leases = leases == "true"})));
}

Reply list_enrolments(const RegistryServices& services) {
    const std::vector<Registry::Enrolment> zones = services.registry.enrolments();
    std::map<OrganisationName, int> count;
    for (const Registry::Enrolment& enrolment : zones) ++count[enrolment.zone.organisation];
    std::vector<codec::OrganisationRow> organisations;
    for (const OrganisationName& organisation : services.registry.organisations()) {
        const Result<std::string> fingerprint = services.trust.fingerprint(*services.trust.bundle(organisation));
        if (!fingerprint) return http::problem(fingerprint.error());
        organisations.push_back({organisation, *fingerprint, count[organisation]});
    }
    return http::ok(codec::encode_enrolments(zones, organisations));
}

/// Who may come here, and the record of what was decided: for the operator.
void add_operator_routes(http::Router& router, RegistryServices& services) {
    router.add_sync("GET", "/v1/enrolments", Action::kListEnrolments, Body::kNone,
                    [&services](const Request&) { return list_enrolments(services); });
    router.add_sync("DELETE", "/v1/enrolments/{zone}", Action::kRemoveEnrolment, Body::kNone,
                    [&services](const Request& request) {
                        const ZoneName zone(request.call.parameters.at("zone"));
                        const Result<void> gone = services.registry.remove_zone(zone);
                        if (!gone) return http::problem(gone.error());
                        return http::ok(codec::encode_removed_zones({zone}));
                    });
    router.add_sync("DELETE", "/v1/organisations/{organisation}", Action::kRemoveOrganisation, Body::kNone,
                    [&services](const Request& request) {
                        return http::reply(services.registry.remove_organisation(
                                               OrganisationName(request.call.parameters.at("organisation"))),
                                           codec::encode_removed_zones);
                    });
    router.add_sync("GET", "/metrics", Action::kGetMetrics, Body::kNone, [&services](const Request& request) {
        const metrics::TextFormat format = metrics::choose_format(request.call.accept);
        return Reply{200, metrics::content_type(format), services.metrics_text(format), {}};
    });
    router.add_sync("GET", "/v1/audit", Action::kReadAudit, Body::kNone,
                    [&services](const Request& request) { return http::audit_reply(request.call, services.audit); });
}

}  // namespace

http::Router make_registry_routes(RegistryServices& services, http::RouterHooks hooks) {
    http::Router router(std::move(hooks));
    Registry& registry = services.registry;
    add_operator_routes(router, services);
    router.add_sync("POST", "/v1/enrolment-tokens", Action::kCreateEnrolmentToken, Body::kJson,
                    [&registry](const Request& request) {
                        const Result<codec::NewToken> wanted = codec::decode_new_token(request.json);
                        if (!wanted) return http::problem(wanted.error());
                        const auto made = registry.invite(wanted->organisation, wanted->lifetime);
                        if (!made) return http::problem(made.error());
                        return Reply{201, "application/json", codec::dump(codec::encode(*made)), {}};
                    });
    router.add(
        "POST", "/v1/enrolments", Action::kEnrolZone, Body::kJson,
        [&registry](const Request& request, Respond respond) { offer(request, registry, true, std::move(respond)); });
    router.add(
        "POST", "/v1/zones", Action::kPublishZone, Body::kJson,
        [&registry](const Request& request, Respond respond) { offer(request, registry, false, std::move(respond)); });
    router.add_sync("GET", "/v1/zones", Action::kListZones, Body::kNone,
                    [&registry](const Request& request) { return list_zones(request, registry); });
    router.add_sync("PUT", "/v1/zones/{zone}", Action::kRenewZone, Body::kNone, [&registry](const Request& request) {
        return lease_reply(registry.renew(ZoneName(request.call.parameters.at("zone"))));
    });
    router.add_sync("DELETE", "/v1/zones/{zone}", Action::kLeaveZone, Body::kNone, [&registry](const Request& request) {
        return lease_reply(registry.leave(ZoneName(request.call.parameters.at("zone"))));
    });
    router.add_sync("GET", "/v1/trust", Action::kGetTrust, Body::kNone, [&services](const Request&) {
        const RegistryConfig& config = services.config;
        return http::ok(
            codec::encode(TrustStatement{.organisation = config.organisation,
                                         .name = to_uri({CallerKind::kRegistry, config.organisation, config.name}),
                                         .bundle = config.bundle}));
    });
    router.add_sync("GET", "/v1/whoami", Action::kWhoAmI, Body::kNone, [&services](const Request& request) {
        const PeerIdentity& peer = request.call.peer;
        return http::ok(codec::encode(codec::WhoAmIInRegistry{
            codec::who_is(peer), services.registry.is_enrolled(peer.name()),
            to_uri({CallerKind::kRegistry, services.config.organisation, services.config.name})}));
    });
    http::add_health_and_contract(router, services.contract);
    return router;
}

Result<void> check_registry_call(const RegistryServices& services, http::DecisionLog& decisions, Action action,
                                 const http::Call& call) {
    if (action == Action::kGetMetrics && services.has_public_metrics) return {};
    if (http::comes_from_elsewhere(call)) {
        decisions.refuse(action, call, "denied", "a page of " + call.origin);
        return Error{ErrorCode::kDenied, "a page of another site asked your browser to do this", {}};
    }
    const bool enrolled = services.registry.is_enrolled(call.caller());
    Object object;
    if (action == Action::kPublishZone) object = {ObjectKind::kZoneEntry, call.caller(), {}};  // the entry is checked
    if (action == Action::kRenewZone || action == Action::kLeaveZone) {
        const auto owner = services.registry.owner_of(ZoneName(call.parameters.at("zone")));
        object = {ObjectKind::kZoneEntry, owner.value_or(Caller{}), {}};
    }
    const Decision decision = authorise(call.peer, action, object,
                                        {.service = ServiceKind::kRegistry,
                                         .organisation = services.config.organisation,
                                         .name = services.config.name,
                                         .accepts_subject = enrolled});
    if (!decision) {
        decisions.refuse(action, call, to_string(decision.verdict), decision.reason);
        return to_result(decision);
    }
    return decisions.allow(action, call);
}

std::optional<RemovedFromRegistry> removal_of(const AuditEntry& entry, const OrganisationName& own_organisation) {
    if (entry.decision != "allow") return std::nullopt;
    const auto named = [&entry](Action action, std::string_view place) -> std::string {
        if (entry.action != to_string(action) || !entry.object.starts_with(place)) return {};
        return entry.object.substr(place.size(), entry.object.find('?') - place.size());
    };
    RemovedFromRegistry removed{ZoneName(named(Action::kRemoveEnrolment, kEnrolments)),
                                OrganisationName(named(Action::kRemoveOrganisation, kOrganisations))};
    if (removed == RemovedFromRegistry{} || removed.organisation == own_organisation) return std::nullopt;
    return removed;
}

}  // namespace zbs
