#include "services/zone_scheduler/trust/authorization_filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "services/common/codec/message_codec.hpp"
#include "services/zone_scheduler/peer/part_service.hpp"
#include "services/zone_scheduler/trust/peering_request.hpp"
#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;

/// What the services below are built from, so it comes before them.
ZoneConfig zone_b() {
    ZoneConfig config;
    config.zone = {"b", {{"m0", 4, 1.0}, {"m1", 6, 2.0}}};
    config.organisation = "org-b";
    config.partition_of = {"slow", "fast"};
    config.accounts = *AccountMap::parse(
        "pool guests = guest1 guest2\n"
        "org-a mallory * -> deny\n"
        "org-a * physics -> pool:guests\n"
        "org-a ana * -> ana1\n"
        "org-b * * -> local1\n",
        "accounts");
    return config;
}

/// Zone b (4 + 6 processors, the 6 in partition "fast") with org-a accepted at its ceiling.
class AuthorizationFilterTest : public testing::Test {
  protected:
    AuthorizationFilterTest() {
        world.restart("b");
        const FakeKeys keys(home, "BUNDLE a");
        const Caller self{CallerKind::kZone, "org-b", "b"};
        EXPECT_TRUE(peerings().request(
            {}, *make_peering_request({"a", "org-a", "https://a"}, self, clock.now(), keys, node.trust)));
        grant(PeeringVerb::kAccept, {.processors = 10,
                                     .require_delegation = false,
                                     .floor_processors = 10,
                                     .floor_walltime = 24h,
                                     .floor_parts = 10});
    }
    void grant(PeeringVerb verb, RightsChange rights) {
        const auto done = peerings().change("org-a", {.verb = verb, .rights = std::move(rights)},
                                            {CallerKind::kOperator, "org-b", "o"});
        ASSERT_TRUE(done) << done.error();
    }
    Caller user(const std::string& name, const OrganisationName& organisation = "org-a") const {
        return {CallerKind::kUser, organisation, name};
    }
    Capacity capacity(const Caller& who, std::vector<std::string> groups = {}, Duration walltime = 1h) {
        const Caller asker = who.organisation == "org-b" ? sister : home;
        const auto answer = parts().capacity(asker, {.user = who, .walltime = walltime, .groups = std::move(groups)});
        EXPECT_TRUE(answer);
        return *answer;
    }
    PartRequest part(const Caller& who, int ranks, std::vector<std::string> groups = {}) {
        PartRequest r{
            .id = PartId{ids.fresh(home)}, .application = ApplicationId{ids.fresh(home)}, .user = who, .home = "a"};
        for (int i = 0; i < ranks; ++i) r.ranks.push_back(i);
        r.graph = *TaskGraph::make(std::vector<double>(static_cast<std::size_t>(ranks), 1.0), {});
        r.walltime = 1h;
        r.groups = std::move(groups);
        return r;
    }
    std::string account_of(const PartId& id) {
        const auto part = parts().table().find(id);
        return part ? std::string(part->record.account) : "no such part";
    }

    const Caller home{CallerKind::kZone, "org-a", "a"};
    const Caller sister{CallerKind::kZone, "org-b", "b2"};
    FederationWorld world{{}};
    FederationWorld::Node& node = world.add(zone_b());
    ZoneConfig& config = node.config;
    VirtualClock& clock = world.clock;
    CountingIds& ids = world.ids;
    MemorySiteStore& site = node.site;
    PeeringService& peerings() { return *node.peerings; }
    AuthorizationFilter& filter() { return *node.filter; }
    PartService& parts() { return *node.parts; }
};

TEST_F(AuthorizationFilterTest, MapGivesAccountsByUserAndGroup) {
    const PartRequest by_name = part(user("ana"), 1), by_group = part(user("bo"), 1, {"physics"});
    ASSERT_TRUE(parts().hold(home, by_name));
    ASSERT_TRUE(parts().hold(home, by_group));
    EXPECT_EQ(account_of(by_name.id), "ana1");
    EXPECT_EQ(account_of(by_group.id), "guest1");
    EXPECT_EQ(site.pool_leases().load()->at(0).user, user("bo"));
}

TEST_F(AuthorizationFilterTest, NothingLooksTheSameForWhateverReason) {
    ASSERT_TRUE(node.domain->membership.block(to_uri(user("blocked")), "in a test", {}));
    const auto text = [&](const Capacity& c) { return codec::dump(codec::encode(c)); };
    const std::string unknown = text(capacity(user("nobody")));
    const std::vector<std::string> physics = {"physics"};
    EXPECT_EQ(text(capacity(user("mallory"), physics)), unknown);
    EXPECT_EQ(text(capacity(user("blocked"), physics)), unknown);
    EXPECT_EQ(text(capacity(user("bo"), {"chemistry"})), unknown);
    EXPECT_EQ(capacity(user("nobody")).total_processors, 0);
    EXPECT_EQ(capacity(user("ana")).total_processors, 10);
    const Error none = parts().hold(home, part(user("nobody"), 1)).error();
    EXPECT_EQ(parts().hold(home, part(user("mallory"), 1, physics)).error(), none);
    EXPECT_EQ(parts().hold(home, part(user("blocked"), 1, physics)).error(), none);
    EXPECT_EQ(parts().hold(home, part(user("ana"), 11)).error(), none);  // nor is the zone's size in the answer
}

TEST_F(AuthorizationFilterTest, OnlyAllowedPartitionsCountAndAreUsed) {
    grant(PeeringVerb::kSet, {.partitions = std::vector<std::string>{"slow"}});
    EXPECT_EQ(capacity(user("ana")).processors, 4);
    EXPECT_EQ(capacity(user("ana")).speed_mean, 1);
    EXPECT_FALSE(parts().hold(home, part(user("ana"), 5)));
    ASSERT_TRUE(parts().hold(home, part(user("ana"), 4)));
    EXPECT_EQ(parts().table().nodes()[0].used, 4);
    EXPECT_EQ(parts().table().nodes()[1].used, 0);
}

TEST_F(AuthorizationFilterTest, LimitsHoldForTheOrganisationTogether) {
    grant(PeeringVerb::kSet, {.processors = 5, .floor_processors = 5});
    EXPECT_EQ(capacity(user("ana")).processors, 5);
    ASSERT_TRUE(parts().hold(home, part(user("ana"), 3)));
    EXPECT_EQ(capacity(user("bo"), {"physics"}).processors, 2);
    EXPECT_EQ(capacity(user("bo"), {"physics"}).total_processors, 5);
    EXPECT_FALSE(parts().hold(home, part(user("bo"), 3, {"physics"})));
    EXPECT_TRUE(parts().hold(home, part(user("bo"), 2, {"physics"})));
    EXPECT_EQ(capacity(user("li", "org-b")).processors, 5);  // the own organisation has what is free
}

TEST_F(AuthorizationFilterTest, RanksShareAProcessorAsFarAsZoneAndPeeringAllow) {
    EXPECT_EQ(capacity(user("ana")).max_overcommit, 1);
    config.max_overcommit = 4;
    EXPECT_EQ(capacity(user("ana")).max_overcommit, 4);
    grant(PeeringVerb::kSet, {.overcommit = 2});
    EXPECT_EQ(capacity(user("ana")).max_overcommit, 2);
    PartRequest three = part(user("ana"), 3);
    three.overcommit = 3;
    EXPECT_EQ(parts().hold(home, three).error().pointer, "/overcommit");
    grant(PeeringVerb::kSet, {.overcommit = 5});
    EXPECT_TRUE(parts().hold(home, three));
    EXPECT_EQ(capacity(user("ana")).max_overcommit, 4);
}

TEST_F(AuthorizationFilterTest, HoursWalltimeShareAndNumberOfPartsLimit) {
    const std::int64_t minute = to_microseconds(clock.now()) / 60'000'000 % 1'440;
    const int later = static_cast<int>((minute + 120) % 1'380);
    grant(PeeringVerb::kSet, {.hours = std::vector<DayWindow>{{later, later + 60}}});
    EXPECT_EQ(capacity(user("ana")).processors, 0);
    EXPECT_EQ(capacity(user("ana")).total_processors, 10);  // at another hour
    grant(PeeringVerb::kSet, {.hours = std::vector<DayWindow>{}, .share = 0.29});
    EXPECT_EQ(capacity(user("ana")).processors, 2);
    grant(PeeringVerb::kSet, {.walltime = 30min, .share = 1.0, .floor_walltime = 30min});
    EXPECT_EQ(capacity(user("ana"), {}, 31min).total_processors, 0);
    EXPECT_EQ(capacity(user("ana"), {}, 30min).processors, 10);
    grant(PeeringVerb::kSet, {.walltime = 2h, .concurrent_parts = 1, .floor_walltime = 2h, .floor_parts = 1});
    ASSERT_TRUE(parts().hold(home, part(user("ana"), 1)));
    EXPECT_FALSE(parts().hold(home, part(user("ana"), 1)));
}

TEST_F(AuthorizationFilterTest, SuspendedPeeringGivesNothingAndTouchesNothing) {
    const auto held = parts().hold(home, part(user("ana"), 2));
    ASSERT_TRUE(held);
    grant(PeeringVerb::kSuspend, {});
    EXPECT_EQ(parts().hold(home, part(user("ana"), 1)).error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(parts().status(home, held->id)->state, PartState::kHeld);
    EXPECT_EQ(parts().release(home, held->id, "")->state, PartState::kReleased);
}

TEST_F(AuthorizationFilterTest, PeeringRuleGivesAnAccountButNoRuleBeatsADenial) {
    grant(PeeringVerb::kSet, {.account_rule = "account:visitor"});
    const PartRequest request = part(user("nobody"), 1);
    ASSERT_TRUE(parts().hold(home, request));
    EXPECT_EQ(account_of(request.id), "visitor");
    EXPECT_EQ(capacity(user("mallory")).total_processors, 0);
}

TEST_F(AuthorizationFilterTest, PoolThatIsUsedUpGivesNothingAndGivesItsOwnAgain) {
    const PartRequest first = part(user("u1"), 1, {"physics"});
    ASSERT_TRUE(parts().hold(home, first));
    ASSERT_TRUE(parts().hold(home, part(user("u2"), 1, {"physics"})));
    EXPECT_EQ(capacity(user("u3"), {"physics"}).total_processors, 0);
    ASSERT_TRUE(parts().release(home, first.id, ""));
    const PartRequest again = part(user("u1"), 1, {"physics"});
    ASSERT_TRUE(parts().hold(home, again));
    EXPECT_EQ(account_of(again.id), "guest1");
    EXPECT_EQ(capacity(user("u3"), {"physics"}).total_processors, 0);  // not idle for long enough
}

TEST_F(AuthorizationFilterTest, WithoutAMapOnlyOwnUsersAndThoseWithARule) {
    filter().set_accounts(std::nullopt);
    EXPECT_EQ(capacity(user("li", "org-b")).processors, 10);
    EXPECT_EQ(capacity(user("ana")).total_processors, 0);
    grant(PeeringVerb::kSet, {.account_rule = "account:visitor"});
    EXPECT_EQ(capacity(user("ana")).processors, 10);
}

TEST_F(AuthorizationFilterTest, BehaviourOfAHomeIsRemembered) {
    const auto count = [&](TrustEvent event) {
        return peerings().views("org-a").at(0).record.history.count[static_cast<std::size_t>(event)];
    };
    const auto kept = parts().hold(home, part(user("ana"), 1));
    ASSERT_TRUE(parts().commit(home, kept->id, kept->token));
    EXPECT_EQ(count(TrustEvent::kHoldKept), 0U) << "nothing has run yet";
    EXPECT_FALSE(parts().launch(home, kept->id, {.token = kept->token + 1}));
    EXPECT_EQ(count(TrustEvent::kFailedCheck), 1U);
    ASSERT_TRUE(parts().hold(home, part(user("ana"), 1)));
    clock.advance(config.hold_ttl + 1s);
    EXPECT_EQ(count(TrustEvent::kHoldDropped), 2U);  // the one never committed, and the one never launched
    const auto back = parts().hold(home, part(user("ana"), 1));
    ASSERT_TRUE(parts().release(home, back->id, ""));
    const auto given_up = parts().hold(home, part(user("ana"), 1));
    ASSERT_TRUE(parts().commit(home, given_up->id, given_up->token));
    ASSERT_TRUE(parts().release(home, given_up->id, ""));
    EXPECT_EQ(count(TrustEvent::kHoldKept), 0U) << "holding and giving back costs nothing and brings nothing";
}

TEST_F(AuthorizationFilterTest, HoldingAndGivingBackEmptiesNoPool) {
    for (const char* name : {"u1", "u2", "u3", "u4"}) {
        const auto held = parts().hold(home, part(user(name), 1, {"physics"}));
        ASSERT_TRUE(held) << name;
        ASSERT_TRUE(parts().release(home, held->id, ""));
    }
    EXPECT_THAT(*site.pool_leases().load(), testing::IsEmpty());
}

TEST_F(AuthorizationFilterTest, AnAccountThatSomethingRanInGoesToNobodyElseUnlessItIsCleaned) {
    for (const char* name : {"u1", "u2"}) {
        const Entitlement mine = filter().find({home, user(name), {"physics"}, 1h, {}});
        ASSERT_TRUE(filter().record_run(*filter().take_account(mine, user(name))));
    }
    clock.set_wall(clock.now() + 24h * 365);
    EXPECT_FALSE(filter().find({home, user("u3"), {"physics"}, 1h, {}}).given);
    EXPECT_TRUE(filter().find({home, user("u1"), {"physics"}, 1h, {}}).given) << "her own";
    config.reuse_pool_accounts = true;
    EXPECT_TRUE(filter().find({home, user("u3"), {"physics"}, 1h, {}}).given);
}

TEST_F(AuthorizationFilterTest, APeeringThatGivesNothingIsRefused) {
    for (const RightsChange& none : {RightsChange{.processors = 0}, {.walltime = 0s}, {.concurrent_parts = 0}}) {
        const auto refused = peerings().change("org-a", {.verb = PeeringVerb::kSet, .rights = none},
                                               {CallerKind::kOperator, "org-b", "o"});
        ASSERT_FALSE(refused);
        EXPECT_THAT(refused.error().message, testing::HasSubstr("suspend or reject"));
    }
}

/// Check C18: reports the times, asserts the content only.
TEST_F(AuthorizationFilterTest, RefusalsTakeTheSameWork) {
    const auto median_ns = [&](const Caller& who, const std::vector<std::string>& groups) {
        std::vector<std::int64_t> times;
        const CapacityRequest request{.user = who, .walltime = 1h, .groups = groups};
        for (int i = 0; i < 1'000; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            const auto answer = parts().capacity(home, request);
            times.push_back((std::chrono::steady_clock::now() - begin) / std::chrono::nanoseconds{1});
            EXPECT_EQ(answer->total_processors, 0);
        }
        std::nth_element(times.begin(), times.begin() + 500, times.end());
        return std::to_string(times[500]);
    };
    ASSERT_TRUE(node.domain->membership.block(to_uri(user("blocked")), "in a test", {}));
    RecordProperty("median_ns_unknown", median_ns(user("nobody"), {"physics2"}));
    RecordProperty("median_ns_denied", median_ns(user("mallory"), {"physics2"}));
    RecordProperty("median_ns_unmapped", median_ns(user("noboda"), {"chemistry"}));
    RecordProperty("median_ns_blocked", median_ns(user("blocked"), {"physics2"}));
}

}  // namespace
}  // namespace zbs::test
