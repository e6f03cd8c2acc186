#include "client/calls/dashboard_proxy.hpp"

#include <gmock/gmock.h>

#include <optional>

namespace zbs::client {
namespace {

/// Keeps what it was asked; the test answers.
struct KeptCalls : HttpClient {
    struct Kept {
        HttpCall call;
        std::function<void(Result<HttpAnswer>)> respond;
    };
    std::vector<Kept> kept;
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        kept.push_back({std::move(call), std::move(respond)});
    }
};

struct DashboardProxyTest : testing::Test {
    KeptCalls zone;
    DashboardProxy proxy{zone, {"https://127.0.0.1:8001", {}}, "127.0.0.1:5000", "secret"};
    std::optional<http::Reply> reply;

    static http::Call call_of(const std::string& method, const std::string& path) {
        http::Call call;
        call.method = method;
        call.path = path;
        call.host = "127.0.0.1:5000";
        call.cookie = "zbs_dashboard_5000=secret";
        return call;
    }
    int serve(const http::Call& call) {
        reply.reset();
        proxy.serve(call, [this](http::Reply said) { reply = std::move(said); });
        return reply ? reply->status : 0;
    }
    static std::string piece_of(const std::shared_ptr<http::Stream>& stream) {
        std::string got = "none yet";
        stream->next([&got](std::string piece) { got = std::move(piece); });
        return got;
    }
};

const char* const kRequest =
    R"({"id": "01J9ZZZZZZZZZZZZZZZZZZZZZZ", "ranks": 2, "argv": ["/bin/true"], "directory": "/tmp"})";

TEST_F(DashboardProxyTest, WhoShowsNoSecretReachesNothing) {
    http::Call call = call_of("GET", "/v1/whoami");
    for (const char* cookie : {"", "zbs_dashboard_5000=", "zbs_dashboard_5000=secreT", "zbs_dashboard_5001=secret",
                               "x_zbs_dashboard_5000=secret", "zbs_dashboard_5000=secret2"}) {
        call.cookie = cookie;
        EXPECT_EQ(serve(call), 401) << cookie;
    }
    EXPECT_TRUE(zone.kept.empty());
    call.cookie = "a=b;zbs_dashboard_5000=secret; c=d";
    EXPECT_EQ(serve(call), 0);
    EXPECT_EQ(zone.kept.size(), 1U);
}

TEST_F(DashboardProxyTest, OtherNamesAndOtherSitesAreRefusedEvenWithTheSecret) {
    http::Call call = call_of("GET", "/");
    call.query["token"] = "secret";
    call.host = "rebound.example:5000";
    EXPECT_EQ(serve(call), 403);
    call.host = "127.0.0.1:5000";
    call.scheme = "http";
    call.origin = "https://127.0.0.1:5000.evil.example";
    EXPECT_EQ(serve(call), 403);
    call.origin = "http://127.0.0.1:5000";
    EXPECT_EQ(serve(call), 200);
    EXPECT_TRUE(zone.kept.empty());
}

TEST_F(DashboardProxyTest, AddressesAreTheSameAtTheZone) {
    http::Call call = call_of("GET", "/v1/applications/a b/%2f");
    call.query = {{"q", "1&2=3"}, {"r", "\xC3\xA9"}};
    serve(call);
    EXPECT_EQ(zone.kept.at(0).call.path, "/v1/applications/a%20b/%252f?q=1%262%3D3&r=%C3%A9");
}

TEST_F(DashboardProxyTest, WhatTheBrowserHasIsNotSentAgain) {
    http::Call call = call_of("GET", "/v1/applications");
    call.if_none_match = "\"0f\"";
    serve(call);
    EXPECT_EQ(zone.kept.at(0).call.if_none_match, "\"0f\"");
    zone.kept.at(0).respond(HttpAnswer{.status = 304, .etag = "\"0f\""});
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 304);
    EXPECT_THAT(reply->headers, testing::Contains(testing::Pair("ETag", "\"0f\"")));
    call.method = "HEAD";
    call.if_none_match = "\"0e\", W/\"0f\"";
    serve(call);
    EXPECT_EQ(zone.kept.at(1).call.if_none_match, "\"0e\", W/\"0f\"");
    call.method = "DELETE";
    serve(call);
    EXPECT_EQ(zone.kept.at(2).call.if_none_match, "") << "there it would be a condition";
}

TEST_F(DashboardProxyTest, BeforeASubmissionWhatIsNeededIsSigned) {
    std::vector<std::string> signed_for;
    Result<void> outcome;
    proxy.before_submit([&](const ApplicationRequest& request) {
        signed_for.push_back(to_string(request.id));
        return outcome;
    });
    http::Call call = call_of("POST", "/v1/applications");
    call.body = kRequest;
    call.query["dry_run"] = "true";
    serve(call);
    EXPECT_TRUE(signed_for.empty());
    call.query.clear();
    serve(call);
    EXPECT_THAT(signed_for, testing::ElementsAre("01J9ZZZZZZZZZZZZZZZZZZZZZZ"));
    EXPECT_EQ(zone.kept.size(), 2U);
    outcome = Error{ErrorCode::kDenied, "no", {}};
    EXPECT_EQ(serve(call), 403);
    EXPECT_EQ(zone.kept.size(), 2U);
    call.body = "{}";  // the zone says what is wrong
    EXPECT_EQ(serve(call), 0);
    EXPECT_EQ(zone.kept.size(), 3U);
}

TEST_F(DashboardProxyTest, EventsComeThroughPieceByPieceAndGoOnFromTheLastId) {
    http::Call call = call_of("GET", "/v1/events");
    call.last_event_id = "17";
    EXPECT_EQ(serve(call), 0);
    KeptCalls::Kept& kept = zone.kept.at(0);
    EXPECT_EQ(kept.call.path, "/v1/events?after=17");
    EXPECT_TRUE(kept.call.on_piece("retry: 1\n\n"));
    ASSERT_TRUE(reply && reply->stream);
    EXPECT_EQ(reply->body, "retry: 1\n\n");
    EXPECT_TRUE(kept.call.on_piece("a"));
    EXPECT_TRUE(kept.call.on_piece("b"));
    EXPECT_EQ(piece_of(reply->stream), "ab");
    std::string late;
    reply->stream->next([&late](std::string piece) { late = std::move(piece); });
    EXPECT_TRUE(kept.call.on_piece("c"));
    EXPECT_EQ(late, "c");
    kept.respond(HttpAnswer{.status = 200});
    EXPECT_EQ(piece_of(reply->stream), "");
    reply.reset();  // the browser has left
    EXPECT_FALSE(kept.call.on_piece("d"));
}

TEST_F(DashboardProxyTest, AReaderThatTakesNothingIsCut) {
    serve(call_of("GET", "/v1/events"));
    KeptCalls::Kept& kept = zone.kept.at(0);
    EXPECT_TRUE(kept.call.on_piece("first"));
    const std::string piece(600 * 1024, 'x');
    EXPECT_TRUE(kept.call.on_piece(piece));
    EXPECT_FALSE(kept.call.on_piece(piece));
}

TEST_F(DashboardProxyTest, RefusalsOfStreamsAndSilentZonesAreTold) {
    serve(call_of("GET", "/v1/events"));
    zone.kept.at(0).respond(HttpAnswer{.status = 429, .body = "{}", .content_type = "application/problem+json"});
    EXPECT_EQ(reply->status, 429);
    serve(call_of("GET", "/v1/nodes"));
    zone.kept.at(1).respond(Error{ErrorCode::kUnavailable, "gone", {}});
    EXPECT_EQ(reply->status, 503);
}

}  // namespace
}  // namespace zbs::client
