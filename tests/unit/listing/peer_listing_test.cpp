#include "services/common/listing/peer_listing.hpp"

#include <gtest/gtest.h>

namespace zbs::listing {
namespace {

using codec::Json;

TEST(PeerListing, TellsRightsAndTrustWhereTheServiceTellsThem) {
    const Json answer = {{"peerings",
                          {{{"organisation", "org-b"},
                            {"state", "accepted"},
                            {"fingerprint", "sha256:12"},
                            {"trust", {{"score", 0.5}}},
                            {"rights_now", {{"processors", 8}}},
                            {"usage", {{"processors", 3}}}},
                           {{"organisation", "org-c"}, {"state", "requested"}, {"fingerprint", "sha256:34"}}}}};
    EXPECT_EQ(written(peerings_of(answer), "table"),
              "ORGANISATION  STATE      TRUST  PROCESSORS NOW  IN USE  BUNDLE\n"
              "org-b         accepted   0.500  8               3       sha256:12\n"
              "org-c         requested  -      -               -       sha256:34\n");
    EXPECT_EQ(written(*chosen(peerings_of(answer), {.filters = {"rights_now.processors>=8"}}), "name"), "org-b\n");
    EXPECT_EQ(written(*chosen(peerings_of(answer), {.columns = {"usage.processors"}, .filters = {"trust.score<0.6"}}),
                      "jsonl"),
              "{\"usage.processors\":3}\n");
}

TEST(PeerListing, ZonesAreRowsAndAnAnswerWithoutThemIsAnEmptyList) {
    const Json answer = {
        {"peers", {{{"zone", "b"}, {"organisation", "org-b"}, {"outbound", "none"}, {"url", "https://b:1"}}}}};
    EXPECT_EQ(written(peers_of(answer), "csv"),
              "ZONE,ORGANISATION,STATE,AGE,OUTBOUND,INBOUND,ADDRESS,REASON,LAST HEARD,LEASED UNTIL\n"
              "b,org-b,,,none,,https://b:1,,,\n");
    const Json known = {
        {"peers", {{{"zone", "b"}, {"condition", {{"state", "draining"}, {"age_s", 3.4}, {"clock_ahead_s", 0}}}}}}};
    EXPECT_EQ(written(*chosen(peers_of(known), {.columns = {"zone", "condition.state", "condition.age_s"}}), "csv"),
              "ZONE,condition.state,condition.age_s\nb,draining,3.4\n");
    EXPECT_EQ(written(*chosen(peers_of(known), {.columns = {"zone", "state", "age"}}), "table"),
              "ZONE  STATE     AGE\nb     draining  3s\n");
    EXPECT_EQ(written(peers_of(Json::object()), "json"), "{\"version\":1,\"peers\":[]}\n");
    EXPECT_EQ(written(peerings_of(Json::object()), "name"), "");
}

}  // namespace
}  // namespace zbs::listing
