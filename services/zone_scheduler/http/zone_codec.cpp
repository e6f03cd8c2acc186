#include "services/zone_scheduler/http/zone_codec.hpp"

#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/node_codec.hpp"
#include "services/common/codec/peering_codec.hpp"

namespace zbs::codec {
namespace {

Json encode_row(const QueueRow& row) {
    const PartRecord& part = row.part;
    Json places = Json::array();
    for (const RankPlace& place : part.status.assignment) places.push_back({place.machine, place.processor});
    Json json = {{"part", to_string(part.request.id)},
                 {"application", to_string(part.request.application)},
                 {"home", part.request.home},
                 {"ranks", part.request.ranks.size()},
                 {"state", to_string(part.status.state)},
                 {"walltime_s", to_seconds(part.request.walltime)},
                 {"places", std::move(places)}};
    if (part.starts_at) json["start_us"] = to_microseconds(*part.starts_at);
    if (!part.partition.empty()) json["partition"] = part.partition;
    if (row.slice) json["slice"] = *row.slice;
    if (row.outlook) json["queue"] = encode(*row.outlook);
    if (is_final(part.status.state)) json["end_us"] = to_microseconds(part.ended);
    return json;
}

Json encode_rows(const std::vector<QueueRow>& parts) {
    Json rows = Json::array();
    for (const QueueRow& part : parts) rows.push_back(encode_row(part));
    return rows;
}

Json encode_agent(const NodeDirectory::Node& node, bool has_address) {
    Json row = {{"live", node.is_live},
                {"seen_us", to_microseconds(node.seen)},
                {"description", encode(node.registration.description)},
                {"load", encode(node.registration.load)}};
    if (node.available) row["available"] = encode(*node.available);
    if (has_address) row["url"] = node.registration.url;
    return row;
}

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

Json encode_trust(const TrustScore& trust) {
    Json reasons = Json::array();
    for (const TrustReason& reason : trust.reasons) {
        reasons.push_back({{"event", to_string(reason.event)},
                           {"count", reason.count},
                           {"weight", reason.weight},
                           {"effect", reason.effect}});
    }
    return {{"score", trust.score}, {"initial", trust.initial}, {"reasons", std::move(reasons)}};
}

}  // namespace

Json encode(const ApplicationOutput::LogIndex& index) {
    Json files = Json::array();
    for (const ApplicationOutput::LogFile& file : index.files) {
        files.push_back({{"rank", file.rank < 0 ? "launcher" : std::to_string(file.rank)},
                         {"stream", file.error_stream ? "stderr" : "stdout"},
                         {"bytes", file.bytes}});
    }
    return {{"files", std::move(files)}, {"complete", index.complete}};
}

Json encode_assignment(const ApplicationId& id, const std::vector<RankRow>& rows,
                       const std::vector<TaskIndex>& rsl_order) {
    Json ranks = Json::array();
    for (const RankRow& row : rows) {
        ranks.push_back({{"rank", row.place.rank},
                         {"zone", row.zone},
                         {"machine", row.place.machine},
                         {"processor", row.place.processor}});
    }
    return {{"application", to_string(id)}, {"ranks", std::move(ranks)}, {"rsl_rank_order", rsl_order}};
}

Json encode(const NodeList& list) {
    Json rows = Json::array(), agents = Json::array();
    for (const ProcessorLedger::NodeView& node : list.nodes) {
        rows.push_back({{"name", node.machine.name},
                        {"processors", node.machine.processors},
                        {"used", node.used},
                        {"speed", node.machine.speed}});
    }
    for (const NodeDirectory::Node& agent : list.agents) agents.push_back(encode_agent(agent, list.has_addresses));
    Json json = {{"zone", list.zone},
                 {"organisation", list.organisation},
                 {"nodes", std::move(rows)},
                 {"agents", std::move(agents)},
                 {"categories", list.categories}};
    if (!list.sharing.empty()) {
        json["sharing"] = list.sharing;
        json["slices"] = list.slices;
    }
    return json;
}

Json encode_queue(const std::vector<QueueRow>& parts, const std::optional<std::vector<QueueRow>>& ended) {
    Json json = {{"parts", encode_rows(parts)}};
    if (ended) json["ended"] = encode_rows(*ended);
    return json;
}

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

Json encode_short(const std::vector<PeeringService::View>& peerings) {
    Json rows = Json::array();
    for (const PeeringService::View& view : peerings) {
        const PeeringRecord& record = view.record;
        Json zones = Json::array();
        for (const PeerZone& zone : record.zones) zones.push_back(zone.name);
        rows.push_back({{"organisation", record.organisation},
                        {"fingerprint", record.fingerprint},
                        {"state", to_string(record.state)},
                        {"zones", std::move(zones)}});
    }
    return rows;
}

Json encode_full(const std::vector<PeeringService::View>& peerings) {
    Json rows = Json::array();
    for (const PeeringService::View& view : peerings) {
        Json last = Json::array();
        for (const PeeringService::Event& event : view.last)
            last.push_back({{"at_us", to_microseconds(event.at)}, {"event", to_string(event.what)}});
        Json row = encode(view.record);
        row.erase("history");
        row.erase("bundle");
        row["trust"] = encode_trust(view.trust);
        row["rights_now"] = encode(view.now);
        row["usage"] = {{"processors", view.usage.processors}, {"parts", view.usage.parts}};
        row["last_events"] = std::move(last);
        rows.push_back(std::move(row));
    }
    return rows;
}

Json encode_organisation(const OrganisationName& organisation, Json peerings, const std::vector<Peer>& peers) {
    Json rows = Json::array();
    for (const Peer& peer : peers) rows.push_back(encode(peer));
    return {{"organisation", organisation}, {"peerings", std::move(peerings)}, {"peers", std::move(rows)}};
}

Json encode_changed(const OrganisationName& organisation, Json peerings, const std::vector<std::string>& notes) {
    Json answer = {{"organisation", organisation}, {"peerings", std::move(peerings)}};
    if (!notes.empty()) answer["notes"] = notes;
    return answer;
}

Json encode_forgotten(const OrganisationName& organisation) { return {{"organisation", organisation}}; }

}  // namespace zbs::codec
