#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/zone_scheduler/trust/peer_service.hpp"
#include "tests/support/fake_trust.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;

/// Other zones that accept whoever asks; nobody calls anything else here.
class AcceptingZones : public TrustTransport {
  public:
    explicit AcceptingZones(Clock& clock) : clock_(clock) {}
    std::vector<std::string> asked;

    void request_peering(const ServiceAddress& to, const PeeringRequest&, Respond<PeeringAnswer> r) override {
        asked.push_back(to_uri(to.who));
        clock_.after(Duration{1}, [r, to, this] {
            if (fault) return r(*fault);
            r(PeeringAnswer{ZoneName(name.empty() ? to.who.name : name), to.who.organisation, state, {}});
        });
    }
    void fetch_trust(const ServiceAddress&, Respond<TrustStatement>) override {}

    PeeringState state = PeeringState::kAccepted;
    std::optional<Error> fault;
    std::string name;  ///< of the zone that answers; empty: the one that is asked

  private:
    Clock& clock_;
};

/// Zone a of org-a, which asks as its configuration says.
class ConfiguredAsks : public testing::Test {
  protected:
    ConfiguredAsks() {
        config.zone = {"a", {{"m0", 4, 1.0}}};
        config.organisation = "org-a";
    }
    void start(std::vector<AskedOrganisation> asks) {
        config.asks = std::move(asks);
        peerings = std::make_unique<PeeringService>(config, clock, site, trust, log);
        peers = std::make_unique<PeerService>(config, clock, store, transport, &keys, trust, *peerings, log);
        ASSERT_TRUE(peerings->resume());
        ASSERT_TRUE(peers->resume());
    }
    /// What the registry lists; returns who was asked because of it.
    std::vector<std::string> look(const std::vector<ZoneEntry>& entries) {
        transport.asked.clear();
        peers->found(entries);
        clock.advance(std::chrono::seconds{31});
        return transport.asked;
    }
    static ZoneEntry entry(const ZoneName& name, const OrganisationName& organisation, const std::string& bundle) {
        return {.name = name, .organisation = organisation, .url = "https://" + name + ":1", .bundle = bundle};
    }
    std::string print(const std::string& bundle) const { return *trust.fingerprint(bundle); }

    const ZoneEntry b = entry("b", "org-b", "BUNDLE b"), other = entry("c", "org-c", "BUNDLE c");
    ZoneConfig config;
    VirtualClock clock;
    MemoryZoneStore store;
    MemorySiteStore site;
    FakeTrust trust;
    FakeKeys keys{{CallerKind::kZone, "org-a", "a"}, "BUNDLE a"};
    SilentLog log;
    AcceptingZones transport{clock};
    std::unique_ptr<PeeringService> peerings;
    std::unique_ptr<PeerService> peers;
};

TEST_F(ConfiguredAsks, NobodyIsAskedWithoutThem) {
    start({});
    EXPECT_THAT(look({b, other}), IsEmpty());
}

TEST_F(ConfiguredAsks, AnOrganisationIsAskedByItsBundle) {
    start({{"org-b", "", "BUNDLE b"}});
    EXPECT_THAT(look({b, other}), ElementsAre("spiffe://org-b/zone/b"));
    EXPECT_EQ(peers->peers().front().outbound, PeeringState::kAccepted);
}

TEST_F(ConfiguredAsks, ByFingerprintItIsAskedOnceTheRegistryShowsThatBundle) {
    start({{"org-b", print("BUNDLE b"), ""}});
    EXPECT_THAT(look({other}), IsEmpty());
    EXPECT_THAT(look({entry("x", "org-b", "BUNDLE posing")}), IsEmpty());
    EXPECT_EQ(trust.bundle("org-b"), std::nullopt);
    EXPECT_EQ(log.count("not_asked"), 1) << "one line, not one per look";
    EXPECT_THAT(look({b}), ElementsAre("spiffe://org-b/zone/b"));
    EXPECT_EQ(trust.bundle("org-b"), "BUNDLE b");
}

TEST_F(ConfiguredAsks, AnOperatorsWrongFingerprintIsToldOfAKnownOrganisationToo) {
    start({{"org-b", "", "BUNDLE b"}});
    look({b});
    EXPECT_TRUE(peers->ask_organisation("org-b", print("BUNDLE b"), ""));
    EXPECT_EQ(peers->ask_organisation("org-b", "sha256:11", "").error().pointer, "/fingerprint");
    EXPECT_EQ(peers->ask_organisation("org-a", "sha256:11", "").error().pointer, "/organisation");
}

/// One word for zone b at each step, with the age of that knowledge.
TEST_F(ConfiguredAsks, ThePeersConditionIsOneWordWithItsAge) {
    using std::chrono::seconds;
    start({{"org-b", "", "BUNDLE b"}});
    const auto word = [this] { return std::string(to_string(peers->peers().front().condition->state)); };
    look({b});
    EXPECT_EQ(word(), "up");
    EXPECT_EQ(peers->peers().front().condition->age, seconds{31} - Duration{1});
    const Error down{ErrorCode::kUnavailable, "POST https://b:1/v1/peerings failed: connection refused", {}};
    const Error silent{ErrorCode::kTimeout, "POST https://b:1 did not answer within 5000 ms", {}};
    const Error expired{ErrorCode::kUnauthenticated, "certificate of spiffe://org-b/zone/b expired", {}};
    const Error blocked{ErrorCode::kDenied, "no certificate and no clock helps spiffe://org-a/zone/a", {}};
    for (const auto& [fault, expected] :
         {std::pair{down, "down"}, {silent, "down"}, {expired, "certificate"}, {blocked, "refuses us"}}) {
        transport.fault = fault;
        look({b});
        EXPECT_EQ(word(), expected);
        EXPECT_THAT(peers->peers().front().reason, testing::StartsWith(fault.message));
    }
    transport.fault = down;
    look({b});
    EXPECT_THAT(peers->peers().front().reason, testing::HasSubstr("the registry lists the zone at https://b:1"));
    transport.fault.reset();
    transport.name = "c";
    look({b});
    EXPECT_EQ(word(), "certificate") << "of another zone, which has the address now";
    transport.name.clear();
    transport.state = PeeringState::kRequested;
    look({b});
    EXPECT_EQ(word(), "waits");
    transport.state = PeeringState::kRejected;
    look({b});
    EXPECT_EQ(word(), "refuses us");
    ZoneEntry resting = b;
    for (const auto& [standing, expected] :
         {std::pair{ZoneStanding::kDrain, "draining"}, {ZoneStanding::kLeft, "left"}}) {
        resting.standing = standing;
        look({resting});
        EXPECT_EQ(word(), expected);
        EXPECT_EQ(peers->peers().front().condition->age, seconds{31});
    }
    look({});
    EXPECT_EQ(word(), "unlisted");
    start({{"org-b", "", "BUNDLE b"}});
    EXPECT_EQ(word(), "unknown") << "since this start nobody asked it";
}

TEST_F(ConfiguredAsks, APeerThatDiesWhileTheRegistryIsAwayIsDown) {
    using std::chrono::seconds;
    start({{"org-b", "", "BUNDLE b"}});
    look({b});
    EXPECT_EQ(peers->peers().front().condition->state, PeerState::kUp);
    transport.fault = Error{ErrorCode::kUnavailable, "cannot connect to b:1: connection refused", {}};
    peers->ask_known();
    clock.advance(seconds{7});
    const Peer dead = peers->peers().front();
    EXPECT_EQ(dead.condition->state, PeerState::kDown);
    EXPECT_EQ(dead.condition->age, seconds{7} - Duration{1});
    EXPECT_THAT(dead.reason, testing::HasSubstr("connection refused"));
    transport.fault.reset();
    peers->ask_known();
    clock.advance(seconds{1});
    EXPECT_EQ(peers->peers().front().condition->state, PeerState::kUp);
    start({{"org-b", "", "BUNDLE b"}});
    transport.asked.clear();
    peers->ask_known();
    EXPECT_THAT(transport.asked, ElementsAre("spiffe://org-b/zone/b")) << "it was stored";
}

TEST_F(ConfiguredAsks, AZoneThatNeverAnsweredIsShownWithItsFault) {
    start({{"org-b", "", "BUNDLE b"}});
    transport.fault = Error{ErrorCode::kUnauthenticated, "certificate of spiffe://org-b/zone/b expired", {}};
    look({b});
    ASSERT_EQ(peers->peers().size(), 1U);
    EXPECT_EQ(peers->peers().front().condition->state, PeerState::kCertificate);
    EXPECT_FALSE(peers->peers().front().outbound);
}

TEST_F(ConfiguredAsks, AClockThatDiffersIsNamedWithItsSeconds) {
    using std::chrono::seconds;
    const Caller zone_b{CallerKind::kZone, "org-b", "b"};
    start({{"org-b", "", "BUNDLE b"}});
    look({b});
    const auto now = [this] { return peers->peers().front(); };
    peers->record_clock(zone_b, seconds{50});
    peers->record_clock(zone_b, seconds{51});
    EXPECT_EQ(now().condition->clock_ahead, seconds{51});
    EXPECT_EQ(now().condition->state, PeerState::kUp) << "it works all the same";
    EXPECT_THAT(now().reason, testing::StartsWith("the clock of zone 'b' is 51 s ahead of this zone's"));
    EXPECT_EQ(log.count("peer_clock"), 1) << "not once per call";
    peers->record_clock(zone_b, -seconds{400});
    EXPECT_EQ(now().condition->state, PeerState::kClock);
    transport.fault = Error{ErrorCode::kUnauthenticated, "the certificate is valid only from tomorrow", {}};
    look({b});
    EXPECT_EQ(now().condition->state, PeerState::kClock) << "the reason for the other fault";
    EXPECT_THAT(now().reason, testing::HasSubstr("tomorrow; the clock of zone 'b' is 400 s behind this zone's"));
    transport.fault = Error{ErrorCode::kUnavailable, "connection refused", {}};
    look({b});
    EXPECT_EQ(now().condition->state, PeerState::kDown) << "its clock was seen before";
    transport.fault.reset();
    peers->record_clock(zone_b, Duration{0});
    look({b});
    EXPECT_EQ(now().condition->state, PeerState::kUp);
    EXPECT_EQ(now().reason, "");
}

TEST_F(ConfiguredAsks, WhoWaitsForAnOperatorLooksMoreOften) {
    transport.state = PeeringState::kRequested;
    start({{"org-b", "", "BUNDLE b"}});
    look({b});
    transport.state = PeeringState::kAccepted;
    clock.advance(std::chrono::seconds{5});
    peers->found({b});
    clock.advance(std::chrono::seconds{5});
    EXPECT_EQ(peers->peers().front().outbound, PeeringState::kAccepted);
    transport.asked.clear();
    peers->found({b});
    EXPECT_THAT(transport.asked, IsEmpty()) << "accepted: half a minute";
}

TEST_F(ConfiguredAsks, DoneTwiceTheyChangeNothing) {
    start({{"org-b", "", "BUNDLE b"}});
    look({b});
    const auto before = peers->peers();
    start({{"org-b", print("BUNDLE b"), "BUNDLE b"}});
    look({b});
    EXPECT_EQ(log.count("not_asked"), 0);
    EXPECT_EQ(site.trusted().load()->size(), 1U);
    ASSERT_EQ(peers->peers().size(), before.size());
    EXPECT_EQ(peers->peers().front().outbound, PeeringState::kAccepted);
}

TEST_F(ConfiguredAsks, ABundleThatIsBelievedIsNotReplaced) {
    ASSERT_TRUE(trust.pin("org-b", "BUNDLE known"));
    start({{"org-b", "", "BUNDLE b"}});
    look({});
    EXPECT_EQ(trust.bundle("org-b"), "BUNDLE known");
    EXPECT_EQ(log.count("not_asked"), 1);
    start({{"org-b", print("BUNDLE b"), ""}});
    look({b});
    EXPECT_EQ(trust.bundle("org-b"), "BUNDLE known");
    EXPECT_EQ(log.count("not_asked"), 2);
}

TEST_F(ConfiguredAsks, WhatAnOperatorForgetsStaysForgotten) {
    start({{"org-b", "", "BUNDLE b"}});
    look({b});
    ASSERT_TRUE(peerings->remove("org-b"));
    EXPECT_THAT(look({b}), IsEmpty());
    peers->set_asks(config.asks);
    EXPECT_THAT(look({b}), ElementsAre("spiffe://org-b/zone/b")) << "until the configuration is read again";
}

TEST_F(ConfiguredAsks, AKnownPeersNameStaysItsOwn) {
    start({{"org-b", "", "BUNDLE b"}, {"org-c", "", "BUNDLE c"}});
    look({b});
    ZoneEntry posing = entry("b", "org-c", "BUNDLE c");
    for (int i = 0; i < 2; ++i) EXPECT_THAT(look({posing}), IsEmpty());
    posing.standing = ZoneStanding::kDrain;
    EXPECT_THAT(look({posing, b}), ElementsAre("spiffe://org-b/zone/b"));
    EXPECT_THAT(look({b, posing}), ElementsAre("spiffe://org-b/zone/b"));
    EXPECT_EQ(peers->standing("b"), ZoneStanding::kActive) << "nor can another put it to rest";
    ASSERT_EQ(peers->peers().size(), 1U);
    EXPECT_EQ(peers->peers().front().organisation, "org-b");
    EXPECT_EQ(log.count("peer_name_taken"), 1) << "logged once";
}

TEST_F(ConfiguredAsks, APeersLeaseIsWhatTheRegistryListsAndGoesWithIt) {
    start({{"org-b", "", "BUNDLE b"}});
    ZoneEntry listed = b;
    listed.issued = clock.now();
    listed.lease = std::chrono::seconds{40};
    listed.issued = clock.now() - std::chrono::hours{3};
    listed.leased_until = clock.now() + std::chrono::seconds{25};
    look({listed});
    EXPECT_EQ(peers->peers().front().leased_until, listed.leased_until);
    EXPECT_FALSE(store.load_peers()->front().leased_until) << "is the registry's to say";
    ZoneEntry posing = entry("b", "org-c", "BUNDLE c");
    look({posing});
    EXPECT_FALSE(peers->peers().front().leased_until);
}

TEST_F(ConfiguredAsks, ANameIsFreeOnceThePeersOrganisationIsRemoved) {
    start({{"org-b", "", "BUNDLE b"}, {"org-c", "", "BUNDLE c"}});
    look({b});
    ASSERT_TRUE(peerings->remove("org-b"));
    EXPECT_THAT(look({entry("b", "org-c", "BUNDLE c")}), ElementsAre("spiffe://org-c/zone/b"));
    ASSERT_EQ(peers->peers().size(), 1U);
    EXPECT_EQ(peers->peers().front().organisation, "org-c");
}

TEST_F(ConfiguredAsks, TheZonesOwnNameIsNobodyElses) {
    start({{"org-c", "", "BUNDLE c"}});
    EXPECT_THAT(look({entry("a", "org-c", "BUNDLE c")}), IsEmpty());
    EXPECT_TRUE(peers->ask_organisation("org-c", "", "BUNDLE c"));
    clock.advance(std::chrono::seconds{31});
    EXPECT_THAT(transport.asked, IsEmpty());
    EXPECT_THAT(peers->peers(), IsEmpty());
    EXPECT_EQ(log.count("peer_name_taken"), 1);
    look({entry("a", "org-a", "BUNDLE a")});
    EXPECT_EQ(log.count("peer_name_taken"), 1) << "its own entry is no surprise";
}

TEST_F(ConfiguredAsks, OfTwoWithOneNameTheFirstToAnswerKeepsIt) {
    start({{"org-b", "", "BUNDLE b"}, {"org-c", "", "BUNDLE c"}});
    EXPECT_THAT(look({b, entry("b", "org-c", "BUNDLE c")}),
                ElementsAre("spiffe://org-b/zone/b", "spiffe://org-c/zone/b"));
    ASSERT_EQ(peers->peers().size(), 1U);
    EXPECT_EQ(peers->peers().front().organisation, "org-b");
    EXPECT_EQ(log.count("peer_name_taken"), 1);
}

TEST_F(ConfiguredAsks, ADirectionInWhichNobodyAskedIsNeitherAcceptedNorRejected) {
    start({{"org-b", "", "BUNDLE b"}});
    look({b});
    ASSERT_EQ(peers->peers().size(), 1U);
    EXPECT_EQ(peers->peers().front().outbound, PeeringState::kAccepted);
    EXPECT_STREQ(direction_word(peers->peers().front().inbound), "none");
}

}  // namespace
}  // namespace zbs::test
