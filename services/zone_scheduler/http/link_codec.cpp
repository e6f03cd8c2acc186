#include "services/zone_scheduler/http/link_codec.hpp"

namespace zbs::codec {
namespace {

Json encode_link(const Link& link) { return {{"delay_s", link.delay_s}, {"bandwidth_Bps", link.bandwidth_Bps}}; }

/// The members that a link to a zone and one between machines have in common.
template <class View>
Json encode_measured(const View& view) {
    Json json = {{"failures", view.failures}};
    if (view.delay_s) json["delay"] = encode(*view.delay_s);
    if (view.bandwidth_Bps) json["bandwidth"] = encode(*view.bandwidth_Bps);
    if (view.measured) json["measured_us"] = to_microseconds(*view.measured);
    return json;
}

Json encode_row(const LinkView& view) {
    Json json = encode_measured(view);
    json["zone"] = view.zone;
    json["link"] = encode_link(view.link);
    json["source"] = to_string(view.source);
    return json;
}

Json encode_row(const NodeLinkView& view) {
    Json json = encode_measured(view);
    json["from"] = view.from;
    json["to"] = view.to;
    return json;
}

Json encode_machines(const NodeLinkSensor& links) {
    Json pairs = Json::array();
    for (const NodeLinkView& view : links.worst()) pairs.push_back(encode_row(view));
    return {{"link", encode_link(links.within_zone())},
            {"source", to_string(links.source())},
            {"pairs", links.pairs()},
            {"worst", std::move(pairs)}};
}

}  // namespace

Json encode(const SeriesView& series) {
    Json json = {{"next", series.next}, {"forecaster", series.forecaster}, {"values", series.values}};
    if (series.error) json["error"] = *series.error;
    return json;
}

Json encode_links(const ZoneName& zone, const std::vector<LinkView>& links, const NodeLinkSensor& machines) {
    Json rows = Json::array();
    for (const LinkView& link : links) rows.push_back(encode_row(link));
    return {{"zone", zone}, {"links", std::move(rows)}, {"machines", encode_machines(machines)}};
}

}  // namespace zbs::codec
