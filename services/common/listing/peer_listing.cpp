#include "services/common/listing/peer_listing.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>

#include "algorithms/base/duration_text.hpp"
#include "services/common/codec/json/audit_text.hpp"

namespace zbs::listing {

using codec::Json;

namespace {

std::string said(const Json& json, const char* key) { return json.value(key, std::string{}); }

/// "-" where the answer has none.
Cell moment(const Json& json, const char* key) {
    const std::int64_t at = json.value(key, std::int64_t{0});
    return at > 0 ? Cell(codec::utc_text(time_from_microseconds(at))) : Cell("-");
}

}  // namespace

Cell state_of(const Json& peer) { return peer.value("condition", Json::object()).value("state", std::string("-")); }

Cell age_of(const Json& peer) {
    const Json condition = peer.value("condition", Json::object());
    if (!condition.contains("age_s")) return "-";
    const double age_s = condition.value("age_s", 0.0);
    return {format_duration(std::chrono::seconds{std::llround(age_s)}), age_s};
}

Listing peers_of(const Json& answer) {
    Listing listing{"peers",
                    {"ZONE",
                     "ORGANISATION",
                     {"STATE", "condition.state"},
                     {"AGE", "condition.age_s"},
                     "THEY ACCEPT US",
                     "WE ACCEPT THEM",
                     {"ADDRESS", "url"},
                     "REASON",
                     {"LAST HEARD", "last_heard_us", true},
                     {"LEASED UNTIL", "leased_until_us", true}},
                    {},
                    answer.value("peers", Json::array())};
    for (const Json& peer : listing.items)
        listing.rows.push_back({said(peer, "zone"), said(peer, "organisation"), state_of(peer), age_of(peer),
                                said(peer, "they_accept_us"), said(peer, "we_accept_them"), said(peer, "url"),
                                said(peer, "reason"), moment(peer, "last_heard_us"), moment(peer, "leased_until_us")});
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
                    {},
                    answer.value("peerings", Json::array())};
    for (const Json& peering : listing.items) {
        Cell trust = "-", now = "-", used = "-", parts = "-", seconds = "-";
        if (peering.contains("trust")) {
            char score[16];
            std::snprintf(score, sizeof score, "%.3f", peering.at("trust").value("score", 0.0));
            trust = Cell(score, peering.at("trust").value("score", 0.0));
            const Json rights = peering.value("rights_now", Json::object());
            now = rights.value("processors", 0);
            parts = rights.value("concurrent_parts", 0);
            const double walltime_s = rights.value("walltime_s", 0.0);
            seconds = Cell(codec::dump(walltime_s), walltime_s);
            used = peering.value("usage", Json::object()).value("processors", 0);
        }
        listing.rows.push_back({said(peering, "organisation"), said(peering, "state"), trust, now, used,
                                said(peering, "fingerprint"), parts, seconds, moment(peering, "requested_us"),
                                moment(peering, "changed_us"), said(peering, "by"), said(peering, "reason")});
    }
    return listing;
}

}  // namespace zbs::listing
