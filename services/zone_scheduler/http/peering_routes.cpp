// Routes about peerings: zones ask, operators settle, users see how it stands.
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"

namespace zbs {
namespace {

using codec::Json;
using http::Body;
using http::Reply;
using http::Request;

/// What users of the own organisation see: that there is a peering, not what was granted.
Json encode_short(const PeeringRecord& record) {
    Json zones = Json::array();
    for (const PeerZone& zone : record.zones) zones.push_back(zone.name);
    return {{"organisation", record.organisation},
            {"fingerprint", record.fingerprint},
            {"state", to_string(record.state)},
            {"zones", std::move(zones)}};
}

Json encode_full(const PeeringService::View& view) {
    Json reasons = Json::array();
    for (const TrustReason& reason : view.trust.reasons) {
        reasons.push_back({{"event", to_string(reason.event)},
                           {"count", reason.count},
                           {"weight", reason.weight},
                           {"effect", reason.effect}});
    }
    Json last = Json::array();
    for (const PeeringService::Event& event : view.last)
        last.push_back({{"at_us", to_microseconds(event.at)}, {"event", to_string(event.what)}});
    Json json = codec::encode(view.record);
    json.erase("history");
    json.erase("bundle");
    json["trust"] = {{"score", view.trust.score}, {"initial", view.trust.initial}, {"reasons", std::move(reasons)}};
    json["rights_now"] = codec::encode(view.now);
    json["usage"] = {{"processors", view.usage.processors}, {"parts", view.usage.parts}};
    json["last_events"] = std::move(last);
    return json;
}

Json encode_for(const Request& request, const ZoneServices& services, const PeeringService::View& view) {
    const bool settles = request.call.caller().is_operator_of(services.config.organisation);
    return settles ? encode_full(view) : encode_short(view.record);
}

Json encode_all(const Request& request, const ZoneServices& services, const std::vector<PeeringService::View>& views) {
    Json rows = Json::array();
    for (const PeeringService::View& view : views) rows.push_back(encode_for(request, services, view));
    return rows;
}

Reply show(const Request& request, ZoneServices& services) {
    const std::string& organisation = request.call.parameters.at("organisation");
    const auto views = services.peerings.views(organisation);
    Json zones = Json::array();
    for (const Peer& peer : services.peers.peers()) {
        if (peer.organisation == organisation) zones.push_back(codec::encode(peer));
    }
    if (views.empty() && zones.empty()) {
        const bool is_operator = request.call.caller().is_operator_of(services.config.organisation);
        return http::problem({ErrorCode::kNotFound,
                              "organisation '" + organisation + "' is not known here; '" +
                                  (is_operator ? "zbs-zone" : "zbs") + " peer list' shows who is",
                              {}});
    }
    return http::ok({{"organisation", organisation},
                     {"peerings", encode_all(request, services, views)},
                     {"peers", std::move(zones)}});
}

Reply change(const Request& request, ZoneServices& services) {
    const std::string& organisation = request.call.parameters.at("organisation");
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
    Json answer = {{"organisation", organisation},
                   {"peerings", encode_all(request, services, services.peerings.views(organisation))}};
    if (std::vector<std::string> notes = services.peerings.notes(organisation); !notes.empty())
        answer["notes"] = std::move(notes);
    return http::ok(answer);
}

}  // namespace

void add_registry(codec::Json& answer, const ZoneServices& services) {
    const std::string& url = services.config.registry.url;
    if (url.empty()) return;
    const RegistrySession& registry = services.registry;
    Json& json = answer["registry"] = {{"url", url}, {"enrolled", registry.enrolled()}, {"reason", registry.fault()}};
    if (registry.clock_ahead() != Duration{0}) json["clock_ahead_s"] = to_seconds(registry.clock_ahead());
    if (const auto rival = registry.rival()) json["rival"] = codec::encode(*rival);
}

void add_peering_routes(http::Router& router, ZoneServices& services) {
    router.add_sync("POST", "/v1/peerings", Action::kRequestPeering, Body::kJson, [&services](const Request& request) {
        const Result<PeeringRequest> asked = codec::decode_peering_request(request.json);
        if (!asked) return http::problem(asked.error());
        return http::reply(services.peerings.request(request.call.caller(), *asked),
                           [](const PeeringAnswer& a) { return codec::encode(a); });
    });
    router.add_sync("GET", "/v1/peerings", Action::kListPeerings, Body::kNone, [&services](const Request& request) {
        Json rows = Json::array();
        for (const Peer& peer : services.peers.peers()) rows.push_back(codec::encode(peer));
        Json list = {{"peers", std::move(rows)},
                     {"peerings", encode_all(request, services, services.peerings.views())}};
        add_registry(list, services);
        return http::ok(std::move(list));
    });
    router.add_sync("GET", "/v1/peerings/{organisation}", Action::kGetPeering, Body::kNone,
                    [&services](const Request& request) { return show(request, services); });
    router.add_sync("PATCH", "/v1/peerings/{organisation}", Action::kChangePeering, Body::kJson,
                    [&services](const Request& request) { return change(request, services); });
    router.add_sync("DELETE", "/v1/peerings/{organisation}", Action::kRemovePeering, Body::kNone,
                    [&services](const Request& request) {
                        const std::string& organisation = request.call.parameters.at("organisation");
                        const Result<void> gone = services.peerings.remove(organisation);
                        return gone ? http::ok({{"organisation", organisation}}) : http::problem(gone.error());
                    });
}

}  // namespace zbs
