// Routes about peerings: zones ask, operators settle, users see how it stands.
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/zone_scheduler/http/zone_codec.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"

namespace zbs {
namespace {

using codec::Json;
using http::Body;
using http::Reply;
using http::Request;

/// What the caller is shown of each: an operator all, a user of the own organisation that there is a peering.
Json encode_all(const Request& request, const ZoneServices& services, const std::vector<PeeringService::View>& views) {
    return request.call.caller().is_operator_of(services.config.organisation) ? codec::encode_full(views)
                                                                              : codec::encode_short(views);
}

Reply show(const Request& request, ZoneServices& services) {
    const OrganisationName organisation(request.call.parameters.at("organisation"));
    const auto views = services.peerings.views(organisation);
    std::vector<Peer> zones = services.peers.peers();
    std::erase_if(zones, [&](const Peer& peer) { return peer.organisation != organisation; });
    if (views.empty() && zones.empty()) {
        const bool is_operator = request.call.caller().is_operator_of(services.config.organisation);
        return http::problem({ErrorCode::kNotFound,
                              "organisation '" + organisation + "' is not known here; '" +
                                  (is_operator ? "zbs-zone" : "zbs") + " peer list' shows who is",
                              {}});
    }
    return http::ok(codec::encode_organisation(organisation, encode_all(request, services, views), zones));
}

Reply change(const Request& request, ZoneServices& services) {
    const OrganisationName organisation(request.call.parameters.at("organisation"));
    const Result<PeeringChange> wanted = codec::decode_peering_change(request.json);
    if (!wanted) return http::problem(wanted.error());
    if (auto keys = services.membership.check_keys(); !keys) return http::problem(keys.error());
    if (wanted->verb == PeeringVerb::kAsk) {
        const Result<void> asked = services.peers.ask_organisation(organisation, wanted->fingerprint, wanted->bundle);
        if (!asked) return http::problem(asked.error());
    } else {
        const auto changed = services.peerings.change(organisation, *wanted, request.call.caller());
        if (!changed) return http::problem(changed.error());
    }
    return http::ok(codec::encode_changed(organisation,
                                          encode_all(request, services, services.peerings.views(organisation)),
                                          services.peerings.notes(organisation)));
}

}  // namespace

std::optional<codec::RegistryStanding> registry_standing(const ZoneServices& services) {
    const std::string& url = services.config.registry.url;
    if (url.empty()) return std::nullopt;
    const RegistrySession& registry = services.registry;
    return codec::RegistryStanding{url, registry.enrolled(), registry.fault(), registry.clock_ahead(),
                                   registry.rival()};
}

void add_peering_routes(http::Router& router, ZoneServices& services) {
    router.add_sync("POST", "/v1/peerings", Action::kRequestPeering, Body::kJson, [&services](const Request& request) {
        const Result<PeeringRequest> asked = codec::decode_peering_request(request.json);
        if (!asked) return http::problem(asked.error());
        return http::reply(services.peerings.request(request.call.caller(), *asked),
                           [](const PeeringAnswer& a) { return codec::encode(a); });
    });
    router.add_sync("GET", "/v1/peerings", Action::kListPeerings, Body::kNone, [&services](const Request& request) {
        return http::ok(codec::encode_peer_list(services.peers.peers(),
                                                encode_all(request, services, services.peerings.views()),
                                                registry_standing(services)));
    });
    router.add_sync("GET", "/v1/peerings/{organisation}", Action::kGetPeering, Body::kNone,
                    [&services](const Request& request) { return show(request, services); });
    router.add_sync("PATCH", "/v1/peerings/{organisation}", Action::kChangePeering, Body::kJson,
                    [&services](const Request& request) { return change(request, services); });
    router.add_sync("DELETE", "/v1/peerings/{organisation}", Action::kRemovePeering, Body::kNone,
                    [&services](const Request& request) {
                        const OrganisationName organisation(request.call.parameters.at("organisation"));
                        const Result<void> gone = services.peerings.remove(organisation);
                        return gone ? http::ok(codec::encode_forgotten(organisation)) : http::problem(gone.error());
                    });
}

}  // namespace zbs
