#include "services/node_agent/http/link_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/messages/limits.hpp"
#include "tests/unit/node_http/node_world.hpp"

namespace zbs {
namespace {
using testing::HasSubstr;

const Caller kOtherNode{CallerKind::kNode, "alpha", "n2"};

/// The zone asks n1 to probe n2.
class LinkProbeTest : public testing::Test {
  protected:
    void ask() {
        client.probe({"n2", "https://n2:1"},
                     [this](Result<ProbeReport> report) { answers.push_back(std::move(report)); });
    }
    Result<ProbeReport> measure() {
        ask();
        world.clock.advance(LinkProbe::kDeadline);
        return answers.size() == 1 ? answers[0] : Error{ErrorCode::kTimeout, "no answer, or several", {}};
    }

    test::NodeWorld world;
    test::LocalClient http{world, test::kZoneOfNode};
    http::NodeClient client{
        http, {"https://n1:1", {CallerKind::kNode, "alpha", "n1"}}, [](const std::function<void()>& work) { work(); }};
    std::vector<Result<ProbeReport>> answers;
};

TEST_F(LinkProbeTest, TellsTheFastestShortCallAndTheTransfer) {
    const auto report = measure();
    ASSERT_TRUE(report) << report.error();
    EXPECT_EQ(*report,
              (ProbeReport{"n2", Duration{501}, LinkProbe::kBytes, Duration{500 + LinkProbe::kBytes}, Duration{81}}));
    ASSERT_EQ(world.peer.calls.size(), std::size_t{2 * LinkProbe::kShortCalls + LinkProbe::kLongCalls});
    for (std::size_t i = 0; i < world.peer.calls.size(); ++i) {
        const HttpCall& call = world.peer.calls[i];
        EXPECT_EQ(call.to, i < LinkProbe::kShortCalls
                               ? (ServiceAddress{"https://n1:1", {CallerKind::kNode, "alpha", "n1"}})
                               : (ServiceAddress{"https://n2:1", kOtherNode}))
            << "nobody else may answer there";
        EXPECT_LE(call.deadline, std::chrono::seconds{5});
    }
    EXPECT_EQ(world.probes_done, 1);
}

TEST_F(LinkProbeTest, WhoDoesNotReachItselfTellsNoOverhead) {
    world.peer.own = Error{ErrorCode::kUnavailable, "refused", {}};
    const auto report = measure();
    ASSERT_TRUE(report) << report.error();
    EXPECT_EQ(report->overhead, Duration{0});
    EXPECT_EQ(report->round_trip, Duration{501});
}

TEST_F(LinkProbeTest, WhoHearsNothingOfItselfHasTimeForTheOtherOne) {
    world.peer.is_deaf_to_itself = true;
    const auto report = measure();
    ASSERT_TRUE(report) << report.error();
    EXPECT_EQ(report->overhead, Duration{0});
    EXPECT_EQ(report->round_trip, Duration{501});
}

TEST_F(LinkProbeTest, OneGoodCallToItselfTellsTheOverhead) {
    world.peer.own = Error{ErrorCode::kUnavailable, "refused", {}};
    world.peer.own_answers = 1;
    const auto report = measure();
    ASSERT_TRUE(report) << report.error();
    EXPECT_EQ(report->overhead, Duration{81});
}

TEST_F(LinkProbeTest, AnAgentThatOthersProbeTooOftenMeasuresNothingForNow) {
    world.peer.own = HttpAnswer{429, R"({"title":"probed too often"})", {}};
    const auto report = measure();
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::kTooManyRequests);
}

TEST_F(LinkProbeTest, AnotherSideThatIsBusyIsNoSilentOne) {
    world.peer.answer = HttpAnswer{429, R"({"title":"probed too often"})", {}};
    const auto report = measure();
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::kTooManyRequests);
}

TEST_F(LinkProbeTest, OneAtATime) {
    ask();
    ask();
    world.clock.settle();
    ASSERT_EQ(answers.size(), 1U);
    ASSERT_FALSE(answers[0]);
    EXPECT_EQ(answers[0].error().code, ErrorCode::kTooManyRequests);
    world.clock.advance(LinkProbe::kDeadline);
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_TRUE(answers[1]);
    ask();
    world.clock.advance(LinkProbe::kDeadline);
    EXPECT_TRUE(answers.back()) << "the next one";
}

TEST_F(LinkProbeTest, WhoDoesNotAnswerIsNamedAndTheNextProbeGoesOn) {
    world.peer.answer = Error{ErrorCode::kTimeout, "no answer within 5 s", {}};
    const auto report = measure();
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(report.error().message, HasSubstr("'n2'"));
    EXPECT_EQ(world.probes_done, 1);
    world.peer.answer.reset();
    answers.clear();
    EXPECT_TRUE(measure());
}

TEST_F(LinkProbeTest, AnotherSizeThanWasAskedForIsNoMeasurement) {
    world.peer.answer = HttpAnswer{200, "abc", {}};
    const auto report = measure();
    ASSERT_FALSE(report);
    EXPECT_EQ(world.peer.calls.size(), LinkProbe::kShortCalls + 1U);
}

http::Reply get_probe(test::NodeWorld& world, std::size_t bytes, const Caller& who, const char* method = "GET") {
    http::Reply got;
    Result<http::Call> read = http::read_call(
        {.to = {}, .method = method, .path = "/v1/probe?bytes=" + std::to_string(bytes), .body = {}}, who);
    EXPECT_TRUE(read);
    world.router.dispatch(*std::move(read), [&](http::Reply reply) { got = std::move(reply); });
    return got;
}

TEST(GivenProbe, IsForAgentsOfTheOrganisationOnly) {
    test::NodeWorld world;
    const http::Reply reply = get_probe(world, 1'000, kOtherNode);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body.size(), 1'000U);
    for (const Caller& who :
         {test::kZoneOfNode, Caller{CallerKind::kZone, "alpha", "alpha-two"}, Caller{CallerKind::kNode, "beta", "n2"},
          Caller{CallerKind::kUser, "alpha", "ana"}, Caller{CallerKind::kOperator, "alpha", "root"}})
        EXPECT_EQ(get_probe(world, 1, who).status, 403) << who;
    EXPECT_EQ(get_probe(world, 1, {}).status, 401);
    EXPECT_EQ(get_probe(world, 1, kOtherNode, "POST").status, 403) << "agents ask agents for bytes, not for probes";
}

TEST(GivenProbe, HasALimit) {
    test::NodeWorld world;
    EXPECT_EQ(get_probe(world, limits::kMaxProbeBytes, kOtherNode).status, 200);
    EXPECT_EQ(get_probe(world, limits::kMaxProbeBytes + 1, kOtherNode).status, 400);
    EXPECT_EQ(get_probe(world, 0, kOtherNode).status, 400);
}

TEST(GivenProbe, AnAgentThatHasGoneMadKeepsNobodyBusy) {
    test::NodeWorld world;
    const auto count = [&](std::size_t bytes) {
        int given = 0;
        while (given < 1'000 && get_probe(world, bytes, kOtherNode).status == 200) ++given;
        return given;
    };
    EXPECT_EQ(count(512 * 1024), 4);
    const http::Reply refused = get_probe(world, 1, kOtherNode);
    EXPECT_EQ(refused.status, 429);
    for (const auto& [name, value] : refused.headers) EXPECT_NE(name, "Retry-After") << "the wait would be measured";
    world.clock.advance(std::chrono::seconds{1});
    EXPECT_EQ(count(512 * 1024), 2);
    world.clock.advance(std::chrono::hours{1});
    EXPECT_EQ(count(1), 512) << "small calls cost, too";
}

}  // namespace
}  // namespace zbs
