#include "services/zone_scheduler/http/peering_view_codec.hpp"

#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/peering_codec.hpp"

namespace zbs::codec {
namespace {

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
