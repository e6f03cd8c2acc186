#include "services/zone_scheduler/trust/membership_service.hpp"

#include <gmock/gmock.h>

#include "tests/unit/zone_trust/identity_world.hpp"

namespace zbs::test {
namespace {
using std::chrono::hours;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;

class MembershipServiceTest : public IdentityWorld {
  protected:
    static std::string request() { return openssl::make_user_request()->request; }
    std::string enrol(const std::string& code, const std::string& with, const std::string& name = "ana") {
        const auto answer = home.membership->enrol({name, code, with});
        return answer ? "good" : to_string(answer.error().code);
    }
    PeerIdentity certified(const std::string& name) { return {home.user(name), Evidence::kCertificate}; }
};

TEST_F(MembershipServiceTest, ACodeTurnsAKeyIntoACertificate) {
    const std::string code = home.invite("ana", {"physics", "chem", "chem"});
    const auto answer = home.membership->enrol({"ana", code, request()});
    ASSERT_TRUE(answer) << answer.error();
    EXPECT_EQ(answer->user, home.user("ana"));
    EXPECT_EQ(answer->home, home.self());
    EXPECT_EQ(answer->bundle, home.keys->bundle());
    EXPECT_EQ(answer->not_after, clock.now() + MembershipService::kCertificateLifetime);
    EXPECT_THAT(home.membership->groups_of(home.user("ana")), ElementsAre("chem", "physics"));
    EXPECT_THAT(home.membership->groups_of({CallerKind::kUser, "org-b", "ana"}), IsEmpty());
}

TEST_F(MembershipServiceTest, ACodeWorksForOneRequestOnly) {
    const std::string code = home.invite("ana"), mine = request();
    EXPECT_EQ(enrol(code, "no request"), "invalid_argument");
    EXPECT_EQ(enrol(code, mine), "good") << "a bad request uses nothing up";
    EXPECT_EQ(enrol(code, mine), "good") << "the answer may have been lost";
    EXPECT_EQ(enrol(code, request()), "denied");
    home.start();
    EXPECT_EQ(enrol(code, request()), "denied") << "also after a restart";
    EXPECT_EQ(home.membership_record("ana").certificates.size(), 2U) << "each can be revoked";
}

TEST_F(MembershipServiceTest, ACodeThatDoesNotWorkSaysNothingOfWhy) {
    const std::string expired = home.invite("late"), used = home.invite("ana"), revoked = home.invite("gone");
    ASSERT_EQ(enrol(used, request()), "good");
    ASSERT_TRUE(home.membership->revoke_user("gone"));
    const std::string replaced = home.invite("bea");
    home.invite("bea");
    clock.advance(MembershipService::kCodeLifetime + std::chrono::seconds{1});
    std::set<std::string> messages;
    const std::string of_another = home.invite("cleo");
    for (const auto& [name, code] : {std::pair<std::string, std::string>{"late", expired},
                                     {"ana", used},
                                     {"gone", revoked},
                                     {"bea", replaced},
                                     {"ana", of_another},
                                     {"nobody", of_another},
                                     {"", of_another},
                                     {"ana", "never one"},
                                     {"ana", ""}}) {
        const auto answer = home.membership->enrol({name, code, request()});
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, ErrorCode::kDenied);
        messages.insert(answer.error().message);
    }
    EXPECT_EQ(messages.size(), 1U);
}

TEST_F(MembershipServiceTest, CodesAreKeptAsDigestsOnly) {
    const std::string code = home.invite("ana");
    EXPECT_THAT(home.store.members().load()->at(0).code_hash, Not(HasSubstr(code)));
    for (const auto& line : home.log.lines) {
        for (const auto& [key, value] : line.fields) EXPECT_THAT(value, Not(HasSubstr(code)));
    }
}

TEST_F(MembershipServiceTest, NamesThatAreNoneMakeNobody) {
    for (const char* bad : {"", "Ana", "a/b", "-a"}) EXPECT_FALSE(home.membership->add_user(bad, {})) << bad;
    EXPECT_EQ(home.membership->add_user("ana", {"No Group"}).error().pointer, "/groups");
    EXPECT_THAT(home.membership->users(), IsEmpty());
}

TEST_F(MembershipServiceTest, AUserRenewsHerOwnWithTheCertificateSheHas) {
    const auto ana = home.join("ana");
    EXPECT_TRUE(home.membership->renew(ana.identity, request()));
    for (const PeerIdentity& other :
         {PeerIdentity(home.user("ana"), Evidence::kProxy), PeerIdentity(home.user("ana"), Evidence::kLocalToken),
          PeerIdentity({CallerKind::kUser, "org-b", "ana"}, Evidence::kCertificate),
          PeerIdentity(home.boss(), Evidence::kCertificate), certified("nobody"), PeerIdentity()}) {
        const auto renewed = home.membership->renew(other, request());
        ASSERT_FALSE(renewed) << other.name();
        EXPECT_EQ(renewed.error().code, ErrorCode::kDenied) << other.name();
    }
}

TEST_F(MembershipServiceTest, RevokingEndsAllHerCertificatesHereAndWhereItIsTold) {
    const auto ana = home.join("ana");
    ASSERT_TRUE(home.membership->renew(ana.identity, request()));
    EXPECT_FALSE(home.membership->is_blocked(ana.identity));
    ASSERT_TRUE(home.membership->revoke_user("ana"));
    EXPECT_TRUE(home.membership->is_blocked(ana.identity));
    EXPECT_FALSE(home.membership->renew(ana.identity, request()));
    for (const IssuedCertificate& certificate : home.membership_record("ana").certificates)
        EXPECT_TRUE(home.trust.is_revoked("org-a", certificate.serial));
    EXPECT_FALSE(away.membership->is_blocked(ana.identity));
    ASSERT_TRUE(away.membership->take(home.self(), home.membership->statement()));
    EXPECT_TRUE(away.membership->is_blocked(ana.identity));
    for (const IssuedCertificate& certificate : home.membership_record("ana").certificates)
        EXPECT_TRUE(away.trust.is_revoked("org-a", certificate.serial));
    EXPECT_EQ(home.membership->revoke_user("nobody").error().code, ErrorCode::kNotFound);
}

TEST_F(MembershipServiceTest, RevocationsOutliveRestarts) {
    const auto ana = home.join("ana");
    ASSERT_TRUE(home.membership->revoke_user("ana"));
    ASSERT_TRUE(away.membership->take(home.self(), home.membership->statement()));
    for (IdentityZone* zone : {&home, &away}) {
        zone->trust.unpin("org-a");
        zone->start();
        if (zone == &away) zone->trust_in(home);
        EXPECT_TRUE(zone->membership->is_blocked(ana.identity)) << zone->self();
    }
    EXPECT_FALSE(home.membership->statement().revocations.empty());
}

TEST_F(MembershipServiceTest, WhoIsAddedAgainComesBackButNotWithOldCertificates) {
    const auto old = home.join("ana");
    ASSERT_TRUE(home.membership->revoke_user("ana"));
    ASSERT_TRUE(home.membership->unblock(to_uri(home.user("ana"))));
    const auto fresh = home.join("ana");
    EXPECT_TRUE(home.membership->is_blocked(old.identity));
    EXPECT_FALSE(home.membership->is_blocked(fresh.identity));
    EXPECT_THAT(home.membership->statement().blocked, Optional(IsEmpty()));
}

TEST_F(MembershipServiceTest, WhoIsRefusedGetsNoCodeBeforeThatIsTakenBack) {
    const std::string revoked = "ana", blocked = "bea", never_here = "cleo";
    home.join(revoked);
    ASSERT_TRUE(home.membership->revoke_user(revoked));
    for (const std::string& name : {blocked, never_here})
        ASSERT_TRUE(home.membership->block(to_uri(home.user(name)), "", home.boss()));
    for (const std::string& name : {revoked, blocked, never_here}) {
        const auto refused = home.membership->add_user(name, {});
        ASSERT_FALSE(refused) << name;
        EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
        EXPECT_THAT(refused.error().message, HasSubstr("zbs-zone unblock " + to_uri(home.user(name))));
        ASSERT_TRUE(home.membership->unblock(to_uri(home.user(name)))) << name;
        EXPECT_TRUE(home.membership->add_user(name, {})) << name;
    }
    EXPECT_FALSE(home.membership->unblock(to_uri(home.user(revoked)))) << "nothing left to take back";
}

TEST_F(MembershipServiceTest, AUsersStandingSaysWhetherSheCanWork) {
    using Standing = MembershipService::Standing;
    const auto standing = [this](const std::string& name) {
        return home.membership->standing_of(home.membership_record(name));
    };
    home.invite("ana");
    EXPECT_EQ(standing("ana"), Standing::kInvited);
    EXPECT_EQ(home.membership->code_until(home.membership_record("ana")),
              clock.now() + MembershipService::kCodeLifetime);
    home.join("ana");
    EXPECT_EQ(standing("ana"), Standing::kActive);
    EXPECT_FALSE(home.membership->code_until(home.membership_record("ana"))) << "used";
    ASSERT_TRUE(home.membership->revoke_user("ana"));
    EXPECT_EQ(standing("ana"), Standing::kRevoked);
    ASSERT_TRUE(home.membership->block(to_uri(home.user("ana")), "", home.boss()));
    EXPECT_EQ(standing("ana"), Standing::kBlocked);
    ASSERT_TRUE(home.membership->unblock(to_uri(home.user("ana"))));
    EXPECT_EQ(standing("ana"), Standing::kLapsed) << "her certificates stay revoked";
    home.invite("bea");
    clock.advance(MembershipService::kCodeLifetime + std::chrono::seconds{1});
    EXPECT_EQ(standing("bea"), Standing::kLapsed);
    EXPECT_FALSE(home.membership->code_until(home.membership_record("bea")));
}

TEST_F(MembershipServiceTest, ABlockOfANameThatNobodyKnowsHoldsAndIsToldApart) {
    home.join("ana");
    for (const std::string& known : {to_uri(home.user("ana")), std::string("org-b"), to_uri(away.user("anybody"))})
        EXPECT_TRUE(home.membership->is_known(known)) << known;
    for (const std::string& unknown :
         {to_uri(home.user("anna")), std::string("org-bb"), std::string("spiffe://org-c/user/carl")}) {
        EXPECT_FALSE(home.membership->is_known(unknown)) << unknown;
        EXPECT_TRUE(home.membership->block(unknown, "", home.boss())) << unknown;
    }
    EXPECT_TRUE(home.membership->is_blocked(home.user("anna")));
}

TEST_F(MembershipServiceTest, WhomAZoneRefusesIsForZonesAndItsOperators) {
    home.join("ana");
    ASSERT_TRUE(home.membership->revoke_user("ana"));
    ASSERT_TRUE(home.membership->block("org-c", "", home.boss()));
    const auto shown = [this](const Caller& who, Evidence evidence) {
        return home.membership->statement_for(PeerIdentity(who, evidence));
    };
    const TrustStatement all = home.membership->statement();
    const Caller sibling{CallerKind::kZone, "org-a", "two"};
    for (const Caller& reader : {away.self(), sibling, home.boss()})
        EXPECT_EQ(shown(reader, Evidence::kCertificate), all) << reader;
    EXPECT_EQ(shown(home.boss(), Evidence::kLocalToken), all);
    for (const PeerIdentity& reader :
         {PeerIdentity(), PeerIdentity(away.self(), Evidence::kNone), PeerIdentity(away.self(), Evidence::kProxy),
          PeerIdentity(away.boss(), Evidence::kCertificate), certified("bea"), certified("ana")}) {
        const TrustStatement little = home.membership->statement_for(reader);
        EXPECT_EQ(little.bundle, all.bundle) << "a newcomer compares its fingerprint";
        EXPECT_EQ(little.revocations, "") << reader.name();
        EXPECT_FALSE(little.blocked) << reader.name();
    }
}

TEST_F(MembershipServiceTest, AZoneThatIsBlockedStillLearnsWhomItsHomeDisowns) {
    home.join("ana");
    ASSERT_TRUE(home.membership->revoke_user("ana"));
    for (const char* subject : {"org-b", "spiffe://org-c/user/carl"})
        ASSERT_TRUE(home.membership->block(subject, "", home.boss()));
    const TrustStatement statement = home.membership->statement_for(PeerIdentity(away.self(), Evidence::kCertificate));
    EXPECT_EQ(statement.revocations, home.membership->statement().revocations);
    EXPECT_THAT(statement.blocked, Optional(ElementsAre(to_uri(home.user("ana")))));
}

TEST_F(MembershipServiceTest, AStatementThatTellsNoBlocksLiftsNone) {
    ASSERT_TRUE(home.membership->block(to_uri(home.user("ana")), "", home.boss()));
    ASSERT_TRUE(away.membership->take(home.self(), home.membership->statement()));
    const auto taken = away.membership->take(home.self(), home.membership->statement_for(PeerIdentity()));
    EXPECT_EQ(taken.error().code, ErrorCode::kDenied);
    EXPECT_TRUE(away.membership->is_blocked(home.user("ana")));
}

TEST_F(MembershipServiceTest, NobodySpeaksForAnotherOrganisation) {
    TrustStatement statement = home.membership->statement();
    EXPECT_EQ(away.membership->take(away.self(), statement).error().code, ErrorCode::kDenied);
    EXPECT_EQ(away.membership->take(home.user("ana"), statement).error().code, ErrorCode::kDenied);
    EXPECT_TRUE(away.membership->take(home.self(), statement));
}

TEST_F(MembershipServiceTest, AListThatItsCaDidNotSignOrThatIsOlderChangesNothing) {
    const auto ana = home.join("ana"), bea = home.join("bea");
    ASSERT_TRUE(home.membership->revoke_user("ana"));
    const TrustStatement old = home.membership->statement();
    ASSERT_TRUE(home.membership->revoke_user("bea"));
    ASSERT_TRUE(away.membership->take(home.self(), home.membership->statement()));
    EXPECT_FALSE(away.membership->take(home.self(), old)) << "played back";
    EXPECT_TRUE(away.membership->is_blocked(bea.identity));
    TrustStatement forged = home.membership->statement();
    ASSERT_TRUE(away.join("bob").identity.serial().size() > 0 && away.membership->revoke_user("bob"));
    forged.revocations = away.membership->statement().revocations;
    EXPECT_FALSE(away.membership->take(home.self(), forged));
    EXPECT_TRUE(away.membership->is_blocked(ana.identity));
}

TEST_F(MembershipServiceTest, TheSameStatementAgainIsGood) {
    home.join("ana");
    ASSERT_TRUE(home.membership->revoke_user("ana"));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(away.membership->take(home.self(), home.membership->statement()));
}

TEST_F(MembershipServiceTest, WhatCannotBeStoredDoesNotHappen) {
    const std::string code = home.invite("ana");
    home.store.members().fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_EQ(enrol(code, request()), "unavailable");
    EXPECT_FALSE(home.membership->add_user("bea", {}));
    home.store.members().fault.reset();
    EXPECT_EQ(enrol(code, request()), "good");
    home.store.blocks().fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_FALSE(home.membership->block("org-b", "", home.boss()));
    EXPECT_FALSE(home.membership->is_blocked(away.self()));
}

TEST_F(MembershipServiceTest, WithoutTheCaKeyNobodyIsAdded) {
    MembershipService plain(home.config, clock, home.store, nullptr, home.trust, home.secrets, home.log);
    ASSERT_TRUE(plain.resume());
    EXPECT_EQ(plain.add_user("ana", {}).error().code, ErrorCode::kConflict);
    EXPECT_THAT(plain.add_user("ana", {}).error().message, HasSubstr("zbs-zone init"));
    EXPECT_TRUE(plain.block("org-b", "", home.boss()));
    EXPECT_THAT(plain.check_keys().error().message, HasSubstr("zbs-zone init"));
    EXPECT_TRUE(home.membership->check_keys());
}

}  // namespace
}  // namespace zbs::test
