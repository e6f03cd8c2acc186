#include "services/common/codec/json/json.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"

namespace zbs {
namespace {

using codec::Json;
using http::Body;
using http::Request;

Json encode(const Link& link) { return {{"delay_s", link.delay_s}, {"bandwidth_Bps", link.bandwidth_Bps}}; }

/// The members that a link to a zone and one between machines have in common.
template <class View>
Json encode_measured(const View& view) {
    Json json = {{"failures", view.failures}};
    if (view.delay_s) json["delay"] = encode_series(*view.delay_s);
    if (view.bandwidth_Bps) json["bandwidth"] = encode_series(*view.bandwidth_Bps);
    if (view.measured) json["measured_us"] = to_microseconds(*view.measured);
    return json;
}

Json encode(const LinkView& view) {
    Json json = encode_measured(view);
    json["zone"] = view.zone;
    json["link"] = encode(view.link);
    json["source"] = to_string(view.source);
    return json;
}

Json encode(const NodeLinkView& view) {
    Json json = encode_measured(view);
    json["from"] = view.from;
    json["to"] = view.to;
    return json;
}

Json encode(const NodeLinkSensor& links) {
    Json pairs = Json::array();
    for (const NodeLinkView& view : links.worst()) pairs.push_back(encode(view));
    return {{"link", encode(links.within_zone())},
            {"source", to_string(links.source())},
            {"pairs", links.pairs()},
            {"worst", std::move(pairs)}};
}

}  // namespace

Json encode_series(const SeriesView& series) {
    Json json = {{"next", series.next}, {"forecaster", series.forecaster}, {"values", series.values}};
    if (series.error) json["error"] = *series.error;
    return json;
}

void add_link_routes(http::Router& router, ZoneServices& services) {
    router.add_sync("GET", "/v1/links", Action::kListLinks, Body::kNone, [&services](const Request& request) {
        if (auto ok = check_insider(request, services); !ok) return http::problem(ok.error());
        Json rows = Json::array();
        for (const LinkView& link : services.links.links()) rows.push_back(encode(link));
        return http::ok({{"zone", services.config.zone.name},
                         {"links", std::move(rows)},
                         {"machines", encode(services.node_links)}});
    });
}

}  // namespace zbs
