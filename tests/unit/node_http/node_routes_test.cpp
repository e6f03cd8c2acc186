#include "services/node_agent/http/node_routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/codec/json/json.hpp"
#include "tests/support/documented_routes.hpp"
#include "tests/unit/node_http/node_world.hpp"

namespace zbs {
namespace {

TEST(NodeRoutes, AreThoseOfTheContract) {
    const test::NodeWorld world;
    EXPECT_THAT(world.router.routes(), testing::UnorderedElementsAreArray(test::documented_routes(node_contract())));
}

TEST(NodeRoutes, TheContractIsStrictJson) {
    const auto document = codec::parse(node_contract());
    ASSERT_TRUE(document) << document.error();
    EXPECT_EQ((*document)["openapi"], "3.1.0");
}

http::Reply call(test::NodeWorld& world, const char* method, const std::string& path, const std::string& body = {},
                 const Caller& who = test::kZoneOfNode) {
    http::Reply got;
    Result<http::Call> read = http::read_call({.to = {}, .method = method, .path = path, .body = body}, who);
    EXPECT_TRUE(read);
    world.router.dispatch(*std::move(read), [&](http::Reply reply) { got = std::move(reply); });
    return got;
}

struct BadCall {
    const char* name;
    const char* method;
    const char* path;
    const char* body;
    const char* place;
};
class NodeBadCall : public testing::TestWithParam<BadCall> {};
TEST_P(NodeBadCall, IsRefusedWithItsPlace) {
    test::NodeWorld world;
    const BadCall& bad = GetParam();
    const http::Reply reply = call(world, bad.method, bad.path, bad.body);
    EXPECT_EQ(reply.status, 400) << reply.body;
    EXPECT_EQ(codec::parse(reply.body)->at("errors").at(0).at("pointer"), bad.place);
    EXPECT_TRUE(world.executor.steps().empty());
}
INSTANTIATE_TEST_SUITE_P(
    , NodeBadCall,
    testing::Values(BadCall{"Operation", "PUT", "/v1/steps/a_b", "{}", "operation"},
                    BadCall{"LongOperation", "POST",
                            "/v1/steps/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/stop", "{}",
                            "operation"},
                    BadCall{"Operations", "GET", "/v1/steps?operations=a,..", "", "operations"},
                    BadCall{"Parameter", "GET", "/v1/steps?operation=a", "", "operation"},
                    BadCall{"Wait", "GET", "/v1/steps?wait_s=31", "", "wait_s"},
                    BadCall{"Since", "GET", "/v1/steps?since=-1", "", "since"},
                    BadCall{"AtMost", "DELETE", "/v1/steps/a?at_most=100001", "", "at_most"},
                    BadCall{"Limit", "GET", "/v1/steps/a/files/stdout?limit=1048577", "", "limit"},
                    BadCall{"Digest", "GET", "/v1/files/abc", "", "digest"},
                    BadCall{"Piece", "PUT",
                            "/v1/files/ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                            "{\"size\":3,\"offset\":4,\"bytes\":\"\"}", "/bytes"},
                    BadCall{"Probed", "POST", "/v1/probe", "{\"node\":\"n2\",\"url\":\"http://n2:1\"}", "/url"},
                    BadCall{"Slices", "PUT", "/v1/slices", "{\"number\":0}", "/number"},
                    BadCall{"Grace", "POST", "/v1/steps/a/stop", "{\"grace_s\":-1}", "/grace_s"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(NodeRoutes, OnlyTheZoneOfTheNodeMayCall) {
    test::NodeWorld world;
    for (const Caller& who :
         {Caller{CallerKind::kZone, "alpha", "alpha-two"}, Caller{CallerKind::kZone, "beta", "alpha-one"},
          Caller{CallerKind::kUser, "alpha", "ana"}, Caller{CallerKind::kOperator, "alpha", "root"},
          Caller{CallerKind::kNode, "alpha", "n1"}, Caller{CallerKind::kRegistry, "alpha", "alpha-one"}}) {
        EXPECT_EQ(call(world, "GET", "/v1/node", "", who).status, 403) << who;
        EXPECT_EQ(call(world, "GET", "/livez", "", who).status, 200) << who;
    }
    EXPECT_EQ(call(world, "GET", "/v1/node").status, 200);
}

TEST(NodeRoutes, OrdersOfASchedulerThatAnotherHasFollowedAreRefused) {
    test::NodeWorld world;
    const auto stop = [&](const std::string& query) {
        return call(world, "POST", "/v1/steps/a/stop" + query, R"({"grace_s":0})");
    };
    EXPECT_EQ(stop("?turn=2").status, 200);
    EXPECT_EQ(stop("?turn=3").status, 200);
    EXPECT_EQ(stop("?turn=3").status, 200);
    const http::Reply late = stop("?turn=2");
    EXPECT_EQ(late.status, 409);
    EXPECT_THAT(late.body, testing::HasSubstr("turn 3 has given orders here"));
    EXPECT_EQ(stop("?turn=x").status, 400);
    EXPECT_EQ(stop("").status, 200) << "a zone with one scheduler names no turn";
    EXPECT_EQ(
        call(world, "POST", "/v1/steps/a/stop?turn=9", R"({"grace_s":0})", {CallerKind::kZone, "beta", "alpha-one"})
            .status,
        403);
    EXPECT_EQ(stop("?turn=3").status, 200) << "who may not call changes nothing";
    EXPECT_EQ(stop("?turn=18446744073709551615").status, 400);
    for (const Caller& who : {Caller{}, Caller{CallerKind::kNode, "alpha", "n2"}, test::kZoneOfNode})
        for (const char* path : {"/livez", "/readyz", "/openapi.json", "/v1/probe"})
            call(world, "GET", std::string(path) + "?turn=99", "", who);
    EXPECT_EQ(stop("?turn=3").status, 200) << "what anybody may ask is no order";
}

}  // namespace
}  // namespace zbs
