#include "services/registry/http/registry_routes.hpp"

#include <charconv>

#include "services/common/codec/message_codec.hpp"

namespace zbs {
namespace {

using http::Body;
using http::Reply;
using http::Request;

Reply entry_reply(const Result<ZoneEntry>& entry) {
    return http::reply(entry, [](const ZoneEntry& e) { return codec::encode(e); });
}

Reply list_zones(const Request& request, const Registry& registry) {
    ZoneQuery query;
    for (const auto& [key, value] : request.call.query) {
        if (key == "category") {
            query.category = value;
        } else if (key == "interface") {
            const auto read = std::from_chars(value.data(), value.data() + value.size(), query.interface_version);
            if (read.ec != std::errc{} || read.ptr != value.data() + value.size() || query.interface_version < 1)
                return http::problem(invalid("must be a version number >= 1", "interface"));
        } else {
            return http::problem(invalid("is not a parameter of this call", key));
        }
    }
    return http::ok(codec::encode(registry.list(query)));
}

}  // namespace

http::Router make_registry_routes(Registry& registry, std::string contract) {
    http::Router router;
    router.add_sync("POST", "/v1/zones", Action::kPublishZone, Body::kJson, [&registry](const Request& request) {
        const Result<ZoneEntry> entry = codec::decode_zone_entry(request.json);
        if (!entry) return http::problem(entry.error());
        const Result<ZoneEntry> granted = registry.publish(request.call.caller(), *entry);
        if (!granted) return http::problem(granted.error());
        return http::created("/v1/zones/" + granted->name, codec::encode(*granted));
    });
    router.add_sync("GET", "/v1/zones", Action::kListZones, Body::kNone,
                    [&registry](const Request& request) { return list_zones(request, registry); });
    router.add_sync("PUT", "/v1/zones/{zone}", Action::kRenewZone, Body::kNone, [&registry](const Request& request) {
        return entry_reply(registry.renew(request.call.caller(), request.call.parameters.at("zone")));
    });
    router.add_sync("DELETE", "/v1/zones/{zone}", Action::kLeaveZone, Body::kNone, [&registry](const Request& request) {
        return entry_reply(registry.leave(request.call.caller(), request.call.parameters.at("zone")));
    });
    router.add_sync("GET", "/livez", Action::kGetLive, Body::kNone, [](const Request&) { return http::ok({{"status", "ok"}}); });
    router.add_sync("GET", "/readyz", Action::kGetReady, Body::kNone, [](const Request&) { return http::ok({{"status", "ok"}}); });
    router.add_sync("GET", "/openapi.json", Action::kGetContract, Body::kNone, [contract = std::move(contract)](const Request&) {
        return Reply{200, "application/json", contract, {}};
    });
    return router;
}

}  // namespace zbs
