#include "services/common/http/router.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/messages/limits.hpp"

namespace zbs::http {
namespace {

/// A router that lets everybody in.
Router open_router(RouterHooks hooks = {}) {
    hooks.guard = [](Action, const Call&) { return Result<void>{}; };
    return Router(std::move(hooks));
}

/// A router whose handlers answer with the name of their route and what they were given.
Router make_router() {
    Router router = open_router();
    const auto echo = [](const char* name) {
        return [name](const Request& request) {
            codec::Json json = {{"route", name}, {"parameters", request.call.parameters}};
            if (!request.json.is_null()) json["body"] = request.json;
            return ok(json);
        };
    };
    router.add_sync("GET", "/v1/things", Action::kListApplications, Body::kNone, echo("list"));
    router.add_sync("POST", "/v1/things", Action::kScheduleApplication, Body::kJson, echo("make"));
    router.add_sync("GET", "/v1/things/count", Action::kCountApplications, Body::kNone, echo("count"));
    router.add_sync("GET", "/v1/things/{id}", Action::kGetApplication, Body::kNone, echo("get"));
    router.add_sync("DELETE", "/v1/things/{id}", Action::kCancelApplication, Body::kNone, echo("remove"));
    router.add_sync("GET", "/v1/things/{id}/logs/{rank}", Action::kReadLog, Body::kNone, echo("log"));
    router.add_sync("GET", "/v1/things/{id}/results/{name...}", Action::kReadResult, Body::kNone, echo("result"));
    return router;
}

Reply dispatch(const std::string& method, const std::string& path, const std::string& body = {}) {
    std::vector<Reply> replies;
    Call call;
    call.method = method;
    call.path = path;
    call.body = body;
    if (!body.empty()) call.content_type = "application/json";
    make_router().dispatch(call, [&](Reply reply) { replies.push_back(std::move(reply)); });
    EXPECT_EQ(replies.size(), 1U) << "exactly one answer";
    return replies.empty() ? Reply{} : replies.front();
}
codec::Json json_of(const Reply& reply) { return *codec::parse(reply.body); }

TEST(Router, FindsTheRouteAndItsParameters) {
    EXPECT_EQ(json_of(dispatch("GET", "/v1/things"))["route"], "list");
    EXPECT_EQ(json_of(dispatch("POST", "/v1/things", R"({"a":1})")),
              codec::parse(R"({"route":"make","parameters":{},"body":{"a":1}})").value());
    EXPECT_EQ(json_of(dispatch("GET", "/v1/things/7/logs/x y")),
              codec::parse(R"({"route":"log","parameters":{"id":"7","rank":"x y"}})").value());
}

TEST(Router, AParameterThatTakesTheRestMayHoldSlashes) {
    EXPECT_EQ(json_of(dispatch("GET", "/v1/things/7/results/out/a b/c")),
              codec::parse(R"({"route":"result","parameters":{"id":"7","name":"out/a b/c"}})").value());
    EXPECT_EQ(json_of(dispatch("GET", "/v1/things/7/results/c"))["parameters"]["name"], "c");
    EXPECT_EQ(dispatch("GET", "/v1/things/7/results").status, 404);
}

TEST(Router, UnknownPathsAreNotFound) {
    for (const char* path : {"/", "/v1", "/v1/thing", "/v1/things/", "/v1/things/1/logs", "/v1/things/1/logs/2/3",
                             "//v1/things", "/V1/things"}) {
        const bool parameter = std::string(path) == "/v1/things/";  // an empty id reaches the handler, which refuses it
        EXPECT_EQ(dispatch("GET", path).status, parameter ? 200 : 404) << path;
    }
    EXPECT_EQ(dispatch("GET", "v1/things").status, 400);
    EXPECT_EQ(dispatch("GET", "").status, 400);
}

TEST(Router, AnotherMethodIsRefusedWithThoseAllowed) {
    const Reply reply = dispatch("DELETE", "/v1/things");
    EXPECT_EQ(reply.status, 405);
    EXPECT_EQ(json_of(reply)["status"], 405) << "the body tells the status of the reply";
    EXPECT_THAT(reply.headers, testing::Contains(testing::Pair("Allow", "GET, POST")));
    EXPECT_EQ(dispatch("get", "/v1/things").status, 405) << "methods are case sensitive";
}

TEST(Router, APathOfItsOwnIsNoParameter) {
    EXPECT_EQ(json_of(dispatch("GET", "/v1/things/count"))["route"], "count");
    EXPECT_EQ(json_of(dispatch("GET", "/v1/things/counts"))["route"], "get");
    const Reply refused = dispatch("DELETE", "/v1/things/count");
    EXPECT_EQ(refused.status, 405);
    EXPECT_THAT(refused.headers, testing::Contains(testing::Pair("Allow", "GET")));
    EXPECT_EQ(json_of(dispatch("DELETE", "/v1/things/7"))["route"], "remove");
}

TEST(Router, HeadIsAnsweredAsGet) {
    EXPECT_EQ(dispatch("HEAD", "/v1/things").status, 200);
    EXPECT_EQ(dispatch("HEAD", "/v1/nothing").status, 404);
}

TEST(Router, BodiesArePartOfTheRoute) {
    EXPECT_EQ(dispatch("POST", "/v1/things", "").status, 400);
    EXPECT_EQ(dispatch("POST", "/v1/things", "{").status, 400);
    EXPECT_EQ(dispatch("POST", "/v1/things", R"({"a":1,"a":1})").status, 400);
    EXPECT_EQ(dispatch("GET", "/v1/things", "{}").status, 400);
}

TEST(Router, AHandlerThatThrowsIsAnsweredForOnceAndWithoutDetails) {
    std::vector<std::string> reports;
    Router router = open_router({.on_exception = [&](const std::string& report) { reports.push_back(report); }});
    router.add_sync("GET", "/throws", Action::kGetLive, Body::kNone,
                    [](const Request&) -> Reply { throw std::runtime_error("secret"); });
    router.add("GET", "/odd", Action::kGetLive, Body::kNone, [](const Request&, const Respond&) { throw 7; });
    Respond kept;
    router.add("GET", "/keeps", Action::kGetLive, Body::kNone, [&](const Request&, Respond respond) {
        kept = std::move(respond);
        throw std::runtime_error("later");
    });
    router.add("GET", "/answered", Action::kGetLive, Body::kNone, [](const Request&, const Respond& respond) {
        respond(ok(1));
        throw std::runtime_error("too late");
    });
    const auto get = [&](const std::string& path, std::vector<Reply>& replies) {
        Call call;
        call.method = "GET";
        call.path = path;
        router.dispatch(call, [&replies](Reply reply) { replies.push_back(std::move(reply)); });
    };
    for (const char* path : {"/throws", "/odd", "/keeps", "/answered"}) {
        std::vector<Reply> replies;
        get(path, replies);
        if (kept) kept(ok(2));
        kept = nullptr;
        ASSERT_EQ(replies.size(), 1U) << path;
        const bool answered = std::string(path) == "/answered";
        EXPECT_EQ(replies[0].status, answered ? 200 : 500) << path;
        if (answered) continue;
        EXPECT_EQ(json_of(replies[0])["detail"], "internal error");
        EXPECT_EQ(replies[0].body.find("secret"), std::string::npos);
    }
    EXPECT_THAT(reports, testing::ElementsAre("GET /throws: secret", "GET /odd: unknown exception", "GET /keeps: later",
                                              "GET /answered: too late"));
}

TEST(Router, ListsItsRoutesSorted) {
    EXPECT_THAT(
        make_router().routes(),
        testing::ElementsAre("DELETE /v1/things/{id} cancelApplication", "GET /v1/things listApplications",
                             "GET /v1/things/count countApplications", "GET /v1/things/{id} getApplication",
                             "GET /v1/things/{id}/logs/{rank} readLog", "GET /v1/things/{id}/results/{name} readResult",
                             "POST /v1/things scheduleApplication"));
}

Reply ask(const Router& router, const std::string& method, const std::string& path, const std::string& body = {}) {
    std::vector<Reply> replies;
    Call call;
    call.method = method;
    call.path = path;
    call.body = body;
    if (!body.empty()) call.content_type = "application/json";
    router.dispatch(call, [&](Reply reply) { replies.push_back(std::move(reply)); });
    EXPECT_EQ(replies.size(), 1U);
    return replies.empty() ? Reply{} : replies.front();
}

TEST(Router, WithoutAGuardNothingIsServed) {
    Router router;
    int served = 0;
    router.add_sync("GET", "/a", Action::kGetLive, Body::kNone, [&](const Request&) { return ++served, ok(1); });
    EXPECT_EQ(ask(router, "GET", "/a").status, 403);
    EXPECT_EQ(served, 0);
}

/// Who may not call does not learn what a good body would have been.
TEST(Router, TheGuardIsAskedBeforeTheBodyIsRead) {
    int served = 0;
    std::vector<std::string> asked;
    Router router({.guard = [&](Action action, const Call& call) -> Result<void> {
        asked.push_back(std::string(to_string(action)) + " " + call.parameters.at("id"));
        return Error{ErrorCode::kUnauthenticated, "who are you?", {}};
    }});
    router.add_sync("POST", "/a/{id}", Action::kCommitPart, Body::kJson,
                    [&](const Request&) { return ++served, ok(1); });
    const Reply refused = ask(router, "POST", "/a/7", "{ no JSON");
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(json_of(refused)["detail"], "who are you?");
    EXPECT_EQ(served, 0);
    EXPECT_THAT(asked, testing::ElementsAre("commitPart 7"));
    EXPECT_EQ(ask(router, "POST", "/elsewhere").status, 404);
    EXPECT_EQ(asked.size(), 1U) << "what is nowhere needs no permission";
}

TEST(Router, ABodyThatIsNoJsonByItsTypeIsRefused) {
    Router router = open_router();
    int served = 0;
    router.add_sync("POST", "/a", Action::kRequestEnrolment, Body::kJson,
                    [&](const Request&) { return ++served, ok(1); });
    const auto status = [&](const char* type, const char* body, bool unread = false) {
        Call call{.method = "POST", .path = "/a", .body = body, .content_type = type, .is_body_unread = unread};
        int found = 0;
        router.dispatch(call, [&](const Reply& reply) { found = reply.status; });
        return found;
    };
    for (const char* type : {"", "text/plain", "text/plain; charset=application/json", "application/jsonx",
                             "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                             "application/json-patch+json", "json"}) {
        EXPECT_EQ(status(type, "{}"), 415) << type;
        EXPECT_EQ(status(type, "", true), 415) << type;
    }
    EXPECT_EQ(served, 0);
    for (const char* type :
         {"application/json", "Application/JSON", "application/json; charset=utf-8", "application/json ;a=b"})
        EXPECT_EQ(status(type, "{}"), 200) << type;
    EXPECT_EQ(status("", ""), 400) << "no body at all is none of a wrong type";
    EXPECT_EQ(status("application/json", "", true), 503) << "it came before anybody knew how much to read";
}

TEST(Router, HowMuchOfABodyIsReadDependsOnRouteAndCaller) {
    Router router = open_router();
    const auto serve = [](const Request&) { return ok(1); };
    router.add_sync("POST", "/anyone", Action::kRequestEnrolment, Body::kLargeJson, serve);
    router.add_sync("POST", "/small", Action::kSetDrain, Body::kJson, serve);
    router.add_sync("PUT", "/piece/{digest}", Action::kPutFile, Body::kFilePiece, serve);
    router.add_sync("POST", "/large", Action::kScheduleApplication, Body::kLargeJson, serve);
    router.add_sync("GET", "/small", Action::kGetDrain, Body::kNone, serve);
    const PeerIdentity ana({CallerKind::kUser, "a", "ana"}, Evidence::kCertificate);
    const auto limit = [&](const PeerIdentity& peer, const char* method, const char* path,
                           const char* type = "application/json") {
        return router.body_limit({.method = method, .path = path, .content_type = type, .peer = peer});
    };
    EXPECT_EQ(limit(ana, "POST", "/anyone"), limits::kMaxBodyBytes);
    EXPECT_EQ(limit(ana, "POST", "/small"), limits::kMaxSmallBodyBytes);
    EXPECT_EQ(limit(ana, "PUT", "/piece/x"), limits::kMaxPieceBodyBytes);
    EXPECT_EQ(limit(ana, "POST", "/large"), limits::kMaxBodyBytes);
    for (const PeerIdentity& nobody : {PeerIdentity{}, PeerIdentity::refused("it has run out")}) {
        EXPECT_EQ(limit(nobody, "POST", "/anyone"), 256U * 1024);
        for (const char* path : {"/small", "/large"}) EXPECT_EQ(limit(nobody, "POST", path), std::nullopt) << path;
        EXPECT_EQ(limit(nobody, "PUT", "/piece/x"), std::nullopt);
    }
    EXPECT_EQ(limit(ana, "GET", "/small"), std::nullopt);
    EXPECT_EQ(limit(ana, "PUT", "/small"), std::nullopt);
    EXPECT_EQ(limit(ana, "POST", "/nowhere"), std::nullopt);
    EXPECT_EQ(limit(ana, "POST", "nowhere"), std::nullopt);
    EXPECT_EQ(limit(ana, "POST", "/large", "text/plain"), std::nullopt);
}

TEST(Router, TheWatchIsToldTheEndOfWhatTheGuardLetIn) {
    std::vector<std::string> observed;
    Router router({.guard = [](Action action, const Call&) -> Result<void> {
                       if (action == Action::kGetReady) return Error{ErrorCode::kDenied, "no", {}};
                       return {};
                   },
                   .watch =
                       [&](Action action, const Call& call, int status) {
                           observed.push_back(std::string(to_string(action)) + " " + call.path + " " +
                                              std::to_string(status));
                       }});
    router.add_sync("GET", "/good", Action::kGetLive, Body::kNone, [](const Request&) { return ok(1); });
    router.add_sync("GET", "/refused", Action::kGetReady, Body::kNone, [](const Request&) { return ok(1); });
    router.add_sync("GET", "/throws", Action::kWhoAmI, Body::kNone, [](const Request&) -> Reply { throw 7; });
    router.add_sync("POST", "/body", Action::kGetTrust, Body::kJson, [](const Request&) { return ok(1); });
    for (const char* path : {"/good", "/refused", "/throws", "/nowhere"}) ask(router, "GET", path);
    ask(router, "POST", "/body", "{");
    EXPECT_THAT(observed, testing::ElementsAre("getLive /good 200", "whoAmI /throws 500", "getTrust /body 400"));
}

TEST(Router, EveryReplyTellsTheNameOfItsCall) {
    int calls = 0;
    Router router = open_router({.fresh_id = [&] { return "call-" + std::to_string(++calls); }});
    std::string seen;
    router.add_sync("GET", "/a", Action::kGetLive, Body::kNone,
                    [&](const Request& request) { return seen = request.call.request_id, ok(1); });
    int expected = 0;
    for (const auto& [method, path] : {std::pair{"GET", "/a"}, {"POST", "/a"}, {"GET", "/b"}, {"GET", "bad"}}) {
        const std::string name = "call-" + std::to_string(++expected);
        EXPECT_THAT(ask(router, method, path).headers, testing::Contains(testing::Pair("Zbs-Request-Id", name)));
    }
    EXPECT_EQ(seen, "call-1");
}

TEST(PercentDecoding, DecodesOrRefuses) {
    EXPECT_EQ(*decode_percent(""), "");
    EXPECT_EQ(*decode_percent("a%20b+c%2f%C3%A4"), "a b+c/ä");
    EXPECT_EQ(*decode_percent("%7e%7E"), "~~");
    for (const char* text :
         {"%", "%2", "a%", "%2g", "%g2", "%%20", "%00", "a%00b", "%ff", "%c3", "%ed%a0%80", "\xff"}) {
        const auto decoded = decode_percent(text);
        ASSERT_FALSE(decoded) << text;
        EXPECT_EQ(decoded.error().code, ErrorCode::kInvalidArgument);
    }
    EXPECT_FALSE(decode_percent(std::string_view("a\0b", 3)));
}

TEST(Query, IsSplitAndDecoded) {
    using Map = std::map<std::string, std::string>;
    EXPECT_EQ(*parse_query(""), Map{});
    EXPECT_EQ(*parse_query("a=1&b=2%20x&c&d="), (Map{{"a", "1"}, {"b", "2 x"}, {"c", ""}, {"d", ""}}));
    EXPECT_EQ(*parse_query("a=1=2&&%61b=x"), (Map{{"a", "1=2"}, {"ab", "x"}}));
    for (const char* text : {"a=1&a=2", "a&%61", "a=%zz", "%=1", "=&="}) EXPECT_FALSE(parse_query(text)) << text;
}

TEST(ReadCall, SplitsPathAndQueryAndKnowsItsCaller) {
    const Caller ana{CallerKind::kUser, "org-a", "ana"};
    const auto read = read_call({.to = {}, .method = "DELETE", .path = "/v1/parts/7?reason=a%20b", .body = "{}"}, ana);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->method, "DELETE");
    EXPECT_EQ(read->path, "/v1/parts/7");
    EXPECT_EQ(read->query, (std::map<std::string, std::string>{{"reason", "a b"}}));
    EXPECT_EQ(read->body, "{}");
    EXPECT_EQ(read->caller(), ana);
    EXPECT_EQ(read_call({.to = {}, .path = "/v1/zones"}, ana)->path, "/v1/zones");
    EXPECT_FALSE(read_call({.to = {}, .path = "/v1/zones?a=1&a=2"}, ana));
}

TEST(ReadCall, AnyNameComesThroughTheAddressUnchanged) {
    const Caller zone{CallerKind::kZone, "org-a", "zone-a"};
    for (const std::string name : {"a=b.out", "run(1).out", "50%.out", "a%20b.out", "q?r&s#t", "x,y;z", "c++ \"d\" 'e'",
                                   "\xc3\xbcml \xe6\x97\xa5", "+", "~`|{}[]<>^"}) {
        const std::string target = "/v1/parts/7/results/" + encode_percent(name) + "?why=" + encode_percent(name);
        const auto read = read_call({.to = {}, .method = "GET", .path = target}, zone);
        ASSERT_TRUE(read) << name;
        EXPECT_EQ(read->path, "/v1/parts/7/results/" + name);
        EXPECT_EQ(read->query.at("why"), name);
    }
    for (const char* bad : {"/a%", "/a%zz", "/a%00", "/%ff"})
        EXPECT_FALSE(read_call({.to = {}, .path = bad}, zone)) << bad;
}

}  // namespace
}  // namespace zbs::http
