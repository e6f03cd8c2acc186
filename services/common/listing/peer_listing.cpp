#include "services/common/listing/peer_listing.hpp"

#include <cstdio>

namespace zbs::listing {

using codec::Json;

namespace {

std::string said(const Json& json, const char* key) { return json.value(key, std::string{}); }

}  // namespace

Listing peers_of(const Json& answer) {
    Listing listing{"peers",
                    {"ZONE", "ORGANISATION", "THEY ACCEPT US", "WE ACCEPT THEM", {"ADDRESS", "url"}, "REASON"},
                    {},
                    answer.value("peers", Json::array())};
    for (const Json& peer : listing.items)
        listing.rows.push_back({said(peer, "zone"), said(peer, "organisation"), said(peer, "they_accept_us"),
                                said(peer, "we_accept_them"), said(peer, "url"), said(peer, "reason")});
    return listing;
}

Listing peerings_of(const Json& answer) {
    Listing listing{"peerings",
                    {"ORGANISATION",
                     "STATE",
                     {"TRUST", "trust.score"},
                     {"PROCESSORS NOW", "rights_now.processors"},
                     {"IN USE", "usage.processors"},
                     {"BUNDLE", "fingerprint"}},
                    {},
                    answer.value("peerings", Json::array())};
    for (const Json& peering : listing.items) {
        Cell trust = "-", now = "-", used = "-";
        if (peering.contains("trust")) {
            char score[16];
            std::snprintf(score, sizeof score, "%.3f", peering.at("trust").value("score", 0.0));
            trust = Cell(score, peering.at("trust").value("score", 0.0));
            now = peering.value("rights_now", Json::object()).value("processors", 0);
            used = peering.value("usage", Json::object()).value("processors", 0);
        }
        listing.rows.push_back(
            {said(peering, "organisation"), said(peering, "state"), trust, now, used, said(peering, "fingerprint")});
    }
    return listing;
}

}  // namespace zbs::listing
