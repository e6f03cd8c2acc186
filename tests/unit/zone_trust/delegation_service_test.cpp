#include "services/zone_scheduler/trust/delegation_service.hpp"

#include "tests/unit/zone_trust/identity_world.hpp"

namespace zbs::test {
namespace {
using openssl::ProxyTerms;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class DelegationServiceTest : public IdentityWorld {
  protected:
    PartRequest part(const std::string& user = "ana") {
        return {.id = PartId{ids.fresh(home.self())},
                .application = application,
                .user = home.user(user),
                .home = "alpha",
                .ranks = {0},
                .graph = *TaskGraph::make({1.0}, {}),
                .walltime = hours{1}};
    }
    std::string sign(const Delegation& asked, ProxyTerms terms, const IdentityZone::Joined& by) {
        const Result<std::string> chain = openssl::sign_proxy(by.key, by.chain, asked.request, terms, clock.now());
        EXPECT_TRUE(chain) << chain.error();
        return chain ? *chain : "";
    }
    ProxyTerms for_application(Duration lifetime = hours{2}) {
        return {.application = to_string(application), .lifetime = lifetime};
    }
    /// Ana hands over a right for the application.
    Result<Delegation> hand_over(Duration lifetime = hours{2}) {
        const DelegationId id{fresh()};
        const Delegation asked = *home.delegations->request(home.user("ana"), id, to_string(application));
        return home.delegations->put(home.user("ana"), id, sign(asked, for_application(lifetime), ana));
    }
    Result<Delegation> hand_over_renewal(Duration lifetime = hours{24 * 7}) {
        const DelegationId id{fresh()};
        const Delegation asked = *home.delegations->request(home.user("ana"), id, "");
        return home.delegations->put(home.user("ana"), id,
                                     sign(asked, {.lifetime = lifetime, .path_length = 1, .renewal = true}, ana));
    }
    std::string verdict(const Result<DelegationInfo>& info) {
        return info ? to_uri(info->user) : to_string(info.error().code) + (": " + info.error().message);
    }

    Id128 fresh() { return ids.fresh(home.user("ana")); }

    CountingIds ids;
    ApplicationId application{fresh()};
    IdentityZone::Joined ana = home.join("ana"), eve = home.join("eve");
};

TEST_F(DelegationServiceTest, WhatTheUserSignedIsProvedToAnotherZone) {
    const auto given = hand_over();
    ASSERT_TRUE(given) << given.error();
    EXPECT_EQ(given->not_after, clock.now() + hours{2});
    const PartRequest asked = part();
    const auto proof = home.delegations->prove(asked, away.self());
    ASSERT_TRUE(proof);
    const auto info = away.delegations->check(asked, *proof);
    ASSERT_TRUE(info) << info.error();
    EXPECT_EQ(info->user, home.user("ana"));
    EXPECT_EQ(info->application, to_string(application));
}

TEST_F(DelegationServiceTest, AProofCountsForOnePartAtOneZoneNow) {
    ASSERT_TRUE(hand_over());
    IdentityZone third(clock, "org-c", "gamma");
    third.trust_in(home);
    const PartRequest asked = part();
    const DelegationProof proof = *home.delegations->prove(asked, away.self());
    EXPECT_NE(verdict(third.delegations->check(asked, proof)).find("not about this part at this zone"),
              std::string::npos);
    EXPECT_NE(verdict(away.delegations->check(part(), proof)).find("not about this part"), std::string::npos);
    PartRequest other = asked;
    other.application = ApplicationId{fresh()};
    EXPECT_FALSE(away.delegations->check(other, proof));
    other = asked;
    other.user = home.user("eve");
    EXPECT_NE(verdict(away.delegations->check(other, proof)).find("it is of spiffe://org-a/user/ana"),
              std::string::npos);
    clock.advance(seconds{60});
    EXPECT_TRUE(away.delegations->check(asked, proof));
    clock.advance(seconds{1});
    EXPECT_NE(verdict(away.delegations->check(asked, proof)).find("is 61 s behind"), std::string::npos);
}

TEST_F(DelegationServiceTest, AProofThatWasChangedIsRefused) {
    ASSERT_TRUE(hand_over());
    const PartRequest asked = part();
    const DelegationProof good = *home.delegations->prove(asked, away.self());
    DelegationProof text = good, signature = good, chain = good;
    text.text.back() = ' ';
    signature.signature[10] = signature.signature[10] == 'A' ? 'B' : 'A';
    chain.chain = ana.chain;
    for (const DelegationProof& bad : {text, signature, chain, DelegationProof{}})
        EXPECT_EQ(away.delegations->check(asked, bad).error().code, ErrorCode::kDenied);
    EXPECT_TRUE(away.delegations->check(asked, good));
}

TEST_F(DelegationServiceTest, AZoneThatDoesNotTrustHerOrganisationRefuses) {
    ASSERT_TRUE(hand_over());
    const PartRequest asked = part();
    const DelegationProof proof = *home.delegations->prove(asked, away.self());
    away.trust.unpin("org-a");
    EXPECT_EQ(away.delegations->check(asked, proof).error().code, ErrorCode::kDenied);
}

TEST_F(DelegationServiceTest, ARevokedUsersDelegationsEndElsewhereToo) {
    ASSERT_TRUE(hand_over());
    const PartRequest asked = part();
    ASSERT_TRUE(home.membership->revoke_user("ana"));
    ASSERT_TRUE(away.membership->take(home.self(), home.membership->statement()));
    const auto proof = home.delegations->prove(asked, away.self());
    EXPECT_TRUE(!proof || !away.delegations->check(asked, *proof));
}

TEST_F(DelegationServiceTest, OnlyWhatFitsTheRequestIsTaken) {
    const DelegationId id{fresh()}, other{fresh()};
    const Delegation asked = *home.delegations->request(home.user("ana"), id, to_string(application));
    const Delegation foreign = *home.delegations->request(home.user("ana"), other, to_string(application));
    const std::string elsewhere = to_string(ApplicationId{fresh()});
    struct Case {
        const char* what;
        std::string chain;
    };
    for (const Case& c : {Case{"another key", sign(foreign, for_application(), ana)},
                          Case{"another user", sign(asked, for_application(), eve)},
                          Case{"another application", sign(asked, {.application = elsewhere}, ana)},
                          Case{"a renewal", sign(asked, {.path_length = 1, .renewal = true}, ana)},
                          Case{"no proxy", ana.chain}, Case{"no chain", "no PEM"}}) {
        const auto put = home.delegations->put(home.user("ana"), id, c.chain);
        ASSERT_FALSE(put) << c.what;
        EXPECT_NE(put.error().code, ErrorCode::kInternal) << c.what;
        EXPECT_FALSE(home.delegations->prove(part(), away.self())) << c.what;
    }
    EXPECT_TRUE(home.delegations->put(home.user("ana"), id, sign(asked, for_application(), ana)));
}

TEST_F(DelegationServiceTest, OthersDelegationsAreNotThere) {
    const DelegationId id = hand_over()->id;
    EXPECT_EQ(home.delegations->get(home.user("eve"), id).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(home.delegations->put(home.user("eve"), id, "x").error().code, ErrorCode::kNotFound);
    EXPECT_EQ(home.delegations->remove(home.user("eve"), id).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(home.delegations->owner_of(id), home.user("ana"));
    EXPECT_FALSE(home.delegations->prove(part("eve"), away.self())) << "nobody rides on another's right";
    EXPECT_TRUE(home.delegations->remove(home.user("ana"), id));
    EXPECT_FALSE(home.delegations->prove(part(), away.self()));
}

TEST_F(DelegationServiceTest, TheSameRequestAgainIsTheSame) {
    const DelegationId id{fresh()};
    const Delegation first = *home.delegations->request(home.user("ana"), id, to_string(application));
    EXPECT_EQ(*home.delegations->request(home.user("ana"), id, to_string(application)), first);
    EXPECT_EQ(home.delegations->request(home.user("ana"), id, "").error().code, ErrorCode::kIdReused);
}

TEST_F(DelegationServiceTest, TheIdOfAnotherIsAnsweredAsOneThatNobodyUses) {
    const DelegationId used = hand_over()->id, unused{fresh()};
    const Error answer = home.delegations->request(home.user("eve"), used, to_string(application)).error();
    EXPECT_EQ(answer.code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(answer.pointer, "/id");
    EXPECT_EQ(answer, home.delegations->request(home.user("eve"), unused, to_string(application)).error());
}

TEST_F(DelegationServiceTest, ARightThatLivesTooLongForTheWalltimeIsRefusedOnBothSides) {
    ASSERT_TRUE(hand_over(hours{12}));
    PartRequest asked = part();
    asked.walltime = hours{1};
    const auto own = home.delegations->check_lifetime(home.user("ana"), application, asked.walltime);
    ASSERT_FALSE(own);
    EXPECT_NE(own.error().message.find("at most 7200 s"), std::string::npos) << own.error();
    EXPECT_NE(verdict(away.delegations->check(asked, *home.delegations->prove(asked, away.self()))).find("outlives"),
              std::string::npos);
    asked.walltime = hours{11};
    EXPECT_TRUE(home.delegations->check_lifetime(home.user("ana"), application, asked.walltime));
    EXPECT_TRUE(away.delegations->check(asked, *home.delegations->prove(asked, away.self())));
}

TEST_F(DelegationServiceTest, ARenewalDelegationKeepsProvingAfterTheFirstRightEnded) {
    ASSERT_TRUE(hand_over(hours{1}));
    ASSERT_TRUE(hand_over_renewal());
    for (const Duration later : {minutes{0}, minutes{55}, minutes{300}, minutes{24 * 60}}) {
        clock.advance(later);
        const PartRequest asked = part();
        const auto proof = home.delegations->prove(asked, away.self());
        ASSERT_TRUE(proof);
        const auto info = away.delegations->check(asked, *proof);
        ASSERT_TRUE(info) << info.error();
        EXPECT_GT(info->not_after - clock.now(), minutes{10}) << "renewed before it runs out";
    }
    clock.advance(hours{24 * 7});
    EXPECT_FALSE(home.delegations->prove(part(), away.self())) << "the renewal itself has ended";
}

TEST_F(DelegationServiceTest, WithoutAnythingGoodLeftThereIsNoProof) {
    EXPECT_FALSE(home.delegations->prove(part(), away.self()));
    ASSERT_TRUE(hand_over(hours{1}));
    clock.advance(hours{1});
    EXPECT_FALSE(home.delegations->prove(part(), away.self()));
}

TEST_F(DelegationServiceTest, ForgettingWipesTheApplicationsKeysAndNoOther) {
    ASSERT_TRUE(hand_over());
    ASSERT_TRUE(hand_over_renewal());
    ASSERT_TRUE(home.delegations->prove(part(), away.self()));
    home.delegations->forget(home.user("ana"), application);
    const auto left = *home.store.delegations().load();
    ASSERT_EQ(left.size(), 1U);
    EXPECT_TRUE(left[0].renewal);
}

TEST_F(DelegationServiceTest, TheEndOfAnApplicationIsNotSeenInDelegationsOfOthers) {
    const DelegationId hers{ids.fresh(home.user("eve"))};
    ASSERT_TRUE(home.delegations->request(home.user("eve"), hers, to_string(application)));
    home.delegations->forget(home.user("ana"), application);
    EXPECT_TRUE(home.delegations->get(home.user("eve"), hers));
}

TEST_F(DelegationServiceTest, ARestartKeepsWhatWasHandedOver) {
    ASSERT_TRUE(hand_over());
    home.start();
    const PartRequest asked = part();
    const auto proof = home.delegations->prove(asked, away.self());
    ASSERT_TRUE(proof);
    EXPECT_TRUE(away.delegations->check(asked, *proof));
}

/// A zone that once had keys and now runs plain on loopback still has its records.
TEST_F(DelegationServiceTest, WithoutKeysNothingIsSignedAndNothingBreaks) {
    const DelegationId id = hand_over()->id;
    DelegationService plain(home.config, clock, home.store, nullptr, home.trust, home.log);
    ASSERT_TRUE(plain.resume());
    EXPECT_EQ(plain.request(home.user("ana"), DelegationId{fresh()}, "").error().code, ErrorCode::kConflict);
    EXPECT_EQ(plain.put(home.user("ana"), id, "chain").error().code, ErrorCode::kConflict);
    EXPECT_FALSE(plain.prove(part(), away.self()));
}

TEST_F(DelegationServiceTest, WhatCannotBeStoredIsNotGranted) {
    const DelegationId id{fresh()};
    const Delegation asked = *home.delegations->request(home.user("ana"), id, to_string(application));
    home.store.delegations().fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_FALSE(home.delegations->put(home.user("ana"), id, sign(asked, for_application(), ana)));
    EXPECT_FALSE(home.delegations->request(home.user("ana"), DelegationId{fresh()}, ""));
    home.store.delegations().fault.reset();
    EXPECT_FALSE(home.delegations->prove(part(), away.self()));
}

}  // namespace
}  // namespace zbs::test
