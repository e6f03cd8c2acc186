#include <gmock/gmock.h>

#include "services/zone_scheduler/trust/membership_service.hpp"
#include "tests/unit/zone_trust/identity_world.hpp"

namespace zbs::test {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;

class MembershipBlocksTest : public IdentityWorld {
  protected:
    /// What a zone says that could say anything.
    static TrustStatement word_of(const Caller& zone, std::vector<std::string> blocked) {
        return {.organisation = zone.organisation, .name = to_uri(zone), .blocked = std::move(blocked)};
    }
    const Caller sibling{CallerKind::kZone, "org-a", "two"};
    const Caller carl{CallerKind::kUser, "org-c", "carl"};
};

TEST_F(MembershipBlocksTest, BlocksTakeSubjectsAndOrganisations) {
    const Caller bob = away.user("bob"), other = away.user("other");
    ASSERT_TRUE(home.membership->block(to_uri(bob), "misuse", home.boss()));
    EXPECT_TRUE(home.membership->is_blocked(bob));
    EXPECT_FALSE(home.membership->is_blocked(other));
    ASSERT_TRUE(home.membership->block("org-b", "", home.boss()));
    EXPECT_TRUE(home.membership->is_blocked(other));
    EXPECT_TRUE(home.membership->is_blocked(away.self()));
    home.start();
    EXPECT_TRUE(home.membership->is_blocked(other)) << "after a restart too";
    ASSERT_TRUE(home.membership->unblock("org-b"));
    EXPECT_FALSE(home.membership->is_blocked(other));
    EXPECT_TRUE(home.membership->is_blocked(bob));
    EXPECT_EQ(home.membership->unblock("org-b").error().code, ErrorCode::kNotFound);
    EXPECT_FALSE(home.membership->is_blocked(Caller{})) << "anonymous is nobody";
}

TEST_F(MembershipBlocksTest, AZoneCannotBlockItself) {
    for (const std::string& own : {std::string("org-a"), to_uri(home.self())})
        EXPECT_EQ(home.membership->block(own, "", home.boss()).error().code, ErrorCode::kConflict) << own;
    const auto locked_out = home.membership->block(to_uri(home.boss()), "", home.boss());
    EXPECT_EQ(locked_out.error().code, ErrorCode::kConflict) << "nobody could take it back";
    EXPECT_FALSE(home.membership->is_blocked(home.boss()));
    for (const char* bad : {"", "Org", "spiffe://org-b", "spiffe://org-b/user/", "org-b/user/bob"})
        EXPECT_EQ(home.membership->block(bad, "", home.boss()).error().code, ErrorCode::kInvalidArgument) << bad;
}

TEST_F(MembershipBlocksTest, BlockingAnOwnUserRevokesHer) {
    const auto ana = home.join("ana");
    ASSERT_TRUE(home.membership->block(to_uri(home.user("ana")), "left", home.boss()));
    EXPECT_TRUE(home.trust.is_revoked("org-a", ana.identity.serial()));
}

TEST_F(MembershipBlocksTest, BlocksOfForeignersCountOnlyFromWhomTheyAreHonoured) {
    const Caller bob = away.user("bob");
    away.join("bob");
    for (const std::string& subject : {to_uri(carl), to_uri(bob), std::string("org-d"), std::string("org-a"),
                                       to_uri(home.user("ana")), to_uri(home.self())})
        ASSERT_TRUE(away.membership->block(subject, "", away.boss())) << subject;
    ASSERT_TRUE(home.membership->take(away.self(), away.membership->statement()));
    EXPECT_TRUE(home.membership->is_blocked(bob)) << "its own, always";
    EXPECT_FALSE(home.membership->is_blocked(carl));
    home.config.honour_blocks = {"org-b"};
    ASSERT_TRUE(home.membership->take(away.self(), away.membership->statement()));
    EXPECT_TRUE(home.membership->is_blocked(carl));
    EXPECT_TRUE(home.membership->is_blocked(Caller{CallerKind::kZone, "org-d", "delta"}));
    for (const Caller& own : {home.user("ana"), home.self(), home.boss()})
        EXPECT_FALSE(home.membership->is_blocked(own)) << "nobody elsewhere blocks our own: " << own;
    ASSERT_TRUE(away.membership->unblock(to_uri(carl)));
    ASSERT_TRUE(home.membership->take(away.self(), away.membership->statement()));
    EXPECT_FALSE(home.membership->is_blocked(carl));
}

TEST_F(MembershipBlocksTest, WhatAnotherZoneToldOfBlocksOutlivesRestarts) {
    const Caller zone{CallerKind::kZone, "org-b", "other"};
    for (const Caller& subject : {carl, zone}) ASSERT_TRUE(away.membership->block(to_uri(subject), "", away.boss()));
    home.config.honour_blocks = {"org-b"};
    ASSERT_TRUE(home.membership->take(away.self(), away.membership->statement()));
    home.start();
    EXPECT_TRUE(home.membership->is_blocked(zone));
    EXPECT_TRUE(home.membership->is_blocked(carl));
    home.config.honour_blocks = {};
    home.start();
    EXPECT_TRUE(home.membership->is_blocked(zone)) << "its own, always";
    EXPECT_FALSE(home.membership->is_blocked(carl)) << "not honoured any more";
    ASSERT_TRUE(away.membership->unblock(to_uri(zone)));
    ASSERT_TRUE(home.membership->take(away.self(), away.membership->statement()));
    home.start();
    EXPECT_FALSE(home.membership->is_blocked(zone));
}

TEST_F(MembershipBlocksTest, WhatADeadZoneToldIsListedAndTakenBack) {
    ASSERT_TRUE(home.membership->take(sibling, word_of(sibling, {"org-b", to_uri(carl)})));
    ASSERT_TRUE(home.membership->is_blocked(away.self()));
    EXPECT_THAT(home.membership->announced_blocks(),
                ElementsAre(MembershipService::AnnouncedBlock{"org-b", sibling},
                            MembershipService::AnnouncedBlock{to_uri(carl), sibling}));
    EXPECT_THAT(home.membership->blocks(), IsEmpty()) << "nobody set it here";
    const auto announcers = home.membership->unblock("org-b");
    ASSERT_TRUE(announcers) << announcers.error();
    EXPECT_THAT(*announcers, ElementsAre(sibling));
    for (int start = 0; start < 2; ++start) {
        EXPECT_FALSE(home.membership->is_blocked(away.self())) << start << " restarts";
        EXPECT_TRUE(home.membership->is_blocked(carl)) << start << " restarts";
        home.start();
    }
    EXPECT_EQ(home.membership->unblock("org-b").error().code, ErrorCode::kNotFound) << "nothing left to take back";
}

TEST_F(MembershipBlocksTest, AZoneThatStillTellsABlockBringsItBack) {
    const TrustStatement word = word_of(sibling, {"org-b"});
    ASSERT_TRUE(home.membership->block("org-b", "", home.boss()));
    ASSERT_TRUE(home.membership->take(sibling, word));
    EXPECT_THAT(*home.membership->unblock("org-b"), ElementsAre(sibling)) << "one call takes both back";
    EXPECT_FALSE(home.membership->is_blocked(away.self()));
    ASSERT_TRUE(home.membership->take(sibling, word));
    EXPECT_TRUE(home.membership->is_blocked(away.self()));
}

TEST_F(MembershipBlocksTest, WhatIsHonouredIsSettledByTheConfigurationOfThisMoment) {
    home.config.honour_blocks = {"org-b"};
    ASSERT_TRUE(home.membership->take(away.self(), word_of(away.self(), {to_uri(carl), to_uri(away.user("bob"))})));
    ASSERT_TRUE(home.membership->is_blocked(carl));
    home.config.honour_blocks = {};
    EXPECT_FALSE(home.membership->is_blocked(carl)) << "without a restart";
    EXPECT_THAT(home.membership->announced_blocks(),
                ElementsAre(MembershipService::AnnouncedBlock{to_uri(away.user("bob")), away.self()}));
}

TEST_F(MembershipBlocksTest, AnOrganisationThatIsBelievedNoMoreIsNotHeardAnyMore) {
    home.config.honour_blocks = {"org-b"};
    ASSERT_TRUE(home.membership->take(away.self(), word_of(away.self(), {to_uri(carl)})));
    ASSERT_TRUE(home.membership->is_blocked(carl));
    home.trust.unpin("org-b");
    EXPECT_FALSE(home.membership->is_blocked(carl));
    EXPECT_THAT(home.membership->announced_blocks(), IsEmpty());
    ASSERT_TRUE(home.membership->take(away.self(), word_of(away.self(), {to_uri(carl)})));
    EXPECT_FALSE(home.membership->is_blocked(carl)) << "nor what it tells from now on";
}

TEST_F(MembershipBlocksTest, ASiblingShutsOutNobodyWhoCouldPutItRight) {
    const Caller ana = home.user("ana");
    ASSERT_TRUE(home.membership->take(
        sibling, word_of(sibling, {"org-a", to_uri(home.boss()), to_uri(home.self()), to_uri(ana)})));
    EXPECT_FALSE(home.membership->is_blocked(home.boss()));
    EXPECT_FALSE(home.membership->is_blocked(home.self()));
    EXPECT_FALSE(home.membership->is_blocked(home.user("bea")));
    EXPECT_TRUE(home.membership->is_blocked(ana)) << "its users are the organisation's";
    EXPECT_TRUE(home.membership->unblock(to_uri(ana)));
    EXPECT_FALSE(home.membership->is_blocked(ana));
}

TEST_F(MembershipBlocksTest, ABlockThatCannotBeTakenFromTheStoreStays) {
    ASSERT_TRUE(home.membership->block("org-b", "", home.boss()));
    ASSERT_TRUE(home.membership->take(sibling, word_of(sibling, {"org-b"})));
    home.store.announced_blocks().fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_EQ(home.membership->unblock("org-b").error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(home.membership->announced_blocks(), testing::SizeIs(1));
    EXPECT_THAT(home.membership->blocks(), testing::SizeIs(1));
}

}  // namespace
}  // namespace zbs::test
