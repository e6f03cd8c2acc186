#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "services/common/adapters/beast/server.hpp"
#include "services/common/adapters/beast/server_tls.hpp"
#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/http/rate_limit.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/trust_world.hpp"

// The server and the caller of the programs, over real TLS on loopback.

namespace zbs::test {
namespace {
using cpprest::HttpCaller;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
namespace asio = boost::asio;

std::string content_of(const std::string& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Counts how often a connection is asked who it is.
class CountingGate : public beast::ServerTls {
  public:
    using ServerTls::ServerTls;
    PeerIdentity identify(ssl_st* connection) const override {
        ++identified;
        return has_run_out ? PeerIdentity::refused("it has run out") : ServerTls::identify(connection);
    }
    mutable std::atomic<int> identified{0};
    std::atomic<bool> has_run_out{false};
};

/// A body of many pieces, each of one letter. With the third what the reader has shown stops counting.
class RunsOut : public http::Stream {
  public:
    explicit RunsOut(std::shared_ptr<CountingGate> gate) : gate_(std::move(gate)) {}
    void next(std::function<void(std::string)> give) override {
        ++pieces_;
        if (pieces_ == 3) gate_->has_run_out = true;
        give(pieces_ > 1'000 ? "" : "x");
    }

  private:
    std::shared_ptr<CountingGate> gate_;
    int pieces_ = 0;
};

class TlsCallTest : public testing::Test {
  protected:
    void SetUp() override {
        for (const auto& [organisation, zone] : {std::pair{"org-a", "alpha"}, {"org-b", "beta"}}) {
            ASSERT_TRUE(openssl::create_organisation(folder.path(zone), OrganisationName(organisation), ZoneName(zone),
                                                     kToday));
            ASSERT_TRUE(trust.pin(OrganisationName(organisation), content_of(folder.path(zone) + "/bundle.pem")));
        }
        alpha = *openssl::KeyFolder::open(folder.path("alpha"), clock);
        beta = *openssl::KeyFolder::open(folder.path("beta"), clock);
        start({});
    }
    void TearDown() override { stop(); }

    void start(beast::ServerOptions options) {
        gate = std::make_shared<CountingGate>(*openssl::TlsServer::make(*alpha, trust));
        options.tls = gate;
        server.emplace(io, options, [this](http::Call call, const http::Respond& respond) {
            if (busy.fetch_sub(1) > 0) return respond(http::too_many_requests(call.peer, wait));
            if (streams) return respond({200, "text/plain", "", {}, std::make_shared<RunsOut>(gate)});
            if (call.path == "/json") return respond({200, "application/json", "{}", {}});
            respond({200, "text/plain", to_uri(call.caller()) + " " + call.peer.refusal() + call.trace.id, {}});
        });
        ASSERT_TRUE(server->start());
        work.emplace(io.get_executor());
        thread = std::thread([this] { io.run(); });
    }
    void stop() {
        if (!thread.joinable()) return;
        server->drain();
        work.reset();
        io.stop();
        thread.join();
    }
    Caller name(const char* organisation, const char* zone) const {
        return {CallerKind::kZone, OrganisationName(organisation), zone};
    }
    HttpCall call(const Caller& who) const {
        return {.to = {"https://127.0.0.1:" + std::to_string(server->port()), who}, .path = "/x"};
    }
    /// A caller with this identity.
    HttpCaller caller(const openssl::KeyFolder& keys, bool allow_private = true) {
        return HttpCaller(
            {.tls = std::make_shared<openssl::TlsClient>(keys, trust), .allow_private_addresses = allow_private});
    }
    HttpCaller user(const Holder& who) {
        return HttpCaller({.tls = std::make_shared<openssl::TlsClient>(
                               openssl::ClientCertificate{key_pem_of(who), pem_of(who)}, trust)});
    }

    Time now = kToday;
    openssl::Now clock = [this] { return now; };
    TemporaryFolder folder;
    openssl::TrustStore trust{clock};
    std::unique_ptr<openssl::KeyFolder> alpha, beta;
    std::atomic<int> busy{0};  ///< calls that are answered with "try later"
    Duration wait = seconds{1};
    std::atomic<bool> streams{false};  ///< calls are answered with a stream
    std::shared_ptr<CountingGate> gate;
    asio::io_context io;
    std::optional<beast::Server> server;
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work;
    std::thread thread;
};

TEST_F(TlsCallTest, BothSidesKnowEachOtherByTheirCertificates) {
    const auto answer = caller(*beta).call(call(name("org-a", "alpha")));
    ASSERT_TRUE(answer) << answer.error();
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "spiffe://org-b/zone/beta ");
}

TEST_F(TlsCallTest, WhatTheCallerHasIsNotSentAgain) {
    HttpCaller asker = caller(*beta);
    HttpCall again = call(name("org-a", "alpha"));
    again.path = "/json";
    const auto first = asker.call(again);
    ASSERT_TRUE(first) << first.error();
    EXPECT_EQ(first->body, "{}");
    again.if_none_match = first->etag;
    const auto second = asker.call(again);
    ASSERT_TRUE(second) << second.error();
    EXPECT_EQ(second->status, 304);
    EXPECT_EQ(second->body, "");
    EXPECT_EQ(second->etag, first->etag);
}

TEST_F(TlsCallTest, ACallCarriesItsTrace) {
    HttpCall traced = call(name("org-a", "alpha"));
    traced.trace.id = "4bf92f3577b34da6a3ce929d0e0e4736";
    const auto answer = caller(*beta).call(traced);
    ASSERT_TRUE(answer) << answer.error();
    EXPECT_EQ(answer->body, "spiffe://org-b/zone/beta 4bf92f3577b34da6a3ce929d0e0e4736");
}

TEST_F(TlsCallTest, AConnectionIsAskedOnceWhoItIs) {
    HttpCaller from = caller(*beta);
    constexpr int kCalls = 40;
    for (int i = 0; i < kCalls; ++i) ASSERT_TRUE(from.call(call(name("org-a", "alpha"))));
    // The client library gives a connection back to its pool a moment after the answer: some calls open a further one.
    EXPECT_EQ(gate->identified, server->connections());
    EXPECT_LT(gate->identified, kCalls) << "no connection was used twice";
    const int before = gate->identified;
    from.forget_connections();
    ASSERT_TRUE(from.call(call(name("org-a", "alpha"))));
    EXPECT_EQ(gate->identified, before + 1);
}

TEST_F(TlsCallTest, AStreamEndsWhenItsReadersCertificateCountsNoMore) {
    stop();
    io.restart();
    start({.identity_age = milliseconds{0}});
    streams = true;
    const auto answer = caller(*beta).call(call(name("org-a", "alpha")));
    ASSERT_TRUE(answer) << answer.error();
    EXPECT_EQ(answer->body, "xx");
}

TEST_F(TlsCallTest, SomebodyElseAtTheAddressIsNotTalkedTo) {
    const auto answer = caller(*beta).call(call(name("org-a", "another")));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kUnauthenticated);
    EXPECT_THAT(answer.error().message,
                testing::AllOf(HasSubstr("spiffe://org-a/zone/another"), HasSubstr("spiffe://org-a/zone/alpha")));
    EXPECT_EQ(gate->identified, 0) << "no request was sent";
}

TEST_F(TlsCallTest, AServerOfAnUnknownOrganisationIsNotTalkedTo) {
    openssl::TrustStore poor(clock);
    ASSERT_TRUE(poor.pin("org-b", beta->bundle()));
    HttpCaller from({.tls = std::make_shared<openssl::TlsClient>(*beta, poor)});
    EXPECT_EQ(from.call(call(name("org-a", "alpha"))).error().code, ErrorCode::kUnauthenticated);
}

TEST_F(TlsCallTest, AnExpiredServerIsToldAsSuch) {
    now += hours{24 * 366};
    const auto answer = caller(*beta).call(call(name("org-a", "alpha")));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kUnauthenticated);
    EXPECT_THAT(answer.error().message, HasSubstr("expired"));
}

TEST_F(TlsCallTest, AnExpiredCallerIsAnonymousAndToldWhy) {
    const Holder authority = make_certificate(authority_form("org-c"), nullptr);
    ASSERT_TRUE(trust.pin("org-c", pem_of(authority)));
    Form form = user_form("org-c", "carl");
    form.not_after = kToday - hours{1};
    const auto answer = user(make_certificate(form, &authority)).call(call(name("org-a", "alpha")));
    ASSERT_TRUE(answer) << answer.error();
    EXPECT_THAT(answer->body, testing::AllOf(HasSubstr("anonymous"), HasSubstr("expired")));
}

TEST_F(TlsCallTest, UsersOfUnknownOrganisationsAreAnonymous) {
    const Holder authority = make_certificate(authority_form("org-x"), nullptr);
    const auto answer =
        user(make_certificate(user_form("org-x", "eve"), &authority)).call(call(name("org-a", "alpha")));
    ASSERT_TRUE(answer) << answer.error();
    EXPECT_THAT(answer->body, HasSubstr("anonymous"));
}

TEST_F(TlsCallTest, WhoIsToldToWaitAsksAgainWithinItsDeadline) {
    busy = 1;
    const auto answer = caller(*beta).call(call(name("org-a", "alpha")));
    ASSERT_TRUE(answer) << answer.error();
    EXPECT_EQ(answer->status, 200);
    EXPECT_FALSE(answer->try_later);
    EXPECT_EQ(busy, -1) << "two calls came";
}

TEST_F(TlsCallTest, WhoHasNoTimeToWaitIsToldToTryLater) {
    busy = 1;
    HttpCall hasty = call(name("org-a", "alpha"));
    hasty.deadline = seconds{20};
    wait = seconds{60};
    const auto answer = caller(*beta).call(hasty);
    ASSERT_TRUE(answer) << answer.error();
    EXPECT_EQ(answer->status, 429);
    EXPECT_TRUE(answer->try_later);
}

TEST_F(TlsCallTest, ACallerMayEndBeforeItsCallsDeadlines) {
    HttpCall short_lived = call(name("org-a", "alpha"));
    short_lived.deadline = seconds{60};
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(caller(*beta).call(short_lived));
    EXPECT_TRUE(caller(*beta).call(call(name("org-a", "alpha"))));
}

TEST_F(TlsCallTest, PrivateAddressesAreNotCalledWhereThatIsNotAllowed) {
    const auto answer = caller(*beta, false).call(call(name("org-a", "alpha")));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kDenied);
    EXPECT_THAT(answer.error().message, HasSubstr("loopback"));
    EXPECT_EQ(server->connections(), 0);
}

TEST_F(TlsCallTest, WithoutCertificatesHttpsIsRefused) {
    HttpCaller plain({.self = {CallerKind::kUser, "org-a", "ana"}});
    EXPECT_EQ(plain.call(call(name("org-a", "alpha"))).error().code, ErrorCode::kInvalidArgument);
}

/// The server ends a connection that sends no handshake, and a plain request gets no answer that could be taken for
/// one.
TEST_F(TlsCallTest, AStalledHandshakeIsCutAtItsDeadline) {
    stop();
    io.restart();
    start({.handshake_deadline = milliseconds{150}});
    asio::io_context client_io;
    asio::ip::tcp::socket silent(client_io);
    silent.connect({asio::ip::make_address("127.0.0.1"), server->port()});
    pollfd waiting{silent.native_handle(), POLLIN, 0};
    ASSERT_EQ(poll(&waiting, 1, 10'000), 1) << "the server never gave up";
    char byte = 0;
    boost::system::error_code fault;
    silent.read_some(asio::buffer(&byte, 1), fault);
    EXPECT_TRUE(fault);
    EXPECT_TRUE(caller(*beta).call(call(name("org-a", "alpha"))));
}

TEST_F(TlsCallTest, NewKeysAreUsedByNewConnections) {
    auto tls = *openssl::TlsServer::make(*alpha, trust);
    const auto before = tls->context();
    ASSERT_TRUE(tls->reload());
    EXPECT_NE(tls->context(), before);
}

/// Threads of cpprestsdk go on with a handshake after the caller and the trust store are gone.
TEST_F(TlsCallTest, AHandshakeAfterTheEndOfItsCallerReadsNoCertificates) {
    const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    const openssl::TlsClient client(*beta, trust);
    const auto expectation = client.expect(name("org-a", "alpha"));
    EXPECT_NO_THROW(client.configure(context.get(), *expectation));
    expectation->close();
    EXPECT_THROW(client.configure(context.get(), *expectation), std::runtime_error);
}

}  // namespace
}  // namespace zbs::test
