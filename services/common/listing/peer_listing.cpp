#include "services/common/listing/peer_listing.hpp"

#include <cmath>

#include "algorithms/base/duration_text.hpp"
#include "algorithms/base/text.hpp"
#include "services/common/codec/records/audit_codec.hpp"

namespace zbs::listing {

using codec::Json;

namespace {

/// "-" where the answer has none.
Cell moment(Time at) { return at > Time{} ? Cell(codec::utc_text(at)) : Cell("-"); }

}  // namespace

Cell state_of(const codec::PeerView& peer) { return peer.state.empty() ? "-" : peer.state; }

Cell age_of(const codec::PeerView& peer) {
    if (!peer.age_s) return "-";
    return {format_duration(std::chrono::seconds{std::llround(*peer.age_s)}), *peer.age_s};
}

Listing peers_of(const Json& answer) {
    Listing listing{"peers",
                    {"ZONE",
                     "ORGANISATION",
                     {"STATE", "condition.state"},
                     {"AGE", "condition.age_s"},
                     "OUTBOUND",
                     "INBOUND",
                     {"ADDRESS", "url"},
                     "REASON",
                     {"LAST HEARD", "last_heard_us", true},
                     {"LEASED UNTIL", "leased_until_us", true}},
                    {}};
    for (const codec::PeerView& peer : codec::decode_peerings_view(answer).peers) {
        listing.items.push_back(peer.item);
        listing.rows.push_back({peer.zone, peer.organisation, state_of(peer), age_of(peer), peer.outbound, peer.inbound,
                                peer.url, peer.reason, moment(peer.last_heard), moment(peer.leased_until)});
    }
    return listing;
}

Listing peerings_of(const Json& answer) {
    Listing listing{"peerings",
                    {"ORGANISATION",
                     "STATE",
                     {"TRUST", "trust.score"},
                     {"PROCESSORS NOW", "rights_now.processors"},
                     {"IN USE", "usage.processors"},
                     {"BUNDLE", "fingerprint"},
                     {"PARTS NOW", "rights_now.concurrent_parts", true},
                     {"SECONDS NOW", "rights_now.walltime_s", true},
                     {"SINCE", "requested_us", true},
                     {"CHANGED", "changed_us", true},
                     {"BY", true},
                     {"REASON", true}},
                    {}};
    for (const codec::PeeringView& peering : codec::decode_peerings_view(answer).peerings) {
        Cell trust = "-", now = "-", used = "-", parts = "-", seconds = "-";
        if (peering.has_rights) {
            trust = Cell(number_text("%.3f", peering.score), peering.score);
            now = peering.now.processors;
            parts = peering.now.concurrent_parts;
            seconds = Cell(codec::dump(peering.now.walltime_s), peering.now.walltime_s);
            used = peering.used_processors;
        }
        listing.items.push_back(peering.item);
        listing.rows.push_back({peering.organisation, peering.state, trust, now, used, peering.fingerprint, parts,
                                seconds, moment(peering.requested), moment(peering.changed), peering.by,
                                peering.reason});
    }
    return listing;
}

}  // namespace zbs::listing
