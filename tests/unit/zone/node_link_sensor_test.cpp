#include "services/zone_scheduler/sensors/node_link_sensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {
namespace {
using namespace std::chrono_literals;

/// Agents whose answers take 5 ms. A round trip is 100 us, a transfer such that 1e8 bytes come in a second, unless a
/// test says something else.
struct NodeLinkSensorTest : testing::Test {
    using Pair = std::pair<std::string, std::string>;

    NodeLinkSensorTest() { config.probe_every = 60s; }
    void use_agents(int count) {
        agents.clear();
        for (int i = 0; i < count; ++i) {
            const MachineName name("n" + std::to_string(10 + i));
            agents.push_back({name, "https://" + name + ":1"});
        }
    }
    /// So many rounds; the first begins after 15 s.
    void run(int rounds) { clock.advance(rounds * 61s); }
    Result<ProbeReport> answer(const std::string& from, const ProbeRequest& to) {
        EXPECT_EQ(to.url, "https://" + to.node + ":1");
        if (dead.contains(to.node)) return Error{ErrorCode::kUnavailable, "no answer", {}};
        if (busy.contains(to.node)) return Error{ErrorCode::kTooManyRequests, "probed too often", {}};
        const Duration extra = varies ? Duration{40 * (asked.size() % 3)} : Duration{0};
        const Duration round_trip = (slow.contains({from, to.node}) ? Duration{9'000} : Duration{100}) + extra;
        return ProbeReport{to.node, round_trip, 524'288, round_trip + Duration{5'243},
                           sluggish == from ? overhead * 2 : overhead};
    }

    ZoneConfig config;
    VirtualClock clock;
    SilentLog log;
    std::vector<NodeLinkSensor::Agent> agents;
    std::set<std::string> dead, busy;
    bool varies = false;
    Duration overhead{0};
    std::string sluggish;  ///< its programs take twice as long
    Duration takes = 5ms;
    std::set<Pair> slow;
    std::vector<Pair> asked;
    int under_way = 0, most_under_way = 0;
    NodeLinkSensor sensor{config, clock, [this] { return agents; },
                          [this](const NodeLinkSensor::Agent& from, const ProbeRequest& to, auto respond) {
                              asked.emplace_back(from.name, to.node);
                              most_under_way = std::max(most_under_way, ++under_way);
                              clock.after(takes, [this, report = answer(from.name, to), respond] {
                                  --under_way;
                                  respond(report);
                              });
                          },
                          log};
};

TEST_F(NodeLinkSensorTest, AllPairsComeBeforeOneComesAgainAndOneProbeAtATime) {
    use_agents(5);
    sensor.start();
    run(4);
    EXPECT_EQ(asked.size(), 20U);
    EXPECT_EQ(std::set<Pair>(asked.begin(), asked.end()).size(), 20U);
    for (const auto& [from, to] : asked) EXPECT_NE(from, to);
    EXPECT_EQ(most_under_way, 1);
}

TEST_F(NodeLinkSensorTest, ForecastsAreJudgedHoweverManyAgentsThereAre) {
    varies = true;
    use_agents(2);
    sensor.start();
    for (const int count : {2, 7, 3}) {
        use_agents(count);
        run(8 * (count - 1));
        for (const NodeLinkView& view : sensor.worst()) {
            ASSERT_TRUE(view.delay_s);
            EXPECT_TRUE(view.delay_s->error) << count << " agents, " << view.from << " to " << view.to;
        }
    }
}

TEST_F(NodeLinkSensorTest, ForecastsAreJudgedWhereARoundTakesLongerThanItShould) {
    varies = true;
    takes = 8s;
    use_agents(20);
    sensor.start();
    clock.advance(19 * 8 * 161s);
    ASSERT_FALSE(sensor.worst().empty());
    for (const NodeLinkView& view : sensor.worst()) EXPECT_TRUE(view.delay_s->error) << view.from << " to " << view.to;
}

TEST_F(NodeLinkSensorTest, AMachineWhoseProgramsAreSlowIsNotNearer) {
    use_agents(2);
    overhead = Duration{60};  // of n10 120 of a round trip of 100: without the other side its way would be negative
    sluggish = "n10";
    sensor.start();
    run(6);
    ASSERT_EQ(sensor.worst().size(), 2U);
    for (const NodeLinkView& view : sensor.worst())
        EXPECT_NEAR(view.delay_s->values.back(), 5e-6, 1e-9) << view.from << " to " << view.to;
}

TEST_F(NodeLinkSensorTest, WhatWasMeasuredADayAgoCountsNoMore) {
    use_agents(2);
    sensor.start();
    run(2);
    busy = {"n10", "n11"};
    clock.advance(23h);
    EXPECT_EQ(sensor.source(), LinkView::Source::kMeasured);
    clock.advance(2h);
    EXPECT_EQ(sensor.source(), LinkView::Source::kAssumed);
}

TEST_F(NodeLinkSensorTest, WhoFailsIsToldOnceHoweverManyPairsAreForgotten) {
    use_agents(34);
    dead = {"n10"};
    sensor.start();
    run(33 * 3);
    EXPECT_EQ(log.count("node_probe_failed"), 33) << "each pair once";
    EXPECT_GT(34 * 33U, NodeLinkSensor::kMaxPairs);
}

TEST_F(NodeLinkSensorTest, TheLogOfPairsThatFailHasABound) {
    use_agents(40);
    for (const NodeLinkSensor::Agent& agent : agents) dead.insert(agent.name);
    sensor.start();
    run(39 * 2);
    EXPECT_EQ(log.count("node_probe_failed"), static_cast<int>(NodeLinkSensor::kMaxLogged));
}

TEST_F(NodeLinkSensorTest, WhatTheProgramsTakeIsNotTheWay) {
    use_agents(2);
    overhead = Duration{70};
    sensor.start();
    run(1);
    EXPECT_DOUBLE_EQ(sensor.within_zone().delay_s, 15e-6);
}

TEST_F(NodeLinkSensorTest, WhoIsBusyDoesNotFail) {
    use_agents(2);
    busy = {"n10", "n11"};
    sensor.start();
    run(3);
    EXPECT_EQ(sensor.failing(), 0);
    EXPECT_EQ(sensor.source(), LinkView::Source::kAssumed);
}

TEST_F(NodeLinkSensorTest, PairsThatFailDoNotCountWhileOthersAnswer) {
    use_agents(3);
    slow = {{"n10", "n11"}, {"n11", "n10"}, {"n12", "n11"}, {"n11", "n12"}};
    sensor.start();
    run(2);
    EXPECT_GT(sensor.within_zone().delay_s, 1e-3);
    dead = {"n11"};
    run(2);
    EXPECT_LT(sensor.within_zone().delay_s, 5e-3) << "nobody reaches n11";
    agents.erase(agents.begin() + 1);
    run(1);
    EXPECT_LT(sensor.within_zone().delay_s, 1e-3) << "n11 is gone: what it has measured counts no more";
}

TEST_F(NodeLinkSensorTest, BeforeTheFirstRoundItIsAssumed) {
    use_agents(3);
    EXPECT_EQ(sensor.within_zone(), config.zone.within_zone);
    EXPECT_EQ(sensor.source(), LinkView::Source::kAssumed);
}

TEST_F(NodeLinkSensorTest, TheMedianCountsNotOneSlowPair) {
    use_agents(3);
    slow = {{"n10", "n11"}, {"n11", "n10"}};
    sensor.start();
    run(8);
    EXPECT_EQ(sensor.source(), LinkView::Source::kMeasured);
    EXPECT_NEAR(sensor.within_zone().delay_s, 50e-6, 1e-9);
    EXPECT_NEAR(sensor.within_zone().bandwidth_Bps, 1e8, 1e5);
    ASSERT_EQ(sensor.worst().size(), 6U);
    EXPECT_EQ(sensor.worst()[0].from + sensor.worst()[0].to, "n10n11");
    EXPECT_NEAR(sensor.worst()[0].delay_s->next, 4.5e-3, 1e-6);
}

TEST_F(NodeLinkSensorTest, WhatTheOperatorDeclaresCountsMore) {
    config.zone.within_zone = {0.5, 1e3};
    config.declares_within_zone = true;
    use_agents(2);
    sensor.start();
    run(2);
    EXPECT_EQ(sensor.within_zone(), (Link{0.5, 1e3}));
    EXPECT_EQ(sensor.source(), LinkView::Source::kDeclared);
    EXPECT_EQ(sensor.pairs(), 2U) << "it is measured nevertheless";
}

TEST_F(NodeLinkSensorTest, AMachineThatDoesNotAnswerStopsNobodyAndKeepsItsForecast) {
    use_agents(3);
    sensor.start();
    run(2);
    const Link before = sensor.within_zone();
    dead = {"n12"};
    const std::size_t known = asked.size();
    run(4);
    EXPECT_EQ(asked.size(), known + 12);
    EXPECT_EQ(sensor.failing(), 2);
    EXPECT_EQ(sensor.worst()[0].to, "n12");
    EXPECT_EQ(sensor.worst()[0].failures, 2);
    EXPECT_EQ(log.count("node_probe_failed"), 2) << "once a pair";
    EXPECT_EQ(sensor.within_zone(), before);
    dead.clear();
    run(2);
    EXPECT_EQ(sensor.failing(), 0);
}

TEST_F(NodeLinkSensorTest, KeepsNoMorePairsThanItsBound) {
    use_agents(40);
    sensor.start();
    run(39);
    EXPECT_GE(asked.size(), 40 * 39U);
    EXPECT_EQ(sensor.pairs(), NodeLinkSensor::kMaxPairs);
    EXPECT_EQ(sensor.worst().size(), NodeLinkSensor::kMaxShown);
}

TEST_F(NodeLinkSensorTest, PairsOfMachinesThatAreGoneAreForgottenAfterADay) {
    use_agents(3);
    sensor.start();
    run(2);
    EXPECT_EQ(sensor.pairs(), 6U);
    agents.pop_back();
    clock.advance(23h);
    EXPECT_EQ(sensor.pairs(), 6U);
    clock.advance(2h);
    EXPECT_EQ(sensor.pairs(), 2U);
}

TEST_F(NodeLinkSensorTest, OneAgentAloneHasNobodyToProbe) {
    use_agents(1);
    sensor.start();
    run(3);
    EXPECT_TRUE(asked.empty());
    use_agents(2);
    run(1);
    EXPECT_EQ(asked.size(), 2U) << "and goes on once there is another";
}

TEST_F(NodeLinkSensorTest, NeverWhereItIsSwitchedOff) {
    config.probe_every = 0s;
    use_agents(3);
    sensor.start();
    run(60);
    EXPECT_TRUE(asked.empty());
}

}  // namespace
}  // namespace zbs::test
