#include "tests/unit/beast/server_fixture.hpp"

namespace zbs::beast {
namespace {

TEST_F(ServerTest, HandsOverWhatItReads) {
    start();
    EXPECT_THAT(ask(get("/a%20b?x=1&y=%C3%A4", as("spiffe://alpha/user/ana"))),
                testing::AllOf(HasStatus(200), HasSubstr("GET /a b [] spiffe://alpha/user/ana x=1 y=ä")));
    EXPECT_THAT(ask(post("body")), testing::AllOf(HasStatus(200), HasSubstr("POST /p [body] anonymous")));
    EXPECT_THAT(
        ask("POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
        HasSubstr("[abcde]"));
}

TEST(Server, RefusesAddressesThatAreNotLoopback) {
    asio::io_context io;
    for (const char* address :
         {"0.0.0.0", "::", "192.0.2.1", "10.0.0.1", "::ffff:0.0.0.0", "localhost", "", "127.0.0.1:80"}) {
        Server server(io, {.address = address}, [](http::Call, const http::Respond&) {});
        const auto started = server.start();
        ASSERT_FALSE(started) << address;
        EXPECT_EQ(started.error().code, ErrorCode::kInvalidArgument) << address;
    }
    Server server(io, {.address = "127.0.0.2"}, [](http::Call, const http::Respond&) {});
    EXPECT_TRUE(server.start());
}

TEST(Server, ATakenPortIsAnError) {
    asio::io_context io;
    Server first(io, {}, [](http::Call, const http::Respond&) {});
    ASSERT_TRUE(first.start());
    Server second(io, {.port = first.port()}, [](http::Call, const http::Respond&) {});
    const auto started = second.start();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(started.error().message, HasSubstr(std::to_string(first.port())));
}

TEST_F(ServerTest, AmbiguousFramingIsRefusedAndEndsTheConnection) {
    start();
    for (const std::string& request :
         {std::string(
              "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
          std::string(
              "POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"),
          std::string("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd"),
          std::string("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde"),
          std::string("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 4, 4\r\n\r\nabcd"),
          std::string("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"),
          std::string("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: +4\r\n\r\nabcd"),
          std::string("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 0x4\r\n\r\nabcd"),
          std::string("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
          std::string("POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
          std::string("POST /p HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
          std::string("GET /p HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
          std::string("GET /p HTTP/1.1\r\n\r\n"),
          std::string("GET /p HTTP/1.1\r\nHost : a\r\n\r\n"),
          std::string("GET /p HTTP/1.1\r\nHost: a\r\n folded\r\nX\r\n\r\n"),
          std::string("GET p HTTP/1.1\r\nHost: a\r\n\r\n"),
          std::string("GET http://a/p HTTP/1.1\r\nHost: a\r\n\r\n"),
          std::string("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"),
          std::string("GET /p HTTP/2.0\r\nHost: a\r\n\r\n"),
          std::string("GET /p\r\n\r\n"),
          std::string("\x16\x03\x01\x02garbage\r\n\r\n"),
          std::string("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n"),
          std::string("GET /p?a=1&a=2 HTTP/1.1\r\nHost: a\r\n\r\n")}) {
        Client client = connect();
        client.send(request + get("/smuggled"));
        EXPECT_THAT(client.reply(), HasStatus(400)) << request;
        client.finish();
        EXPECT_TRUE(client.closed()) << request;
    }
    EXPECT_EQ(handled(), 0) << "nothing of it may reach a handler";
}

/// Who reads no body where another one does answers that body as a request (RFC 9112, 6.3 and 11.2).
TEST_F(ServerTest, EveryTransferCodingButChunkedIsRefused) {
    start();
    for (const char* codings :
         {"xchunked", "identity", "gzip", "chunked, identity", "identity, chunked", "gzip, chunked", "chunked, chunked",
          "chunked;q=1", "\"chunked\"", "chunked\r\nTransfer-Encoding: identity", "", ",chunked",
          "identity\r\nTransfer-Encoding: chunked", "chunked\r\nTransfer-Encoding: chunked", "chunke",
          "\x0b"
          "chunked"}) {
        Client client = connect();
        client.send("POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: " + std::string(codings) + "\r\n\r\n" +
                    get("/smuggled"));
        EXPECT_THAT(client.reply(), HasStatus(400)) << codings;
        client.finish();
        EXPECT_TRUE(client.closed()) << codings;
    }
    EXPECT_EQ(handled(), 0) << "nothing of it may reach a handler";
    EXPECT_THAT(ask("POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:  Chunked \r\n\r\n1\r\nx\r\n0\r\n\r\n"),
                HasSubstr("[x]"));
}

TEST_F(ServerTest, WhatFollowsAChunkedBodyNamesNobody) {
    start();
    EXPECT_THAT(ask("POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" +
                    as("spiffe://a/operator/b") + "\r\n"),
                testing::AllOf(HasStatus(200), HasSubstr("[x] anonymous")));
}

TEST_F(ServerTest, IdentityComesOnceAndIsReadOnce) {
    start();
    const std::string ana = "Zbs-Identity: spiffe://a/user/b\r\n", token = std::string("Zbs-Token: ") + kToken + "\r\n";
    EXPECT_THAT(ask(get("/", ana + ana + token)), HasStatus(400));
    EXPECT_THAT(ask(get("/", ana + "ZBS-IDENTITY: spiffe://a/operator/b\r\n" + token)), HasStatus(400));
    EXPECT_THAT(ask(get("/", ana + token + token)), HasStatus(401)) << "which of the two?";
    for (const char* value : {"", "ana", "spiffe://a/user/", "spiffe://a/root/b", "anonymous",
                              "spiffe://a/user/b, spiffe://a/operator/b"}) {
        EXPECT_THAT(ask(get("/", as(value))), HasStatus(401)) << value;
    }
    EXPECT_THAT(ask(get("/", "zbs-identity: spiffe://a/user/b\r\nzbs-token: " + std::string(kToken) + "\r\n")),
                HasSubstr("spiffe://a/user/b"));
    EXPECT_THAT(ask(get("/", "X-Zbs-Identity: spiffe://a/user/b\r\n" + token)), HasSubstr("anonymous"));
    EXPECT_EQ(handled(), 2);
}

TEST_F(ServerTest, ANameWithoutItsTokenIsRefused) {
    start();
    const std::string name = "Zbs-Identity: spiffe://a/operator/b\r\n";
    EXPECT_THAT(ask(get("/", name)), testing::AllOf(HasStatus(401), HasSubstr("local_token")));
    for (const char* token : {"", "token-of-this-folde", "token-of-this-folder2", "token-of-this-foldeR"})
        EXPECT_THAT(ask(get("/", as("spiffe://a/operator/b", token))), HasStatus(401)) << token;
    EXPECT_THAT(ask(get("/", std::string("Zbs-Token: ") + kToken + "\r\n")), HasSubstr("anonymous"))
        << "the token alone names nobody";
    EXPECT_EQ(handled(), 1);
}

TEST_F(ServerTest, ZonesAndRegistriesHaveNoNameWithoutTls) {
    start();
    for (const char* name : {"spiffe://a/zone/b", "spiffe://a/registry/b"})
        EXPECT_THAT(ask(get("/", as(name))), testing::AllOf(HasStatus(401), HasSubstr("certificates"))) << name;
    EXPECT_EQ(handled(), 0);
}

TEST_F(ServerTest, IdentityDoesNotOutliveItsRequest) {
    start();
    Client client = connect();
    client.send(get("/one", as("spiffe://a/operator/b")) + get("/two"));
    EXPECT_THAT(client.reply(), HasSubstr("operator"));
    EXPECT_THAT(client.reply(), HasSubstr("anonymous"));
}

TEST_F(ServerTest, TheHeadIsLimited) {
    start({.max_header_bytes = 1024});
    const auto request_of = [](std::size_t size) {
        const std::string frame = get("/", "X: \r\n");
        return get("/", "X: " + std::string(size - frame.size(), 'x') + "\r\n");
    };
    ASSERT_EQ(request_of(1024).size(), 1024U);
    EXPECT_THAT(ask(request_of(1024)), HasStatus(200));
    const std::string over = ask(request_of(1025));
    EXPECT_THAT(over, HasStatus(431));
    EXPECT_THAT(over, HasSubstr("\"status\":431"));
    EXPECT_THAT(ask("GET /" + std::string(5000, 'a')), HasStatus(431)) << "before its end has come";
}

TEST_F(ServerTest, TheBodyIsLimited) {
    start({.max_body_bytes = 1000});
    EXPECT_THAT(ask(post(std::string(1000, 'b'))), HasStatus(200));
    EXPECT_THAT(ask(post(std::string(1001, 'b'))), HasStatus(413));
    EXPECT_THAT(ask("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"), HasStatus(413))
        << "by what it announces";
    std::string chunks = "POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 11; ++i) chunks += "64\r\n" + std::string(100, 'b') + "\r\n";
    EXPECT_THAT(ask(chunks), HasStatus(413)) << "by what has come";
    EXPECT_EQ(handled(), 1);
}

TEST_F(ServerTest, TheBodyIsLimitedByItsCallBeforeItIsRead) {
    start({.body_limit = [](const http::Call& head) -> std::optional<std::size_t> {
        if (head.path == "/none") return std::nullopt;
        return head.peer.is_anonymous() ? 10 : 20;
    }});
    const auto call = [](const std::string& path, const std::string& headers, std::size_t size) {
        return "POST " + path + " HTTP/1.1\r\nHost: a\r\n" + headers + "Content-Length: " + std::to_string(size) +
               "\r\n\r\n";
    };
    const std::string ana = as("spiffe://a/user/ana");
    EXPECT_THAT(ask(call("/p", "", 10) + std::string(10, 'b')), HasStatus(200));
    EXPECT_THAT(ask(call("/p", "", 11)), HasStatus(413)) << "no byte of it was waited for";
    EXPECT_THAT(ask(call("/p", ana, 20) + std::string(20, 'b')), HasStatus(200));
    EXPECT_THAT(ask(call("/p", ana, 21)), HasStatus(413));
    EXPECT_THAT(ask("POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n" + std::string(11, 'b')),
                HasStatus(413));
    EXPECT_EQ(handled(), 2);
    Client client = connect();
    client.send(call("/none", ana, 1000));
    EXPECT_THAT(client.reply(), testing::AllOf(HasSubstr("POST /none [] "), HasSubstr("Connection: close")));
    client.send(std::string(500, 'b') + get("/smuggled"));
    client.finish();
    EXPECT_TRUE(client.closed());
    EXPECT_EQ(handled(), 3) << "a body that was not read is no request";
}

TEST_F(ServerTest, ABodyThatIsTooSlowEndsItsConnection) {
    start({.body_bytes_per_second = 1000, .body_patience = milliseconds{200}});
    Client slow = connect();
    const auto begin = Clock::now();
    slow.send("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + std::string(300, 'b'));
    EXPECT_TRUE(slow.closed());
    EXPECT_GE(Clock::now() - begin, milliseconds{400}) << "what came bought time";
    EXPECT_LT(Clock::now() - begin, milliseconds{8'000});
    EXPECT_EQ(handled(), 0);
}

/// Bodies that are never whole: what is kept of them, and of replies that nobody reads, is bounded.
TEST_F(ServerTest, WhatIsKeptOfAnonymousCallersIsBounded) {
    start({.anonymous_bytes = {100'000, 150'000}});
    const std::string head = "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n";
    Client first = connect();
    first.send(head + "\r\n" + std::string(59'999, 'b'));
    EXPECT_TRUE(wait_for_kept(59'999));
    EXPECT_THAT(ask(head + "\r\n" + std::string(59'999, 'b')),
                testing::AllOf(HasStatus(429), HasSubstr("Retry-After: 1"), HasSubstr("from this address")));
    EXPECT_THAT(ask(head + as("spiffe://a/user/ana") + "\r\n" + std::string(60'000, 'b')), HasStatus(200))
        << "who has a name has a budget of his own";
    first.send("b");
    EXPECT_THAT(first.reply(), HasStatus(200));
    EXPECT_TRUE(wait_until_nothing_is_kept()) << "it is given back after the reply";
    EXPECT_THAT(ask(head + "\r\n" + std::string(60'000, 'b')), HasStatus(200));
}

TEST(ByteBudget, BoundsEachCallerAndAllTogether) {
    const auto budget = std::make_shared<ByteBudget>(ByteBudget::Limits{.each = 100, .all = 150});
    ByteBudget::Share one = budget->share_of("a"), two = budget->share_of("a"), other = budget->share_of("b");
    EXPECT_TRUE(one.resize(60));
    EXPECT_FALSE(two.resize(41));
    EXPECT_TRUE(two.resize(40));
    EXPECT_FALSE(other.resize(51)) << "of all together";
    EXPECT_TRUE(other.resize(50));
    EXPECT_EQ(budget->used(), 150U);
    EXPECT_TRUE(one.resize(10)) << "less is always possible";
    two = {};
    EXPECT_EQ(budget->used(), 60U);
    EXPECT_TRUE(other.resize(100));
    { const ByteBudget::Share moved = std::move(other); }
    EXPECT_EQ(budget->used(), 10U);
    EXPECT_TRUE(ByteBudget::Share{}.resize(1'000)) << "a share of nothing has no bounds";
}

TEST_F(ServerTest, ARefusalReachesAClientThatIsStillSending) {
    start({.max_body_bytes = 100'000});
    for (int i = 0; i < 20; ++i) {
        Client client = connect();
        client.send("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 150000\r\n\r\n");
        client.send(std::string(150'000, 'b'));
        EXPECT_THAT(client.reply(), HasStatus(413));
        client.finish();
        EXPECT_TRUE(client.closed());
    }
}

TEST_F(ServerTest, ASlowHeadIsCutAtItsDeadline) {
    start({.header_deadline = milliseconds{200}});
    const auto begin = Clock::now();
    Client client = connect();
    // A byte now and then must not push the deadline on.
    while (Clock::now() - begin < milliseconds{5'000} && client.send("G")) {
        if (client.closed(milliseconds{20})) break;
    }
    EXPECT_TRUE(client.closed());
    EXPECT_GE(Clock::now() - begin, milliseconds{150});
    EXPECT_LT(Clock::now() - begin, milliseconds{4'000});
    EXPECT_TRUE(wait_for_connections(0));
}

TEST_F(ServerTest, AnIdleConnectionIsClosed) {
    start({.header_deadline = milliseconds{100}});
    Client client = connect();
    client.send(get("/"));
    EXPECT_THAT(client.reply(), HasStatus(200));
    EXPECT_TRUE(client.closed());
}

TEST_F(ServerTest, ASlowBodyIsCutAtItsDeadline) {
    start({.body_deadline = milliseconds{150}});
    Client client = connect();
    client.send("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    EXPECT_TRUE(client.closed());
    EXPECT_EQ(handled(), 0);
}

TEST_F(ServerTest, AHandlerThatNeverAnswersIsAnsweredFor) {
    start({.handler_deadline = milliseconds{100}});
    EXPECT_THAT(ask(get("/hold")), HasStatus(504));
    answer_held();  // late, and without effect
    EXPECT_THAT(ask(get("/")), HasStatus(200));
}

TEST_F(ServerTest, OnlyTheFirstAnswerCounts) {
    start();
    Client client = connect();
    client.send(get("/twice") + get("/next"));
    EXPECT_THAT(client.reply(), HasSubstr("first"));
    EXPECT_THAT(client.reply(), HasSubstr("/next"));
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
    start();
    Client client = connect();
    std::string requests;
    for (int i = 0; i < 50; ++i) requests += i % 2 == 0 ? get("/" + std::to_string(i)) : post(std::to_string(i));
    client.send(requests);
    for (int i = 0; i < 50; ++i) {
        EXPECT_THAT(client.reply(),
                    HasSubstr(i % 2 == 0 ? "GET /" + std::to_string(i) + " " : "[" + std::to_string(i) + "]"));
    }
}

TEST_F(ServerTest, OneByteSegmentsMakeNoDifference) {
    start();
    Client client = connect();
    for (const char c : post("slow but whole") + get("/after")) client.send({&c, 1});
    EXPECT_THAT(client.reply(), HasSubstr("[slow but whole]"));
    EXPECT_THAT(client.reply(), HasSubstr("/after"));
}

TEST_F(ServerTest, AClientThatAsksFirstIsTold) {
    start({.max_body_bytes = 100});
    Client client = connect();
    client.send("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_THAT(client.reply(), HasStatus(100));
    client.send("ok");
    EXPECT_THAT(client.reply(), HasSubstr("[ok]"));
    EXPECT_THAT(ask("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\nExpect: 100-continue\r\n\r\n"),
                HasStatus(413));
}

TEST_F(ServerTest, ConnectionsEndWhenTheClientSaysSo) {
    start();
    for (const char* request : {"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
        Client client = connect();
        client.send(request);
        EXPECT_THAT(client.reply(), HasStatus(200));
        client.finish();
        EXPECT_TRUE(client.closed());
    }
    EXPECT_TRUE(wait_for_connections(0));
}

TEST_F(ServerTest, HeadersOfAReplyCannotBeForged) {
    start();
    const std::string reply = ask(get("/inject"));
    EXPECT_THAT(reply, testing::AllOf(HasSubstr("X-Good: b"), Not(HasSubstr("X-Evil")),
                                      HasSubstr("X-Content-Type-Options: nosniff")));
}

TEST_F(ServerTest, AReplyToHeadHasNoBody) {
    start();
    Client client = connect();
    client.send("HEAD /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    client.finish();
    const std::string reply = client.reply();
    EXPECT_THAT(reply, testing::EndsWith("\r\n\r\n"));
    EXPECT_THAT(reply, testing::AllOf(HasStatus(200), HasSubstr("Content-Length: ")));
}

TEST_F(ServerTest, SeveralLinesOfIfNoneMatchAreOneList) {
    start();
    const auto with = [this](const std::string& lines) {
        return ask("GET /json HTTP/1.1\r\nHost: a\r\n" + lines + "Connection: close\r\n\r\n");
    };
    const std::string first = with("");
    ASSERT_THAT(first, HasStatus(200));
    const std::size_t at = first.find("ETag: ") + 6;
    const std::string tag = first.substr(at, first.find("\r\n", at) - at);
    ASSERT_EQ(tag.size(), 34U) << first;
    for (const std::string& lines :
         {"If-None-Match: \"a\"\r\nIf-None-Match: " + tag + "\r\n",
          "If-None-Match: \"a\", \"b\"\r\nX: y\r\nif-none-match: \"c\", W/" + tag + "\r\nIf-None-Match: \"d\"\r\n",
          std::string("If-None-Match:\r\nIf-None-Match: *\r\n")}) {
        const std::string reply = with(lines);
        EXPECT_THAT(reply, testing::AllOf(HasStatus(304), HasSubstr("ETag: " + tag), testing::EndsWith("\r\n\r\n")));
    }
    EXPECT_THAT(with("If-None-Match: \"a\"\r\nIf-None-Match: \"b\"\r\n"), HasStatus(200));
    EXPECT_THAT(with("If-None-Match: \"a\r\nIf-None-Match: " + tag + "\r\n"), HasStatus(200))
        << "the first line is no list: nothing is one";
}

TEST_F(ServerTest, AtTheCapTheLongestSilentMakesRoom) {
    start({.max_connections = 3});
    Client oldest = connect();
    expect_good_reply(oldest);
    Client younger = connect();
    expect_good_reply(younger);
    Client newcomer = connect();
    EXPECT_TRUE(oldest.closed());
    newcomer.send(get("/new"));
    EXPECT_THAT(newcomer.reply(), HasSubstr("/new"));
    younger.send(get("/still"));
    EXPECT_THAT(younger.reply(), HasSubstr("/still"));
}

TEST_F(ServerTest, ACallerWithoutAnIdentityTakesThePlaceOfAnotherWithoutOne) {
    start({.max_anonymous_connections = 2});
    const std::string own = "zbs-identity: spiffe://a/user/b\r\nzbs-token: " + std::string(kToken) + "\r\n";
    Client named = connect();
    expect_good_reply(named, own);
    Client oldest = connect();
    expect_good_reply(oldest);
    Client younger = connect();
    expect_good_reply(younger);
    Client newcomer = connect();
    EXPECT_TRUE(oldest.closed());
    for (Client* one : {&named, &younger, &newcomer}) {
        one->send(get("/still", one == &named ? own : ""));
        EXPECT_THAT(one->reply(), HasSubstr("/still"));
    }
}

TEST_F(ServerTest, AtTheCapABusyConnectionIsNeverEnded) {
    start({.max_connections = 3});
    Client busy = connect();
    busy.send(get("/hold"));
    ASSERT_TRUE(wait_for_held(1));
    for (int i = 0; i < 10; ++i) {  // each the longest silent of its time, but younger than the busy one
        Client client = connect();
        client.send(get("/"));
        EXPECT_THAT(client.reply(), HasStatus(200));
    }
    answer_held();
    EXPECT_THAT(busy.reply(), HasSubstr("late"));
}

TEST_F(ServerTest, DrainEndsIdleConnectionsAndFinishesWhatIsUnderWay) {
    start();
    Client idle = connect(), busy = connect();
    idle.send(get("/"));
    EXPECT_THAT(idle.reply(), HasStatus(200));
    busy.send(get("/hold"));
    ASSERT_TRUE(wait_for_held(1));
    server_->drain();
    EXPECT_TRUE(idle.closed());
    answer_held();
    EXPECT_THAT(busy.reply(), testing::AllOf(HasSubstr("late"), HasSubstr("Connection: close")));
    busy.finish();
    EXPECT_TRUE(busy.closed());
    EXPECT_TRUE(wait_for_connections(0));
    EXPECT_THROW(connect(), boost::system::system_error) << "nobody listens any more";
}

TEST_F(ServerTest, ClientsThatGoAwayLeaveNothingBehind) {
    start();
    for (int i = 0; i < 50; ++i) {
        Client client = connect();
        client.send(i % 3 == 0   ? get("/")
                    : i % 3 == 1 ? "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc"
                                 : "GET /x");
    }
    EXPECT_TRUE(wait_for_connections(0));
}

TEST_F(ServerTest, ManyClientsAtOnceGetTheirOwnAnswers) {
    start();
    std::vector<std::thread> clients;
    std::atomic<int> good{0};
    for (int c = 0; c < 8; ++c) {
        clients.emplace_back([&, c] {
            Client client = connect();
            for (int i = 0; i < 50; ++i) {
                const std::string name = std::to_string(c) + "-" + std::to_string(i);
                client.send(post(name));
                good += client.reply().find("[" + name + "]") != std::string::npos;
            }
        });
    }
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(good, 400);
}

TEST_F(ServerTest, AStreamIsSentAsItComesAndEndsWithTheConnection) {
    const auto stream = make_stream();
    start();
    Client client = connect();
    client.send(get("/stream"));
    EXPECT_THAT(client.reply(),
                testing::AllOf(HasStatus(200), HasSubstr("Connection: close"), Not(HasSubstr("Content-Length"))));
    EXPECT_TRUE(client.comes("begin"));
    stream->push("one");
    EXPECT_TRUE(client.comes("one"));
    stream->push("two");
    EXPECT_TRUE(client.comes("two"));
    stream->push("");
    EXPECT_TRUE(client.closed());
}

TEST_F(ServerTest, AReaderOfAStreamThatLeavesIsNoticedWhileNothingIsSent) {
    make_stream();
    start();
    {
        Client client = connect();
        client.send(get("/stream"));
        EXPECT_THAT(client.reply(), HasStatus(200));
        EXPECT_TRUE(client.comes("begin"));
    }
    EXPECT_TRUE(wait_for_streams(0));
    EXPECT_TRUE(wait_for_connections(0));
}

TEST_F(ServerTest, AReaderOfAStreamThatReadsNothingIsCut) {
    auto stream = make_stream();
    stream->repeat(std::string(1 << 20, 'x'));
    start({.write_deadline = milliseconds{200}});
    Client client = connect();
    client.send(get("/stream"));
    EXPECT_TRUE(wait_for_connections(1));
    EXPECT_TRUE(wait_for_connections(0));
    EXPECT_LT(stream->asked(), 100) << "no piece is asked for before the one before was taken";
    stream.reset();
    EXPECT_TRUE(wait_for_streams(0));
}

TEST_F(ServerTest, AConnectionThatIsNotAdmittedEndsUnheard) {
    std::atomic<int> asked = 0;
    start({.admit = [&](const std::string& address) {
        EXPECT_EQ(address, "127.0.0.1");
        return asked++ > 0;
    }});
    Client first = connect();
    first.send(get("/"));
    EXPECT_TRUE(first.closed());
    EXPECT_EQ(handled(), 0);
    EXPECT_THAT(ask(get("/")), StartsWith("HTTP/1.1 200"));
}

TEST(Origin, IsTheNumberThatARateIsCountedBy) {
    const auto origin = [](const char* address) { return origin_of(asio::ip::make_address(address)); };
    EXPECT_EQ(origin("192.0.2.7"), "192.0.2.7");
    EXPECT_EQ(origin("::ffff:192.0.2.7"), "192.0.2.7");
    EXPECT_EQ(origin("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
    EXPECT_EQ(origin("2001:db8:1:2:ffff::1"), origin("2001:db8:1:2::9"));
    EXPECT_NE(origin("2001:db8:1:3::1"), origin("2001:db8:1:2::1"));
}

}  // namespace
}  // namespace zbs::beast
