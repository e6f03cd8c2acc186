#include "client/api/zone_view.hpp"

#include <gtest/gtest.h>

namespace zbs::client {
namespace {

using codec::Json;

Json parsed(const char* text) { return Json::parse(text); }

TEST(ZoneView, GivesAMachineWhatItsAgentMeasured) {
    const NodesView view = decode_nodes_view(parsed(R"({"zone": "a", "organisation": "org", "sharing": "slices",
        "nodes": [{"name": "m0", "processors": 4, "used": 1, "speed": 2.5}, {"name": "m1", "processors": 2, "used": 0}],
        "agents": [{"description": {"name": "m0", "cores": 2, "memory_bytes": 1024},
                    "available": {"next": 0.5, "error": 0.1, "values": [0.4, 0.6]}},
                   {"description": {"name": "of no machine", "cores": 8}}]})"));
    EXPECT_EQ(view.zone, "a");
    EXPECT_EQ(view.organisation, "org");
    EXPECT_EQ(view.sharing, "slices");
    ASSERT_EQ(view.machines.size(), 2U);
    const MachineView& m0 = view.machines[0];
    EXPECT_EQ(m0.name, "m0");
    EXPECT_EQ(m0.processors, 4);
    EXPECT_EQ(m0.used, 1);
    EXPECT_EQ(m0.speed, Json(2.5));
    ASSERT_TRUE(m0.agent && m0.agent->available);
    EXPECT_EQ(m0.agent->cores, 2);
    EXPECT_EQ(m0.agent->memory_bytes, 1024);
    EXPECT_EQ(m0.agent->available->next, 0.5);
    EXPECT_EQ(m0.agent->available->error, 0.1);
    EXPECT_EQ(m0.agent->available->values, (std::vector{0.4, 0.6}));
    EXPECT_EQ(m0.item.at("cores"), 2);
    EXPECT_EQ(m0.item.at("availability").at("next"), 0.5);
    EXPECT_FALSE(view.machines[1].agent);
    EXPECT_FALSE(view.machines[1].item.contains("cores"));
}

TEST(ZoneView, ReadsLinksToZonesAndBetweenMachines) {
    const LinksView view = decode_links_view(parsed(R"({"zone": "a",
        "links": [{"zone": "b", "source": "measured", "link": {"delay_s": 0.01, "bandwidth_Bps": 1e8}, "failures": 0,
                   "delay": {"next": 0.02, "values": []}, "measured_us": 7}, {"zone": "c"}],
        "machines": {"source": "assumed", "link": {"delay_s": 1e-6, "bandwidth_Bps": 1e9}, "pairs": 3,
                     "worst": [{"from": "m0", "to": "m1", "failures": 2, "bandwidth": {"next": 5}}]}})"));
    ASSERT_EQ(view.zones.size(), 2U);
    EXPECT_EQ(view.zones[0].zone, "b");
    EXPECT_EQ(view.zones[0].source, "measured");
    EXPECT_EQ(view.zones[0].planned.delay_s, 0.01);
    EXPECT_EQ(view.zones[0].planned.bandwidth_Bps, 1e8);
    EXPECT_EQ(view.zones[0].failures, 0);
    ASSERT_TRUE(view.zones[0].delay);
    EXPECT_EQ(view.zones[0].delay->next, 0.02);
    EXPECT_FALSE(view.zones[0].bandwidth);
    EXPECT_EQ(view.zones[0].measured, time_from_microseconds(7));
    EXPECT_FALSE(view.zones[1].failures);
    EXPECT_FALSE(view.zones[1].measured);
    EXPECT_EQ(view.source, "assumed");
    EXPECT_EQ(view.planned.bandwidth_Bps, 1e9);
    EXPECT_EQ(view.pairs, 3);
    ASSERT_EQ(view.worst.size(), 1U);
    EXPECT_EQ(view.worst[0].from, "m0");
    EXPECT_EQ(view.worst[0].to, "m1");
    EXPECT_EQ(view.worst[0].bandwidth->next, 5);
}

TEST(ZoneView, CountsApplicationsByState) {
    const CountsView view = decode_counts_view(parsed(R"({"counts": {"running": 2, "failed": 1, "odd": "x"},
        "ended_since_us": 9})"));
    EXPECT_EQ(view.of_state, (std::map<std::string, std::uint64_t>{{"failed", 1}, {"running", 2}}));
    EXPECT_EQ(view.ended_since, time_from_microseconds(9));
    const Json document = encode_top(parsed(R"({"zone": "a"})"), view, Json::array({1}), true);
    EXPECT_EQ(document.at("zone").at("zone"), "a");
    EXPECT_EQ(document.at("counts").at("running"), 2);
    EXPECT_EQ(document.at("truncated"), true);
    EXPECT_FALSE(encode_top(Json::object(), view, Json::array(), false).contains("truncated"));
}

TEST(ZoneView, TakesAnswersOfOtherReleases) {
    for (const char* text : {"null", "[]", "{}", R"({"nodes": 1, "links": {}, "agents": null, "machines": []})",
                             R"({"nodes": [1, "x", null], "agents": [[], {"description": 3}], "links": ["x"]})"}) {
        EXPECT_EQ(decode_nodes_view(parsed(text)).zone, "") << text;
        EXPECT_EQ(decode_links_view(parsed(text)).pairs, 0) << text;
        EXPECT_EQ(decode_self_view(parsed(text)).name, "") << text;
        EXPECT_EQ(decode_contract_version(parsed(text)), "") << text;
        EXPECT_TRUE(decode_counts_view(parsed(text)).of_state.empty()) << text;
    }
}

TEST(ZoneView, ItemsOfTheListHaveTheSumsOfTheHomeZoneAndTheStateOfOthers) {
    const NodesView home = decode_nodes_view(parsed(R"({"zone": "a", "organisation": "org",
        "nodes": [{"name": "m0", "processors": 4, "used": 1}, {"name": "m1", "processors": 2, "used": 2}]})"));
    const Json item = encode_home_zone(home, "https://a:1", "draining");
    EXPECT_EQ(item.at("processors"), 6);
    EXPECT_EQ(item.at("used"), 3);
    EXPECT_EQ(item.at("condition").at("state"), "draining");
    codec::PeerView other{.zone = "b", .outbound = "requested"};
    EXPECT_FALSE(is_usable(other));
    EXPECT_EQ(encode_other_zone(other).at("usable"), false);
    EXPECT_EQ(encode_other_zone(other).at("condition"), Json::object());
    other.outbound = "accepted";
    EXPECT_TRUE(is_usable(other));
}

}  // namespace
}  // namespace zbs::client
