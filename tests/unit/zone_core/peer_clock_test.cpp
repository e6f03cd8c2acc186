// Two zones, each with a clock of its own: the calls, the messages and the decisions are the real ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <tuple>

#include "services/common/codec/message_codec.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/http/rest_transport.hpp"
#include "services/zone_scheduler/trust/peer_service.hpp"
#include "tests/support/fake_trust.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {
namespace {
using testing::HasSubstr;

/// Zone b of org-b, which is asked for peering; each answer shows its clock.
class ZoneB : public HttpClient {
  public:
    ZoneB() {
        config_.zone = {"b", {{"m0", 4, 1.0}}};
        config_.organisation = "org-b";
        EXPECT_TRUE(peerings_.resume());
    }
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        const Result<PeeringRequest> request = codec::decode_peering_request(*codec::parse(call.body));
        ASSERT_TRUE(request) << request.error();
        const http::Reply reply = http::reply(peerings_.request({}, *request),
                                              [](const PeeringAnswer& answer) { return codec::encode(answer); });
        respond(HttpAnswer{
            .status = reply.status, .body = reply.body, .date = std::chrono::floor<std::chrono::seconds>(clock.now())});
    }

    VirtualClock clock;

  private:
    ZoneConfig config_;
    MemorySiteStore site_;
    FakeTrust trust_;
    SilentLog log_;
    PeeringService peerings_{config_, clock, site_, trust_, log_};
};

/// Zone a of org-a, which asks it.
class PeerClock : public testing::Test {
  protected:
    PeerClock() {
        config.zone = {"a", {{"m0", 4, 1.0}}};
        config.organisation = "org-a";
        config.url = "https://a:1";
        config.asks = {{"org-b", "", "BUNDLE b"}};
        auto client = std::make_unique<ZoneB>();
        zone_b = client.get();
        transport = http::make_rest_transport(
            {.client = std::move(client),
             .self = {CallerKind::kZone, "org-a", "a"},
             .post = [this](std::function<void()> work) { clock.after(Duration{0}, std::move(work)); },
             .now = [this] { return clock.now(); },
             .clock_seen = [this](const Caller& who, Duration ahead) { peers->record_clock(who, ahead); }});
        peerings = std::make_unique<PeeringService>(config, clock, site, trust, log);
        peers = std::make_unique<PeerService>(config, clock, store, *transport, &keys, trust, *peerings, log);
        EXPECT_TRUE(peerings->resume());
        EXPECT_TRUE(peers->resume());
    }
    /// Zone b after it was asked, with its clock ahead by this much.
    Peer ask(std::chrono::seconds ahead) {
        zone_b->clock.set_wall(clock.now() + ahead);
        peers->found({{.name = "b", .organisation = "org-b", .url = "https://b:1", .bundle = "BUNDLE b"}});
        clock.advance(std::chrono::seconds{31});
        return peers->peers().front();
    }

    ZoneConfig config;
    VirtualClock clock;
    MemoryZoneStore store;
    MemorySiteStore site;
    FakeTrust trust;
    FakeKeys keys{{CallerKind::kZone, "org-a", "a"}, "BUNDLE a"};
    SilentLog log;
    ZoneB* zone_b = nullptr;
    std::unique_ptr<ZoneTransport> transport;
    std::unique_ptr<PeeringService> peerings;
    std::unique_ptr<PeerService> peers;
};

TEST_F(PeerClock, ADifferenceThatDoesNoHarmIsNamedWithItsSeconds) {
    const Peer peer = ask(std::chrono::seconds{50});
    EXPECT_EQ(peer.condition->state, PeerState::kWaits) << peer.reason;
    EXPECT_EQ(peer.condition->clock_ahead, std::chrono::seconds{50});
    EXPECT_THAT(peer.reason, HasSubstr("the clock of zone 'b' is 50 s ahead of this zone's"));
}

/// Each side names the other one, from its own clock.
TEST_F(PeerClock, ARefusalBecauseOfAClockIsTheStateClock) {
    for (const auto& [ahead, theirs, ours] :
         {std::tuple{std::chrono::seconds{700}, "the clock of zone 'a' is 700 s behind that of zone 'b'",
                     "700 s ahead of this zone's"},
          {std::chrono::seconds{-700}, "the clock of zone 'a' is 700 s ahead of that of zone 'b'",
           "699 s behind this zone's"}}) {
        const Peer peer = ask(ahead);
        EXPECT_EQ(peer.condition->state, PeerState::kClock);
        EXPECT_FALSE(peer.outbound);
        EXPECT_THAT(peer.reason, testing::AllOf(HasSubstr(theirs), HasSubstr(ours)));
    }
    const Peer peer = ask(std::chrono::seconds{0});
    EXPECT_EQ(peer.condition->state, PeerState::kWaits) << "it recovers without a restart";
    EXPECT_EQ(peer.condition->clock_ahead, Duration{0});
}

}  // namespace
}  // namespace zbs::test
