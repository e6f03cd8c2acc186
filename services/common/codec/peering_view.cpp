#include "services/common/codec/peering_view.hpp"

#include "services/common/codec/json/reply_view.hpp"
#include "services/common/codec/peering_codec.hpp"

namespace zbs::codec {
namespace {

Time time_in(const ReplyView& view, const char* key) { return time_from_microseconds(view.integer(key)); }

AmountsView amounts_in(const ReplyView& rights) {
    return {rights.integer("processors"), rights.integer("concurrent_parts"), rights.number("walltime_s")};
}

PeeringView decode_peering_view(const Json& json) {
    const ReplyView row(json);
    PeeringView view;
    view.organisation = row.text("organisation");
    view.fingerprint = row.text("fingerprint");
    view.state = row.text("state");
    view.by = row.text("by");
    view.reason = row.text("reason");
    view.requested = time_in(row, "requested_us");
    view.changed = time_in(row, "changed_us");
    for (const Json& item : row.array("zones")) {
        const ReplyView zone(item);
        view.zones.push_back({zone.text("name"), zone.text("url"), time_in(zone, "seen_us")});
    }
    view.has_rights = row.has("trust");
    const ReplyView trust = row.object("trust"), rights = row.object("rights"), usage = row.object("usage");
    view.score = trust.number("score");
    view.initial_score = trust.number("initial");
    for (const Json& item : trust.array("reasons")) {
        const ReplyView reason(item);
        view.reasons.push_back(
            {reason.text("event"), reason.integer("count"), reason.number("weight"), reason.number("effect")});
    }
    view.now = amounts_in(row.object("rights_now"));
    view.floor = amounts_in(rights.object("floor"));
    view.ceiling = amounts_in(rights.object("ceiling"));
    if (const auto range = decode_rights_range(row.any("rights"))) view.rights = *range;
    view.used_processors = usage.integer("processors");
    view.used_parts = usage.integer("parts");
    for (const Json& item : row.array("last_events")) {
        const ReplyView event(item);
        view.last_events.push_back({time_in(event, "at_us"), event.text("event")});
    }
    view.item = json;
    return view;
}

}  // namespace

PeerView decode_peer_view(const Json& peer) {
    const ReplyView row(peer), condition = row.object("condition");
    PeerView view{row.text("zone"),
                  row.text("organisation"),
                  row.text("url"),
                  row.text("outbound"),
                  row.text("inbound"),
                  row.text("reason"),
                  condition.text("state"),
                  std::nullopt,
                  time_in(row, "last_heard_us"),
                  time_in(row, "leased_until_us"),
                  row.texts("categories"),
                  peer};
    if (condition.has("age_s")) view.age_s = condition.number("age_s");
    return view;
}

PeeringsView decode_peerings_view(const Json& answer) {
    const ReplyView all(answer);
    PeeringsView view{{}, {}, all.texts("notes")};
    for (const Json& peer : all.array("peers")) view.peers.push_back(decode_peer_view(peer));
    for (const Json& peering : all.array("peerings")) view.peerings.push_back(decode_peering_view(peering));
    return view;
}

}  // namespace zbs::codec
