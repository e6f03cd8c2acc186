#include "services/zone_scheduler/program/commands/peer_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/codec/peering_codec.hpp"

namespace zbs::test {
namespace {
using codec::Json;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kNoon = 1'780'315'200'000'000;  // 2026-06-01 12:00 UTC

Json peering() {
    const RightsRange rights{
        .floor = {1, std::chrono::minutes{90}, 1},
        .ceiling = {.processors = 8, .walltime = std::chrono::hours{24}, .concurrent_parts = 4, .share = 0.5}};
    return {{"organisation", "org-b"},
            {"state", "accepted"},
            {"fingerprint", "sha256:12"},
            {"zones", {{{"name", "b"}, {"url", "https://b:1"}, {"seen_us", kNoon}}}},
            {"requested_us", kNoon},
            {"changed_us", kNoon + 1'000'000},
            {"by", "spiffe://org-a/operator/ana"},
            {"reason", ""},
            {"rights", codec::encode(rights)},
            {"rights_now", codec::encode(rights.ceiling)},
            {"usage", {{"processors", 1}, {"parts", 1}}},
            {"trust",
             {{"score", 0.5},
              {"initial", 0.5},
              {"reasons", {{{"event", "hold_kept"}, {"count", 1}, {"weight", 1.0}, {"effect", 0.024}}}}}},
            {"last_events", {{{"at_us", kNoon}, {"event", "hold_kept"}}}}};
}

TEST(PeerText, NumbersHaveUnitsAndInstantsAreUtc) {
    const std::string text = zone_program::peerings_text({{"peerings", {peering()}}});
    for (const char* line :
         {"8 processors at once, 24 h each part, 4 parts at once", "1 h 30 min each part, 1 part at once",
          "50 % of the zone's processors", "seen 2026-06-01T12:00:00Z",
          "settled by\tspiffe://org-a/operator/ana\t2026-06-01T12:00:01Z", "event\t2026-06-01T12:00:00Z\thold_kept",
          "0.500 of 1", "1 time ever\t+1.000 points left\t+0.024 of the trust", "1 processor, 1 part"})
        EXPECT_THAT(text, HasSubstr(line));
    EXPECT_THAT(text, Not(HasSubstr("17803152"))) << "an instant as a number";
}

TEST(PeerText, ADirectionThatNobodyAskedForIsNone) {
    const Json peer = {{"zone", "b"},  {"organisation", "org-b"}, {"outbound", "accepted"}, {"inbound", "none"},
                       {"reason", ""}, {"last_heard_us", 0}};
    EXPECT_THAT(zone_program::peerings_text({{"peers", {peer}}}),
                HasSubstr("takes ours: accepted\twe take its: none\theard -"));
    Json other = peer;
    other["outbound"] = "none";
    EXPECT_THAT(zone_program::peer_list_text({{"peers", {other}}}, "table"),
                HasSubstr("\nb     org-b         -      -    none "));
}

TEST(PeerText, NamesOfOthersCannotDriveATerminal) {
    Json bad = peering();
    bad["reason"] = "\x1b[2J";
    EXPECT_THAT(zone_program::peerings_text({{"peerings", {bad}}}), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace zbs::test
