#include <gmock/gmock.h>

#include <algorithm>

#include "services/common/codec/message_codec.hpp"
#include "services/common/messages/limits.hpp"
#include "tests/unit/registry/registry_world.hpp"

namespace zbs::test {
namespace {
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

class RegistryTest : public RegistryWorld {
  protected:
    void bring_in(const std::string& name, const OrganisationName& organisation = "alpha") {
        ASSERT_EQ(enrol(code(), entry(name, organisation)), "good");
    }
    ZoneEntry with_lease(const std::string& name, Duration lease) {
        ZoneEntry changed = entry(name);
        changed.lease = lease;
        return changed;
    }
};

TEST_F(RegistryTest, HowLongAnEntryCountsIsToldWhereAskedForAndGrowsWithEachRenewal) {
    bring_in("a");
    clock->advance(seconds{30});
    EXPECT_THAT(registry->list({}).left, IsEmpty());
    EXPECT_THAT(registry->list({.leases = true}).left, ElementsAre(seconds{10}));
    ASSERT_TRUE(registry->renew("a"));
    EXPECT_THAT(registry->list({.leases = true}).left, ElementsAre(seconds{40}));
}

TEST_F(RegistryTest, EntriesGoOutByNameAsTheyWereSigned) {
    bring_in("b");
    bring_in("a");
    EXPECT_THAT(names(), ElementsAre("a", "b"));
    EXPECT_EQ(registry->list({}).entries[0], (SignedText{"1", "chain", "signature"}));
}

TEST_F(RegistryTest, AnEntryVanishesWithItsLeaseButItsZoneStaysEnrolled) {
    bring_in("a");
    clock->advance(seconds{40} - milliseconds{1});
    EXPECT_THAT(names(), ElementsAre("a"));
    clock->advance(milliseconds{1});
    EXPECT_THAT(names(), IsEmpty()) << "at once, not when it is next swept";
    EXPECT_EQ(registry->renew("a").error().code, ErrorCode::kNotFound);
    clock->advance(seconds{2});
    EXPECT_EQ(log.count("zone_expired"), 1);
    EXPECT_TRUE(registry->is_enrolled(zone("a")));
    EXPECT_EQ(publish(entry("a")), "good") << "without a new token";
    EXPECT_THAT(names(), ElementsAre("a"));
    EXPECT_THAT(prover.asked, IsEmpty()) << "its address is proved already";
}

TEST_F(RegistryTest, RenewingKeepsItForAnotherLease) {
    bring_in("a");
    for (int i = 0; i < 10; ++i) {
        clock->advance(seconds{39});
        ASSERT_TRUE(registry->renew("a"));
    }
    clock->advance(seconds{39});
    EXPECT_THAT(names(), ElementsAre("a"));
    clock->advance(seconds{1});
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RegistryTest, AJumpOfTheWallClockEndsNoLease) {
    bring_in("a");
    clock->set_wall(clock->now() + hours{24 * 365});
    clock->advance(seconds{2});
    EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(RegistryTest, LeasesAreGrantedWithinBounds) {
    bring_in("a");
    for (const auto& [asked, granted] : {std::pair<Duration, Duration>{Duration{0}, Registry::kMinLease},
                                         {seconds{7}, seconds{7}},
                                         {seconds{3600}, Registry::kMaxLease}}) {
        ASSERT_EQ(publish(with_lease("a", asked)), "good");
        EXPECT_EQ(registry->renew("a")->lease, granted);
    }
}

TEST_F(RegistryTest, OnlyTheZoneItselfChangesItsEntry) {
    bring_in("a");
    bring_in("b");
    EXPECT_EQ(publish(zone("b"), entry("a")), "denied");
    EXPECT_EQ(publish(zone("a"), entry("a", "beta")), "denied");
    EXPECT_EQ(publish(Caller{}, entry("a")), "denied");
    EXPECT_EQ(publish({CallerKind::kUser, "alpha", "a"}, entry("a")), "denied");
    EXPECT_FALSE(registry->is_enrolled({CallerKind::kUser, "alpha", "a"}));
    EXPECT_FALSE(registry->is_enrolled(zone("a", "beta")));
    EXPECT_EQ(registry->owner_of("c"), std::nullopt);
}

TEST_F(RegistryTest, AnOlderEntryNeverReplacesANewerOne) {
    bring_in("a");
    const ZoneEntry old = entry("a");
    clock->advance(seconds{1});
    ZoneEntry draining = entry("a");
    draining.standing = ZoneStanding::kDrain;
    ASSERT_EQ(publish(draining), "good");
    EXPECT_EQ(publish(old), "conflict");
    EXPECT_EQ(enrol(code(), old), "conflict") << "nor with a new code";
    EXPECT_EQ(publish(draining), "good") << "the same once more is the same";
    start();
    EXPECT_EQ(publish(old), "conflict") << "after a restart neither";
}

TEST_F(RegistryTest, AnEntryOfTheFutureIsRefusedAndAnAlmostFutureOneIsReplacedOnceTheClockIsMended) {
    bring_in("a");
    ZoneEntry ahead = entry("a");
    ahead.issued = clock->now() + kEntryClockTolerance + seconds{1};
    EXPECT_EQ(publish(ahead), "invalid_argument");
    Answer answer;
    registry->publish(zone("a"), sign(ahead), [&answer](const Result<ZoneLease>& lease) { answer = lease; });
    EXPECT_THAT((*answer).error().message,
                testing::StartsWith("the clock of zone 'a' is 301 s ahead of this registry's"));
    ahead.issued = clock->now() + kEntryClockTolerance;
    EXPECT_EQ(publish(ahead), "good");
    const ZoneEntry mended = entry("a");
    EXPECT_EQ(publish(mended), "good") << "signed earlier by its date, because the clock was wrong then";
    clock->advance(seconds{1});
    EXPECT_EQ(publish(entry("a")), "good");
    EXPECT_EQ(publish(mended), "conflict");
}

TEST_F(RegistryTest, AChangedAddressIsProvedAgain) {
    bring_in("a");
    ZoneEntry moved = entry("a");
    moved.url = "https://elsewhere:1";
    EXPECT_EQ(publish(moved, Error{ErrorCode::kDenied, "somebody else answers there", {}}), "denied");
    EXPECT_EQ(entries.at(static_cast<std::size_t>(std::stoi(registry->list({}).entries[0].text))).url, "https://a:1");
    EXPECT_EQ(publish(moved), "good");
    EXPECT_EQ(entries.at(static_cast<std::size_t>(std::stoi(registry->list({}).entries[0].text))).url,
              "https://elsewhere:1");
}

/// A copy of the zone's key at another address, while the zone itself serves.
TEST_F(RegistryTest, TheFirstOfTwoSchedulersKeepsTheEntryAndBothAreNamed) {
    bring_in("a");
    ZoneEntry copy = entry("a");
    copy.url = "https://copy:1";
    clock->advance(seconds{5});
    EXPECT_EQ(publish(copy, SchedulerRole::kActive, SchedulerRole::kActive), "conflict");
    EXPECT_EQ(log.count("identity_claimed_twice"), 1);
    clock->advance(seconds{5});
    EXPECT_EQ(registry->renew("a")->rival, (RivalClaim{"spiffe://alpha/zone/a", "https://copy:1", seconds{5}}));
    EXPECT_EQ(registry->enrolments()[0].url, "https://a:1");
    EXPECT_EQ(registry->enrolments()[0].rival->url, "https://copy:1");
    EXPECT_EQ(publish(copy, SchedulerRole::kActive, SchedulerRole::kActive), "conflict");
    EXPECT_EQ(log.count("identity_claimed_twice"), 1) << "each rival once";
    clock->advance(kRivalRemembered);
    EXPECT_TRUE(registry->renew("a")->rival);
    clock->advance(seconds{1});
    EXPECT_FALSE(registry->renew("a")->rival) << "it has stopped";
    clock->advance(seconds{1});
    EXPECT_EQ(log.count("identity_claim_ended"), 1);
}

TEST_F(RegistryTest, AZoneThatMovedOrFailedOverIsTakenAtOnce) {
    bring_in("a");
    for (const Found& old :
         {nobody(), Found(Error{ErrorCode::kDenied, "another zone answers", {}}), Found(SchedulerRole::kStandby)}) {
        ZoneEntry moved = entry("a");
        moved.url = "https://host" + std::to_string(entries.size()) + ":1";
        clock->advance(seconds{1});
        EXPECT_EQ(publish(moved, SchedulerRole::kActive, old), "good");
        EXPECT_EQ(registry->enrolments()[0].url, moved.url);
        EXPECT_FALSE(registry->renew("a")->rival);
    }
}

TEST_F(RegistryTest, TheSecondOfTwoSchedulersIsTakenWhenTheFirstHasStopped) {
    bring_in("a");
    ZoneEntry second = entry("a");
    second.url = "https://second:1";
    ASSERT_EQ(publish(second, SchedulerRole::kActive, SchedulerRole::kActive), "conflict");
    EXPECT_EQ(publish(second, SchedulerRole::kActive, nobody()), "good");
    EXPECT_FALSE(registry->renew("a")->rival) << "not its own rival";
}

TEST_F(RegistryTest, ACopyWithACodeOfItsOwnIsRefusedAndItsCodeStaysUsable) {
    bring_in("a");
    ZoneEntry copy = entry("a");
    copy.url = "https://copy:1";
    const std::string second_code = code();
    const auto answer = ask_in(second_code, copy);
    prover.answer();
    prover.answer();
    EXPECT_EQ(verdict(*answer), "conflict");
    EXPECT_EQ(enrol(second_code, entry("b")), "good");
}

TEST_F(RegistryTest, ANameThatAnotherOrganisationClaimsIsReportedToItsZone) {
    bring_in("a");
    ZoneEntry other = entry("a", "beta");
    other.url = "https://other:1";
    EXPECT_EQ(enrol(code(), other), "conflict");
    EXPECT_EQ(registry->renew("a")->rival, (RivalClaim{"spiffe://beta/zone/a", "https://other:1", seconds{0}}));
}

TEST_F(RegistryTest, ALateProofDoesNotUndoANewerEntry) {
    bring_in("a");
    ZoneEntry moved = entry("a");
    moved.url = "https://elsewhere:1";
    Answer late;
    registry->publish(zone("a"), sign(moved), [&late](const Result<ZoneLease>& lease) { late = lease; });
    clock->advance(seconds{1});
    ASSERT_EQ(publish(entry("a")), "good");
    prover.answer();
    EXPECT_EQ(verdict(late), "conflict");
}

TEST_F(RegistryTest, QueriesFilterByCategoryAndInterface) {
    ZoneEntry gpu = entry("gpu"), next = entry("next");
    gpu.categories = {"mpi", "gpu"};
    next.interface_version = 2;
    ASSERT_EQ(enrol(code(), gpu), "good");
    ASSERT_EQ(enrol(code(), next), "good");
    EXPECT_THAT(names({"mpi", 0}), ElementsAre("gpu", "next"));
    EXPECT_THAT(names({"gpu", 0}), ElementsAre("gpu"));
    EXPECT_THAT(names({"", 2}), ElementsAre("next"));
    EXPECT_THAT(names({"gpu", 2}), IsEmpty());
    EXPECT_THAT(names({"gp", 0}), IsEmpty()) << "whole words";
}

TEST_F(RegistryTest, WhoSaysThatItLeftIsShownAsGoneForAWhile) {
    bring_in("a");
    ZoneEntry last = entry("a");
    last.standing = ZoneStanding::kLeft;
    ASSERT_EQ(publish(last), "good");
    ASSERT_TRUE(registry->leave("a"));
    clock->advance(Registry::kShownAfterLeaving - seconds{1});
    EXPECT_THAT(names(), ElementsAre("a"));
    clock->advance(seconds{1});
    EXPECT_THAT(names(), IsEmpty());
    EXPECT_EQ(publish(entry("a")), "good") << "it may come back";
}

TEST_F(RegistryTest, WhoLeavesWithoutALastWordVanishesAtOnce) {
    bring_in("a");
    ASSERT_TRUE(registry->leave("a"));
    EXPECT_THAT(names(), IsEmpty());
    EXPECT_EQ(registry->leave("b").error().code, ErrorCode::kNotFound);
}

TEST_F(RegistryTest, ARestartGivesEveryEntryItsFullLeaseAgain) {
    bring_in("a");
    clock->advance(seconds{39});
    start();
    clock->advance(seconds{39});
    EXPECT_THAT(names(), ElementsAre("a"));
    ASSERT_TRUE(registry->renew("a")) << "the zone need not notice the restart";
    clock->advance(seconds{41});
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RegistryTest, AnEntryOfABackupIsShownOnceItsZoneHasPublishedANewerOne) {
    bring_in("a");
    EnrolledZone restored = store.zones().load()->front();
    restored.lease = Duration{};  // as a restore leaves it
    ASSERT_TRUE(store.zones().save(restored));
    start();
    EXPECT_THAT(names(), IsEmpty());
    EXPECT_TRUE(registry->is_enrolled(zone("a")));
    EXPECT_EQ(registry->renew("a").error().code, ErrorCode::kNotFound) << "which tells the zone to publish";
    ZoneEntry older = entry("a");
    older.issued -= seconds{1};
    EXPECT_EQ(publish(older), "conflict");
    EXPECT_EQ(publish(entry("a")), "good");
    EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(RegistryTest, AnEntryThatCannotBeReadAfterARestartIsNotShownAndComesBackWithoutToken) {
    bring_in("a");
    bring_in("b");
    unreadable.insert("0");  // its certificate ran out
    start();
    EXPECT_THAT(names(), ElementsAre("b"));
    EXPECT_EQ(log.count("entry_not_shown"), 1);
    EXPECT_TRUE(registry->is_enrolled(zone("a")));
    EXPECT_EQ(registry->renew("a").error().code, ErrorCode::kNotFound);
    EXPECT_EQ(enrol(code(), entry("a", "beta")), "conflict") << "its name is kept";
    EXPECT_EQ(publish(entry("a")), "good");
    EXPECT_THAT(names(), ElementsAre("a", "b"));
}

TEST_F(RegistryTest, WhatCannotBeStoredIsNotShown) {
    bring_in("a");
    ZoneEntry changed = entry("a");
    changed.contact = "others";
    store.zones().fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_EQ(publish(changed), "unavailable");
    EXPECT_EQ(registry->list({}).entries[0].text, "0");
}

TEST_F(RegistryTest, IsFullAtItsLimit) {
    for (int i = 1; i < limits::kMaxZonesInRegistry; ++i) {
        const std::string name = "z" + std::to_string(i);
        ASSERT_TRUE(store.zones().save({ZoneName(name), "alpha", sign(entry(name)), seconds{40}}));
    }
    start();
    EXPECT_EQ(enrol(code(), entry("last")), "good");
    clock->advance(seconds{42});  // the leases have run out
    EXPECT_THAT(names(), IsEmpty());
    EXPECT_EQ(enrol(code(), entry("more")), "too_many_requests");
    EXPECT_EQ(publish(entry("z7")), "good") << "who is in needs no room";
}

/// As large as real entries, so that all of them are over what one reply may hold.
TEST_F(RegistryTest, FiveThousandZonesAreListedInPages) {
    constexpr std::size_t kZones = 5'000;
    for (std::size_t i = 0; i < kZones; ++i) {
        const std::string name = "z" + std::to_string(10'000 + i);
        SignedText text = sign(entry(name));
        text.chain = std::string(6'800, 'c');
        ASSERT_TRUE(store.zones().save({ZoneName(name), "alpha", text, std::chrono::seconds{300}}));
    }
    start();
    std::vector<std::string> found;
    std::size_t pages = 0;
    ZoneQuery query;
    do {
        const ZonePage page = registry->list(query);
        const codec::Json json = codec::encode(page);
        EXPECT_LT(codec::dump(json).size(), limits::kMaxReplyBytes);
        EXPECT_EQ(*codec::decode_zone_page(json), page);
        for (const SignedText& text : page.entries) found.push_back(entries.at(std::stoul(text.text)).name);
        query.after = page.next;
        ++pages;
    } while (!query.after.empty() && pages < 100);
    EXPECT_EQ(found.size(), kZones);
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end()) << "none is listed twice";
    EXPECT_GE(pages, 5U);
}

TEST_F(RegistryTest, APageHoldsWhatWasAskedForAndAtLeastOne) {
    for (const char* name : {"a", "b", "c", "d"}) {
        SignedText text = sign(entry(name));
        if (name[0] != 'a') text.chain = std::string(limits::kMaxPageBytes, 'c');
        ASSERT_TRUE(store.zones().save({ZoneName(name), "alpha", text, std::chrono::seconds{40}}));
    }
    start();
    const auto page = [&](const char* after, std::size_t limit) {
        const ZonePage got = registry->list({.after = ZoneName(after), .limit = limit});
        std::string text;
        for (const SignedText& one : got.entries) text += entries.at(std::stoul(one.text)).name;
        return text + ">" + got.next;
    };
    EXPECT_EQ(page("", 0), "a>a") << "the next is too large for this page";
    EXPECT_EQ(page("a", 0), "b>b") << "one is always listed, however large";
    EXPECT_EQ(page("c", 1), "d>");
    EXPECT_EQ(page("d", 0), ">");
    EXPECT_EQ(page("bb", 1), "c>c") << "a name that has gone is a good place to go on";
}

}  // namespace
}  // namespace zbs::test
