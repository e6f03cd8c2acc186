#include "services/zone_scheduler/records/registry_session.hpp"

#include <gmock/gmock.h>

#include "services/common/codec/json/signed_entry.hpp"
#include "services/zone_scheduler/trust/trust_exchange.hpp"
#include "tests/unit/zone_trust/identity_world.hpp"

namespace zbs::test {
namespace {
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

/// A registry, and other zones, as a test wants them; every answer comes later, on the clock.
class ScriptedTransport : public RegistryTransport, public TrustTransport {
  public:
    explicit ScriptedTransport(Clock& clock) : clock_(clock) {}

    Result<ZoneLease> lease = ZoneLease{"alpha", seconds{40}};
    Result<ZoneLease> enrol_lease = ZoneLease{"alpha", seconds{40}};
    Result<std::vector<SignedText>> listed = std::vector<SignedText>{};
    std::map<std::string, Result<TrustStatement>> statements;  ///< by url; without: silence for ever
    std::vector<std::string> calls;
    std::vector<SignedText> published;

    void enrol(const ServiceAddress&, const std::string& code, const SignedText& entry, Respond<ZoneLease> r) override {
        calls.push_back("enrol " + code);
        published.push_back(entry);
        later(r, enrol_lease);
    }
    void publish(const ServiceAddress&, const SignedText& entry, Respond<ZoneLease> r) override {
        calls.push_back("publish");
        published.push_back(entry);
        later(r, lease);
    }
    void renew(const ServiceAddress&, const ZoneName& zone, Respond<ZoneLease> r) override {
        calls.push_back("renew " + zone);
        later(r, lease);
    }
    void leave(const ServiceAddress&, const ZoneName& zone, Respond<ZoneLease> r) override {
        calls.push_back("leave " + zone);
        later(r, lease);
    }
    void list_zones(const ServiceAddress&, const ZoneQuery& query, Respond<ZonePage> r) override {
        ++looks;
        if (pages) return later(r, pages(query));
        later(r, listed ? Result<ZonePage>(ZonePage{*listed, {}}) : Result<ZonePage>(listed.error()));
    }
    std::function<Result<ZonePage>(const ZoneQuery&)> pages;  ///< instead of `listed`
    void fetch_trust(const ServiceAddress& to, Respond<TrustStatement> r) override {
        calls.push_back("trust " + to.url);
        if (const auto at = statements.find(to.url); at != statements.end()) later(r, at->second);
    }
    void request_peering(const ServiceAddress&, const PeeringRequest&, Respond<PeeringAnswer>) override {}

    int looks = 0;
    long count(const std::string& call) const { return std::count(calls.begin(), calls.end(), call); }

  private:
    template <class T>
    void later(const Respond<T>& respond, const Result<T>& answer) {
        clock_.after(std::chrono::milliseconds{1}, [respond, answer] { respond(answer); });
    }
    Clock& clock_;
};

class RegistrySessionTest : public IdentityWorld {
  protected:
    RegistrySessionTest() {
        home.config.registry = {"https://reg:1", {CallerKind::kRegistry, "org-r", "main"}};
        const auto keep = [this](const std::vector<ZoneEntry>& entries) {
            ++notified;
            found.clear();
            leased_until.clear();
            for (const ZoneEntry& entry : entries) {
                found.push_back(entry.name + " at " + entry.url);
                leased_until.push_back(entry.leased_until);
            }
        };
        session = std::make_unique<RegistrySession>(
            home.config, clock, transport, home.trust,
            EntrySigning{[this](const ZoneEntry& entry) { return codec::sign_entry(*home.keys, entry); },
                         [this](const SignedText& text) { return codec::verify_entry(home.trust, text); }},
            home.log, keep, [this] { ++missed; }, [this] { ++forgotten; });
    }
    ZoneEntry entry(const IdentityZone& zone) const {
        return {.name = zone.config.name(),
                .organisation = zone.config.organisation,
                .contact = "ops",
                .url = zone.config.url,
                .categories = {"mpi"},
                .lease = seconds{40},
                .issued = clock.now(),
                .bundle = zone.keys->bundle()};
    }
    static SignedText sign(const IdentityZone& zone, const ZoneEntry& entry) {
        return *codec::sign_entry(*zone.keys, entry);
    }
    ZoneStanding last_standing() { return codec::verify_entry(home.trust, transport.published.back())->standing; }
    /// What the registry lists, as the session hands it on.
    std::vector<std::string> look(const std::vector<SignedText>& entries) {
        transport.listed = entries;
        clock.advance(home.config.discover_every + seconds{1});
        return found;
    }

    ScriptedTransport transport{clock};
    std::unique_ptr<RegistrySession> session;
    std::vector<std::string> found;
    std::vector<std::optional<Time>> leased_until;  ///< of those
    int notified = 0;
    int missed = 0;  ///< looks without an answer
    int forgotten = 0;
};

TEST_F(RegistrySessionTest, TheCodeIsUsedOnceAndThenForgotten) {
    home.config.registry_code = "secret";
    session->start();
    clock.advance(seconds{1});
    EXPECT_TRUE(session->enrolled());
    EXPECT_EQ(forgotten, 1);
    transport.lease = Error{ErrorCode::kNotFound, "expired", {}};
    clock.advance(home.config.renew_every);
    transport.lease = ZoneLease{"alpha", seconds{40}};
    clock.advance(seconds{5});
    EXPECT_TRUE(session->enrolled());
    EXPECT_THAT(transport.calls, ElementsAre("enrol secret", "renew alpha", "publish"));
    EXPECT_EQ(forgotten, 1);
}

TEST_F(RegistrySessionTest, TheEntryHoldsTheOffersOfTheZone) {
    home.config.queue = "gang:packing=best-fit";
    home.config.mpich_version = "4.0.2";
    home.config.openmpi_version = "4.1.4";
    home.config.run_as_accounts = true;
    session->start();
    clock.advance(seconds{1});
    const auto published = codec::verify_entry(home.trust, transport.published.back());
    ASSERT_TRUE(published) << published.error();
    EXPECT_THAT(
        published->categories,
        ElementsAre("mpi", "policy=gang", "sharing=none", "backend=local", "launcher=mpich", "mpi=4.0.2", "mpich=4.0.2",
                    "launcher=openmpi", "mpi=4.1.4", "openmpi=4.1.4", "feature=staging", "feature=accounts"));
}

TEST(CategoriesOf, PoliciesOfAllPartitionsAreOffered) {
    ZoneConfig config;
    config.staging.job_bytes = 0;
    config.queue = "easy";
    config.zone.machines = {{"m0", 1, 1}, {"m1", 1, 1}};
    config.partition_of = {"debug", "batch"};
    config.partitions = {{.name = "batch", .queue = "gang", .sharing = ZoneState::Sharing::kTime}};
    EXPECT_THAT(categories_of(config),
                ElementsAre("mpi", "policy=easy", "sharing=none", "policy=gang", "sharing=gang", "backend=local"));
    config.partitions.push_back({.name = "debug", .queue = "fcfs"});
    EXPECT_THAT(categories_of(config),
                ElementsAre("mpi", "policy=gang", "sharing=gang", "policy=fcfs", "sharing=none", "backend=local"))
        << "no machine has the queue of the zone";
}

TEST(CategoriesOf, AZoneOffersOnlyWhatItHas) {
    ZoneConfig config;
    config.staging.job_bytes = 0;
    EXPECT_THAT(categories_of(config), ElementsAre("mpi", "policy=none", "sharing=none", "backend=local"));
    config.agents = {MachineName("n1")};
    config.queue = "elmer:threshold=1";
    config.sharing = ZoneState::Sharing::kPriority;
    EXPECT_THAT(categories_of(config), ElementsAre("mpi", "policy=elmer", "sharing=priority", "backend=agents"));
    config.queue = "gang";
    config.sharing = ZoneState::Sharing::kTime;
    config.concurrent_gang = true;
    EXPECT_THAT(categories_of(config), ElementsAre("mpi", "policy=gang", "sharing=concurrent-gang", "backend=agents"));
    config = {};
    config.has_slurm = true;
    config.openmpi_version = "4.1.4";  // its ranks could not write their output
    config.staging.job_bytes = 0;
    EXPECT_THAT(categories_of(config), ElementsAre("mpi", "policy=none", "sharing=none", "backend=slurm"));
    config.staging.nodes_share_state = true;
    EXPECT_THAT(categories_of(config), ElementsAre("mpi", "policy=none", "sharing=none", "backend=slurm",
                                                   "launcher=openmpi", "mpi=4.1.4", "openmpi=4.1.4", "launcher=srun"));
}

/// The answer was lost, and by now the code has run out.
TEST_F(RegistrySessionTest, ACodeThatWasUsedUnheardDoesNotKeepTheZoneOut) {
    home.config.registry_code = "secret";
    transport.enrol_lease = Error{ErrorCode::kDenied, "this code does not work here", {}};
    session->start();
    clock.advance(seconds{5});
    EXPECT_TRUE(session->enrolled());
    EXPECT_EQ(forgotten, 1);
    EXPECT_THAT(transport.calls, ElementsAre("enrol secret", "publish"));
}

TEST_F(RegistrySessionTest, ACodeThatNeverWorkedIsTriedAgain) {
    home.config.registry_code = "secret";
    transport.enrol_lease = transport.lease = Error{ErrorCode::kDenied, "no", {}};
    session->start();
    clock.advance(minutes{10});
    EXPECT_FALSE(session->enrolled());
    EXPECT_EQ(forgotten, 0);
    EXPECT_GT(transport.count("enrol secret"), 5);
    EXPECT_LT(transport.count("enrol secret"), 20) << "who refuses is asked less and less often, down to every 30 s";
}

TEST_F(RegistrySessionTest, ARegistryThatIsDownForAnHourIsAskedAgainAndTellsNothingMeanwhile) {
    const Error down{ErrorCode::kUnavailable, "refused", {}};
    transport.lease = down;
    transport.listed = down;
    session->start();
    clock.advance(hours{1});
    EXPECT_FALSE(session->enrolled());
    EXPECT_EQ(notified, 0) << "what is known stays as it is";
    EXPECT_GT(transport.count("publish"), 1000);
    EXPECT_GT(transport.looks, 500);
    EXPECT_LT(home.log.lines.size(), 10U) << "one line, not one per attempt";
    transport.lease = ZoneLease{"alpha", seconds{40}};
    transport.listed = std::vector{sign(away, entry(away))};
    clock.advance(seconds{6});
    EXPECT_TRUE(session->enrolled());
    EXPECT_THAT(found, ElementsAre("beta at https://beta:1"));
}

TEST_F(RegistrySessionTest, ALookWithoutAnAnswerIsReported) {
    session->start();
    look({});
    EXPECT_EQ(missed, 0);
    transport.listed = Error{ErrorCode::kUnavailable, "connection refused", {}};
    clock.advance(home.config.discover_every * 3 + seconds{1});
    EXPECT_EQ(missed, 3);
    look({});
    EXPECT_EQ(missed, 3);
}

TEST_F(RegistrySessionTest, ALyingRegistryCannotChangeWhatAZoneSigned) {
    session->start();
    const SignedText good = sign(away, entry(away));
    EXPECT_THAT(look({good}), ElementsAre("beta at https://beta:1"));
    SignedText altered = good;
    altered.text.replace(altered.text.find("beta:1"), 6, "evil:1");
    SignedText signature = good;
    signature.signature[5] = signature.signature[5] == 'A' ? 'B' : 'A';
    SignedText empty;
    EXPECT_THAT(look({altered, signature, empty}), IsEmpty());
    IdentityZone third(clock, "org-c", "gamma");
    SignedText by_another = sign(third, entry(away));
    ZoneEntry mixed = entry(away);
    mixed.bundle = third.keys->bundle();
    EXPECT_THAT(look({by_another, sign(third, mixed)}), IsEmpty()) << "signed by another zone";
    EXPECT_THAT(look({altered, good}), ElementsAre("beta at https://beta:1")) << "one lie hides no truth";
}

TEST_F(RegistrySessionTest, AnOrganisationThatBringsAnotherBundleThanThePinnedOneIsRefused) {
    session->start();
    IdentityZone posing(clock, "org-b", "beta");  // same names, other keys
    EXPECT_THAT(look({sign(posing, entry(posing))}), IsEmpty());
    EXPECT_GE(home.log.count("registry_entry_refused"), 1);
    home.trust.unpin("org-b");
    EXPECT_THAT(look({sign(posing, entry(posing))}), ElementsAre("beta at https://beta:1"))
        << "of an organisation that nobody knows it is for the operator to say";
}

TEST_F(RegistrySessionTest, EntriesAreNotPlayedBack) {
    session->start();
    const SignedText old = sign(away, entry(away));
    clock.advance(seconds{1});
    ZoneEntry moved = entry(away);
    moved.url = "https://new:1";
    EXPECT_THAT(look({sign(away, moved)}), ElementsAre("beta at https://new:1"));
    EXPECT_THAT(look({old}), IsEmpty());
    EXPECT_THAT(look({sign(away, moved)}), ElementsAre("beta at https://new:1"));
}

TEST_F(RegistrySessionTest, ALongListIsReadPageByPageAndToldOnce) {
    IdentityZone third(clock, "org-c", "gamma");
    ASSERT_TRUE(home.trust.pin("org-c", third.keys->bundle()));
    transport.pages = [&](const ZoneQuery& query) -> Result<ZonePage> {
        if (query.after.empty()) return ZonePage{{sign(away, entry(away))}, "beta"};
        return query.after == "beta" ? ZonePage{{sign(third, entry(third))}, {}} : ZonePage{};
    };
    session->start();
    clock.advance(seconds{1});
    EXPECT_EQ(transport.looks, 2);
    EXPECT_EQ(notified, 1);
    EXPECT_THAT(found, ElementsAre("beta at https://beta:1", "gamma at https://gamma:1"));
}

TEST_F(RegistrySessionTest, ALeaseLastsAsLongAsTheRegistrySaysWhenItIsListed) {
    ZoneEntry old = entry(away);
    old.issued = clock.now() - hours{3};  // it was renewed many times since
    transport.pages = [&](const ZoneQuery& query) {
        EXPECT_TRUE(query.leases);
        return ZonePage{{sign(away, old)}, {}, {seconds{25}}};
    };
    session->start();
    clock.advance(seconds{1});
    ASSERT_EQ(leased_until.size(), 1U);
    EXPECT_GT(*leased_until[0], clock.now() + seconds{23});
    EXPECT_LE(*leased_until[0], clock.now() + seconds{25});
}

TEST_F(RegistrySessionTest, HalfAListIsNotTold) {
    transport.pages = [&](const ZoneQuery& query) -> Result<ZonePage> {
        if (query.after.empty()) return ZonePage{{sign(away, entry(away))}, "beta"};
        return Error{ErrorCode::kTimeout, "lost", {}};
    };
    session->start();
    clock.advance(minutes{10});
    EXPECT_EQ(notified, 0) << "zones that are only on the lost page would count as gone";
    EXPECT_GT(transport.looks, 100) << "but it is asked again";
}

TEST_F(RegistrySessionTest, AListWithoutEndIsGivenUp) {
    int page = 0;
    transport.pages = [&](const ZoneQuery&) -> Result<ZonePage> {
        return ZonePage{std::vector<SignedText>(1'000), ZoneName("zone" + std::to_string(1'000 + ++page))};
    };
    session->start();
    clock.advance(home.config.discover_every);
    EXPECT_EQ(notified, 0);
    EXPECT_EQ(transport.looks, 10);
    transport.pages = [](const ZoneQuery&) -> Result<ZonePage> { return ZonePage{{SignedText{}}, "same"}; };
    clock.advance(home.config.discover_every);
    EXPECT_LE(transport.looks, 10 + 3) << "a page that leads to itself ends it, too";
    EXPECT_EQ(notified, 0);
}

TEST_F(RegistrySessionTest, DrainIsToldAndTakenBack) {
    session->start();
    clock.advance(seconds{1});
    EXPECT_EQ(last_standing(), ZoneStanding::kActive);
    session->drain(true);
    EXPECT_TRUE(session->draining());
    clock.advance(seconds{1});
    EXPECT_EQ(last_standing(), ZoneStanding::kDrain);
    session->drain(false);
    clock.advance(seconds{1});
    EXPECT_EQ(last_standing(), ZoneStanding::kActive);
}

TEST_F(RegistrySessionTest, DrainThatWasNotHeardIsToldAgain) {
    session->start();
    session->drain(true);  // before the registry answered the first entry
    clock.advance(home.config.renew_every + seconds{1});
    EXPECT_EQ(last_standing(), ZoneStanding::kDrain);
    transport.lease = Error{ErrorCode::kTimeout, "lost", {}};
    session->drain(false);
    clock.advance(seconds{1});
    transport.lease = ZoneLease{"alpha", seconds{40}};
    const std::size_t before = transport.published.size();
    clock.advance(home.config.renew_every);
    EXPECT_GT(transport.published.size(), before);
    EXPECT_EQ(last_standing(), ZoneStanding::kActive);
    const std::size_t after = transport.published.size();
    clock.advance(4 * home.config.renew_every);
    EXPECT_EQ(transport.published.size(), after) << "once heard, renewals do";
}

TEST_F(RegistrySessionTest, AnEntrySignedAnewReplacesTheOneAtTheRegistry) {
    session->start();
    clock.advance(seconds{1});
    const std::size_t before = transport.published.size();
    session->sign_anew();
    transport.lease = Error{ErrorCode::kTimeout, "lost", {}};
    clock.advance(home.config.renew_every);
    EXPECT_EQ(transport.published.size(), before + 1);
    transport.lease = ZoneLease{"alpha", seconds{40}};
    clock.advance(seconds{5});
    EXPECT_EQ(transport.published.size(), before + 2) << "until it was heard";
    clock.advance(4 * home.config.renew_every);
    EXPECT_EQ(transport.published.size(), before + 2) << "then renewals do";
}

TEST_F(RegistrySessionTest, ARegistryWhoseClockDiffersIsNamedWithItsSeconds) {
    session->record_clock(std::chrono::milliseconds{999});
    EXPECT_EQ(session->clock_ahead(), Duration{0}) << "the header Date is exact to a second";
    session->record_clock(seconds{75});
    session->record_clock(seconds{76});
    session->record_clock(std::chrono::milliseconds{999});
    EXPECT_EQ(session->clock_ahead(), seconds{76});
    ASSERT_EQ(home.log.count("registry_clock"), 1);
    const auto line = std::ranges::find(home.log.lines, "registry_clock", &SilentLog::Line::event);
    EXPECT_THAT(line->fields.begin()->second,
                testing::StartsWith("the clock of the registry is 75 s ahead of this zone's"));
    session->record_clock(Duration{0});
    EXPECT_EQ(session->clock_ahead(), Duration{0});
}

TEST_F(RegistrySessionTest, AnEntryOfTheFutureIsRefusedOnceWithItsSeconds) {
    session->start();
    ZoneEntry ahead = entry(away);
    ahead.issued = clock.now() + hours{1};
    const SignedText text = sign(away, ahead);
    EXPECT_THAT(look({text}), IsEmpty());
    EXPECT_THAT(look({text}), IsEmpty());
    EXPECT_EQ(home.log.count("registry_entry_refused"), 1) << "the difference is another at each look";
}

TEST_F(RegistrySessionTest, AnEntryOfAFastClockDoesNotKeepOutThoseOfTheMendedOne) {
    session->start();
    ZoneEntry fast = entry(away);
    fast.issued = clock.now() + seconds{70};
    EXPECT_THAT(look({sign(away, fast)}), testing::SizeIs(1));
    ZoneEntry before = entry(away);
    before.issued = clock.now() - hours{1};
    clock.advance(seconds{1});
    EXPECT_THAT(look({sign(away, entry(away))}), testing::SizeIs(1));
    EXPECT_THAT(look({sign(away, before)}), IsEmpty()) << "an old one is played back";
}

TEST_F(RegistrySessionTest, AnOwnEntryOfTheFutureIsNoRivals) {
    ZoneEntry own = entry(home);
    own.issued = clock.now() + seconds{70};  // by this zone, before its clock was mended
    session->start();
    look({sign(home, own)});
    EXPECT_FALSE(session->rival());
}

TEST_F(RegistrySessionTest, ARivalIsReportedWithItsAgeUntilItStops) {
    session->start();
    clock.advance(seconds{1});
    ZoneLease contested{"alpha", seconds{40}};
    contested.rival = RivalClaim{"spiffe://org-a/zone/alpha", "https://copy:1", seconds{3}};
    transport.lease = contested;
    clock.advance(home.config.renew_every);
    ASSERT_TRUE(session->rival());
    EXPECT_EQ(session->rival()->url, "https://copy:1");
    EXPECT_GE(session->rival()->age, seconds{3});
    EXPECT_EQ(home.log.count("identity_claimed_twice"), 1);
    EXPECT_TRUE(session->enrolled());
    clock.advance(home.config.renew_every);
    EXPECT_EQ(home.log.count("identity_claimed_twice"), 1) << "each rival once";
    transport.lease = ZoneLease{"alpha", seconds{40}};
    clock.advance(kRivalRemembered + home.config.renew_every);
    EXPECT_FALSE(session->rival());
    EXPECT_EQ(home.log.count("identity_claim_ended"), 1);
}

/// Both have the zone's key and its address, so the registry cannot distinguish them.
TEST_F(RegistrySessionTest, AnEntryThatThisProcessDidNotSignShowsARival) {
    session->start();
    clock.advance(seconds{1});
    look({transport.published.back()});
    EXPECT_FALSE(session->rival()) << "its own";
    look({sign(home, entry(home))});
    ASSERT_TRUE(session->rival());
    EXPECT_EQ(session->rival()->url, home.config.url);
    const long before = transport.count("publish");
    clock.advance(home.config.renew_every);
    EXPECT_EQ(transport.count("publish"), before + 1) << "its own entry comes back";
}

TEST_F(RegistrySessionTest, LeavingSaysSoOnceAndEndsAllTalk) {
    session->start();
    clock.advance(seconds{1});
    session->leave();
    clock.advance(seconds{1});
    EXPECT_EQ(last_standing(), ZoneStanding::kLeft);
    EXPECT_EQ(transport.calls.back(), "leave alpha");
    const std::size_t calls = transport.calls.size();
    clock.advance(hours{1});
    EXPECT_EQ(transport.calls.size(), calls);
}

TEST_F(RegistrySessionTest, WithoutARegistryNobodyIsCalled) {
    home.config.registry.url.clear();
    session->start();
    session->drain(true);
    session->leave();
    clock.advance(hours{1});
    EXPECT_THAT(transport.calls, IsEmpty());
    EXPECT_EQ(transport.looks, 0);
}

class TrustExchangeTest : public IdentityWorld {
  protected:
    static ServiceAddress address(const IdentityZone& zone) { return {zone.config.url, zone.self()}; }
    ScriptedTransport transport{clock};
};

TEST_F(TrustExchangeTest, EveryZoneIsAskedEveryFifteenSecondsWhateverTheOthersDo) {
    IdentityZone dead(clock, "org-c", "gamma"), broken(clock, "org-d", "delta");
    transport.statements.insert_or_assign(broken.config.url, Error{ErrorCode::kUnavailable, "refused", {}});
    transport.statements.insert_or_assign(away.config.url, away.membership->statement());
    TrustExchange exchange(clock, transport, *home.membership, home.log, [&] {
        return std::vector{address(dead), address(broken), address(away)};
    });
    exchange.start();
    clock.advance(seconds{59});
    for (const IdentityZone* zone : {&dead, &broken, &away})
        EXPECT_EQ(transport.count("trust " + zone->config.url), 4) << zone->config.url;
    EXPECT_EQ(home.log.count("trust_not_refreshed"), 4) << "those of the broken one";
}

TEST_F(TrustExchangeTest, ARevocationIsInForceElsewhereWithinAMinute) {
    const auto bob = away.join("bob");
    transport.statements.insert_or_assign(away.config.url, away.membership->statement());
    TrustExchange exchange(clock, transport, *home.membership, home.log, [&] { return std::vector{address(away)}; });
    exchange.start();
    clock.advance(seconds{1});
    EXPECT_FALSE(home.membership->is_blocked(bob.identity));
    ASSERT_TRUE(away.membership->revoke_user("bob"));
    transport.statements.insert_or_assign(away.config.url, away.membership->statement());
    clock.advance(TrustExchange::kEvery);
    EXPECT_TRUE(home.membership->is_blocked(bob.identity));
    transport.statements.insert_or_assign(away.config.url, Error{ErrorCode::kUnavailable, "refused", {}});
    clock.advance(hours{1});
    EXPECT_TRUE(home.membership->is_blocked(bob.identity)) << "who does not answer keeps what was known";
}

}  // namespace
}  // namespace zbs::test
