#include "services/zone_scheduler/sensors/link_sensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;

/// Zone a measures its links to b and c. Answers take half a millisecond to eleven, and what a test adds.
struct LinkSensorTest : testing::Test {
    FederationWorld world{{4, 4, 4}};
    FederationWorld::Node& home = world.node("a");
    LinkSensor sensor{
        home.config, *home.clock, *home.transport,
        [] {
            std::vector<ServiceAddress> others;
            for (const char* zone : {"b", "c"})
                others.push_back({zone, {CallerKind::kZone, OrganisationName(std::string("org-") + zone), zone}});
            return others;
        },
        home.log};

    void add_delay(const std::string& zone, Duration delay) {
        world.answer_delay = [zone, delay](const std::string& from, const std::string& what) {
            return from == zone && what == "probe" ? delay : Duration{0};
        };
    }
    LinkView view(const std::string& zone) {
        for (const LinkView& link : sensor.links())
            if (link.zone == zone) return link;
        return {};
    }
};

TEST_F(LinkSensorTest, NothingIsKnownBeforeTheFirstProbe) {
    EXPECT_TRUE(sensor.links().empty());
    EXPECT_EQ(sensor.link_to("b"), home.config.default_link);
}

TEST_F(LinkSensorTest, SlowZoneHasALongerDelayAndLessBandwidth) {
    add_delay("b", 80ms);
    sensor.start();
    world.run(10min);
    const Link b = sensor.link_to("b"), c = sensor.link_to("c");
    EXPECT_GT(b.delay_s, 0.040);
    EXPECT_LT(b.delay_s, 0.046);
    EXPECT_LT(c.delay_s, 0.006);
    EXPECT_GT(c.delay_s, 0.0004);
    EXPECT_EQ(view("b").source, LinkView::Source::kMeasured);
    EXPECT_GE(view("b").delay_s->values.size(), 9U);
    EXPECT_TRUE(view("b").delay_s->error);
}

TEST_F(LinkSensorTest, WhatTheOperatorDeclaresCountsMore) {
    home.config.links = {{"b", {0.5, 1e3}}};
    sensor.start();
    world.run(5min);
    EXPECT_EQ(sensor.link_to("b"), (Link{0.5, 1e3}));
    EXPECT_EQ(view("b").source, LinkView::Source::kDeclared);
    EXPECT_TRUE(view("b").delay_s) << "it is measured nevertheless";
}

TEST_F(LinkSensorTest, ChangeOfTheLinkIsFollowed) {
    sensor.start();
    world.run(20min);
    EXPECT_LT(sensor.link_to("b").delay_s, 0.006);
    add_delay("b", 200ms);
    world.run(60min);
    EXPECT_GT(sensor.link_to("b").delay_s, 0.09);
}

TEST_F(LinkSensorTest, ZoneThatIsAwayKeepsItsLastForecastAndStopsNobody) {
    sensor.start();
    world.run(5min);
    const Link before = sensor.link_to("b");
    world.crash("b");
    const std::size_t known = view("c").delay_s->values.size();
    world.run(10min);
    EXPECT_EQ(sensor.link_to("b"), before);
    EXPECT_GE(view("b").failures, 3);
    EXPECT_GE(view("c").delay_s->values.size(), known + 5);
    world.restart("b");
    world.run(3min);
    EXPECT_EQ(view("b").failures, 0);
}

TEST_F(LinkSensorTest, ZoneThatNeverAnsweredIsAssumed) {
    world.crash("b");
    sensor.start();
    world.run(5min);
    EXPECT_EQ(view("b").source, LinkView::Source::kAssumed);
    EXPECT_EQ(sensor.link_to("b"), home.config.default_link);
    EXPECT_FALSE(view("b").delay_s);
}

TEST_F(LinkSensorTest, KeepsNoMoreThanItShows) {
    sensor.start();
    world.run(3h);
    EXPECT_EQ(view("b").delay_s->values.size(), LinkSensor::kKept);
}

TEST_F(LinkSensorTest, NeverWhereItIsSwitchedOff) {
    home.config.probe_every = 0s;
    int probes = 0;
    world.on_message = [&](const std::string&, const std::string&, const char* what) {
        probes += what == std::string("probe");
    };
    sensor.start();
    world.run(1h);
    EXPECT_EQ(probes, 0);
}

}  // namespace
}  // namespace zbs::test
