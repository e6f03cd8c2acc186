#include "services/zone_scheduler/trust/peering_service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/trust/peering_request.hpp"
#include "tests/support/fake_trust.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using enum PeeringState;

class PeeringServiceTest : public testing::Test {
  protected:
    PeeringServiceTest() {
        config.zone = {"b", {{"m0", 40, 1.0}}};
        config.organisation = "org-b";
        config.contact = "bea";
        start();
    }
    void start(PeeringPorts ports = {}) {
        service = std::make_unique<PeeringService>(config, clock, store, trust, log, std::move(ports));
        ASSERT_TRUE(service->resume());
    }
    PeeringRequest signed_request(const OrganisationName& organisation, const std::string& shown,
                                  const ZoneName& zone = "z1") {
        const FakeKeys keys({CallerKind::kZone, organisation, zone}, shown);
        return *make_peering_request({.zone = zone, .organisation = organisation, .url = "https://z:1"}, self,
                                     clock.now(), keys, trust);
    }
    /// What an unknown zone is answered.
    PeeringState ask(const OrganisationName& organisation, const std::string& shown, const ZoneName& zone = "z1") {
        const auto answer = service->request({}, signed_request(organisation, shown, zone));
        EXPECT_TRUE(answer) << answer.error();
        return answer ? answer->state : kRejected;
    }
    Result<PeeringRecord> settle(PeeringVerb verb, const std::string& fingerprint = {}) {
        return service->change("org-a", {.verb = verb, .fingerprint = fingerprint}, operator_b);
    }

    const Caller self{CallerKind::kZone, "org-b", "b"};
    const Caller zone_a{CallerKind::kZone, "org-a", "z1"};
    const Caller operator_b{CallerKind::kOperator, "org-b", "bea"};
    const std::string bundle = "BUNDLE a";
    ZoneConfig config;
    VirtualClock clock;
    MemorySiteStore store;
    FakeTrust trust;
    SilentLog log;
    std::unique_ptr<PeeringService> service;
};

TEST_F(PeeringServiceTest, StrangerWaitsForTheOperatorAndIsNotBelieved) {
    const auto answer = service->request({}, signed_request("org-a", bundle));
    ASSERT_TRUE(answer) << answer.error();
    EXPECT_EQ(answer->state, kRequested);
    EXPECT_THAT(answer->reason, testing::HasSubstr("operator of zone b"));
    EXPECT_FALSE(trust.bundle("org-a"));
    EXPECT_FALSE(service->accepts(zone_a));
    EXPECT_FALSE(service->rights_now("org-a"));
}

TEST_F(PeeringServiceTest, RequestMustBeSignedForThisZoneNowByTheZoneItNames) {
    const PeeringRequest good = signed_request("org-a", bundle);
    const auto code = [&](const PeeringRequest& request, const Caller& caller = {}) {
        const auto answer = service->request(caller, request);
        return answer ? "accepted" : to_string(answer.error().code);
    };
    PeeringRequest bad = good;
    bad.signature.clear();
    EXPECT_STREQ(code(bad), "denied");
    bad = good;
    bad.url = "https://elsewhere:1";
    EXPECT_STREQ(code(bad), "denied");
    bad = good;
    bad.bundle = "BUNDLE other";
    EXPECT_STREQ(code(bad), "denied");
    bad = good;
    bad.bundle = "no bundle";
    EXPECT_STREQ(code(bad), "invalid_argument");
    bad = good;
    bad.zone = "z2";
    EXPECT_STREQ(code(bad), "denied");
    EXPECT_STREQ(code(good, {CallerKind::kZone, "org-a", "z2"}), "denied");
    EXPECT_STREQ(code(good, {CallerKind::kUser, "org-a", "ana"}), "unauthenticated");
    const FakeKeys keys(zone_a, bundle);
    const auto elsewhere = make_peering_request({.zone = "z1", .organisation = "org-a", .url = "https://z:1"},
                                                {CallerKind::kZone, "org-c", "c"}, clock.now(), keys, trust);
    EXPECT_STREQ(code(*elsewhere), "denied");
    clock.advance(11min);
    EXPECT_STREQ(code(good), "denied");
    EXPECT_THAT(service->views(), testing::IsEmpty());
}

TEST_F(PeeringServiceTest, OwnOrganisationNeedsNoRecord) {
    const Caller sister{CallerKind::kZone, "org-b", "b2"};
    EXPECT_TRUE(service->accepts(sister));
    EXPECT_EQ(service->request(sister, {"b2", "org-b", "https://b2"})->state, kAccepted);
    EXPECT_EQ(service->request({}, {"b2", "org-b", "https://b2"}).error().code, ErrorCode::kUnauthenticated);
    EXPECT_THAT(service->views(), testing::IsEmpty());
}

TEST_F(PeeringServiceTest, AcceptanceLastsOverARestartAndGivesDefaults) {
    ask("org-a", bundle);
    const auto accepted = settle(PeeringVerb::kAccept);
    ASSERT_TRUE(accepted) << accepted.error();
    EXPECT_EQ(accepted->rights.ceiling.processors, 40);
    EXPECT_EQ(accepted->rights.ceiling.walltime, 24h);
    EXPECT_EQ(accepted->rights.floor.processors, 4);
    EXPECT_EQ(accepted->by, "spiffe://org-b/operator/bea");
    trust.unpin("org-a");  // memory is gone
    start();
    EXPECT_TRUE(service->accepts(zone_a));
    EXPECT_EQ(trust.bundle("org-a"), bundle);
    EXPECT_EQ(service->rights_now("org-a")->processors, 22);  // half way from 4 to 40
}

TEST_F(PeeringServiceTest, OfTwoBundlesTheOperatorChoosesByFingerprint) {
    ask("org-a", bundle);
    ask("org-a", "BUNDLE forged");
    EXPECT_EQ(service->views("org-a").size(), 2U);
    const auto unclear = settle(PeeringVerb::kAccept);
    ASSERT_FALSE(unclear);
    EXPECT_EQ(unclear.error().code, ErrorCode::kConflict);
    EXPECT_THAT(unclear.error().message, testing::HasSubstr(*trust.fingerprint(bundle)));
    ASSERT_TRUE(settle(PeeringVerb::kAccept, *trust.fingerprint(bundle)));
    EXPECT_EQ(trust.bundle("org-a"), bundle);
    EXPECT_EQ(service->views("org-a").size(), 1U);
    EXPECT_EQ(ask("org-a", "BUNDLE forged"), kRejected);  // the name has its bundle now
    EXPECT_EQ(service->views("org-a").size(), 1U);
    EXPECT_EQ(service->views("org-a")[0].record.history.count, (TrustHistory{}.count));  // proves nothing about org-a
}

TEST_F(PeeringServiceTest, StatesFollowTheOperatorOnly) {
    ask("org-a", bundle);
    EXPECT_EQ(settle(PeeringVerb::kSuspend).error().code, ErrorCode::kConflict);
    ASSERT_TRUE(settle(PeeringVerb::kAccept));
    ASSERT_TRUE(settle(PeeringVerb::kSuspend));
    EXPECT_FALSE(service->accepts(zone_a));
    EXPECT_EQ(ask("org-a", bundle), kSuspended);  // asking again lifts nothing
    ASSERT_TRUE(settle(PeeringVerb::kResume));
    EXPECT_TRUE(service->accepts(zone_a));
    ASSERT_TRUE(settle(PeeringVerb::kReject));
    EXPECT_EQ(ask("org-a", bundle), kRejected);
    EXPECT_FALSE(service->accepts(zone_a));
}

TEST_F(PeeringServiceTest, RightsChangeLiveAndBadOnesChangeNothing) {
    ask("org-a", bundle);
    ASSERT_TRUE(settle(PeeringVerb::kAccept));
    const auto set = [&](RightsChange rights) {
        return service->change("org-a", {.verb = PeeringVerb::kSet, .rights = std::move(rights)}, operator_b);
    };
    ASSERT_TRUE(set({.processors = 10, .hours = std::vector<DayWindow>{{0, 60}}}));
    EXPECT_EQ(service->rights_now("org-a")->processors, 5);
    EXPECT_EQ(service->rights_now("org-a")->hours.size(), 1U);
    const auto bad = set({.floor_processors = 11});
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().pointer, "/rights/floor/processors");
    EXPECT_EQ(service->rights_now("org-a")->processors, 5);
    EXPECT_EQ(service->change("org-b", {.verb = PeeringVerb::kAccept}, operator_b).error().pointer, "/organisation");
    EXPECT_EQ(service->change("org-x", {.verb = PeeringVerb::kAccept}, operator_b).error().code, ErrorCode::kNotFound);
}

TEST_F(PeeringServiceTest, BehaviourMovesRightsAndIsRememberedOverARestart) {
    ask("org-a", bundle);
    ASSERT_TRUE(settle(PeeringVerb::kAccept));
    const int before = service->rights_now("org-a")->processors;
    for (int i = 0; i < 20; ++i) service->record("org-a", TrustEvent::kFailedCheck);
    EXPECT_LT(service->rights_now("org-a")->processors, before);
    EXPECT_EQ(store.peerings().load()->at(0).history.count[4], 0U);  // not a write for each
    clock.advance(PeeringService::kSaveEvery + 1s);
    start();
    const auto view = service->views("org-a").at(0);
    EXPECT_EQ(view.record.history.count[4], 20U);
    EXPECT_EQ(view.trust.reasons.at(0).event, TrustEvent::kFailedCheck);
    EXPECT_GE(service->rights_now("org-a")->processors, 4);  // the floor holds
}

TEST_F(PeeringServiceTest, RuleAcceptsOnlyItsBundleUnlessToldToTrustTheFirst) {
    AutomaticRule rule{.organisations = {"org-*"}, .fingerprint = *trust.fingerprint(bundle)};
    rule.rights.ceiling = {.processors = 3, .walltime = 1h, .concurrent_parts = 1};
    service->set_rules({rule});
    EXPECT_EQ(ask("org-a", "BUNDLE forged"), kRequested);
    EXPECT_EQ(ask("org-a", bundle), kAccepted);
    EXPECT_EQ(service->views("org-a").at(0).record.rights.ceiling.processors, 3);
    rule.fingerprint.clear();
    rule.trust_on_first_use = true;
    service->set_rules({rule});
    EXPECT_EQ(ask("org-c", "BUNDLE c", "c"), kAccepted);
    EXPECT_EQ(ask("org-c", "BUNDLE other", "c"), kRejected);
    EXPECT_EQ(ask("else", "BUNDLE e", "e"), kRequested);
}

TEST_F(PeeringServiceTest, RuleDoesNotOverrideTheOperator) {
    ask("org-a", bundle);
    ASSERT_TRUE(settle(PeeringVerb::kReject));
    service->set_rules({{.organisations = {"*"}, .trust_on_first_use = true}});
    EXPECT_EQ(ask("org-a", bundle), kRejected);
}

TEST_F(PeeringServiceTest, PendingRequestsAreBoundedAndTheSilentOneGoes) {
    for (std::size_t i = 0; i < limits::kMaxPendingPeerings; ++i) {
        ask(OrganisationName("org-" + std::to_string(i)), "BUNDLE " + std::to_string(i),
            ZoneName("z" + std::to_string(i)));
        clock.advance(1s);
    }
    ask("org-0", "BUNDLE 0", "z0");  // asks again: not the silent one any more
    ask("org-new", "BUNDLE new", "new");
    EXPECT_EQ(service->views().size(), limits::kMaxPendingPeerings);
    EXPECT_EQ(service->views("org-0").size(), 1U);
    EXPECT_EQ(service->views("org-1").size(), 0U);
    EXPECT_EQ(store.peerings().load()->size(), limits::kMaxPendingPeerings);
}

TEST_F(PeeringServiceTest, NameOfAPeersZoneIsNotGivenTwice) {
    ask("org-a", bundle);
    ASSERT_TRUE(settle(PeeringVerb::kAccept));
    EXPECT_EQ(service->request({}, signed_request("org-c", "BUNDLE c", "z1")).error().code, ErrorCode::kConflict);
    EXPECT_EQ(service->request({}, signed_request("org-c", "BUNDLE c", "b")).error().code, ErrorCode::kConflict);
}

TEST_F(PeeringServiceTest, BlockedOrganisationIsNotEvenPending) {
    start({.is_blocked = [](const Caller& subject) { return subject.organisation == "org-a"; }});
    EXPECT_EQ(service->request({}, signed_request("org-a", bundle)).error().code, ErrorCode::kDenied);
    EXPECT_THAT(service->views(), testing::IsEmpty());
}

TEST_F(PeeringServiceTest, RemovedOrganisationIsForgottenUnlessItHasPartsHere) {
    PeeringUsage usage{4, 1};
    start({.usage = [&](const OrganisationName&) { return usage; }});
    ask("org-a", bundle);
    ASSERT_TRUE(settle(PeeringVerb::kAccept));
    EXPECT_EQ(service->remove("org-a").error().code, ErrorCode::kConflict);
    usage = {};
    ASSERT_TRUE(service->remove("org-a"));
    EXPECT_FALSE(trust.bundle("org-a"));
    EXPECT_THAT(*store.trusted().load(), testing::IsEmpty());
    EXPECT_EQ(service->remove("org-a").error().code, ErrorCode::kNotFound);
    EXPECT_EQ(ask("org-a", "BUNDLE other"), kRequested);
}

TEST_F(PeeringServiceTest, OtherInterfaceVersionIsRejectedWithoutTrace) {
    const FakeKeys keys(zone_a, bundle);
    const auto old =
        make_peering_request({.zone = "z1", .organisation = "org-a", .url = "https://z:1", .interface_version = 2},
                             self, clock.now(), keys, trust);
    EXPECT_EQ(service->request({}, *old)->state, kRejected);
    EXPECT_THAT(service->views(), testing::IsEmpty());
}

TEST_F(PeeringServiceTest, BundleOfAnotherOrganisationIsRefused) {
    const std::string other = "BUNDLE of org-c";
    const auto accepted = service->change("org-a", {.verb = PeeringVerb::kAccept, .bundle = other}, operator_b);
    ASSERT_FALSE(accepted);
    EXPECT_EQ(accepted.error().pointer, "/bundle");
    EXPECT_THAT(accepted.error().message, testing::AllOf(testing::HasSubstr("'org-c'"), testing::HasSubstr("'org-a'")));
    EXPECT_EQ(service->believe("org-a", other).error().message, accepted.error().message);
    EXPECT_FALSE(trust.bundle("org-a"));
    EXPECT_THAT(service->views(), testing::IsEmpty());
    EXPECT_TRUE(service->change("org-c", {.verb = PeeringVerb::kAccept, .bundle = other}, operator_b));
}

TEST_F(PeeringServiceTest, BundleThatNamesNobodyIsTakenWithANote) {
    const PeeringChange guest{
        .verb = PeeringVerb::kAccept, .bundle = bundle, .rights = {.account_rule = "account:guest"}};
    ASSERT_TRUE(service->change("org-a", guest, operator_b));
    EXPECT_THAT(service->notes("org-a"),
                testing::ElementsAre(testing::AllOf(testing::HasSubstr("bound to no organisation"),
                                                    testing::HasSubstr(*trust.fingerprint(bundle)))));
    PeeringChange bound = guest;
    bound.bundle = "BUNDLE of org-c";
    ASSERT_TRUE(service->change("org-c", bound, operator_b));
    EXPECT_THAT(service->notes("org-c"), testing::IsEmpty());
}

TEST_F(PeeringServiceTest, AcceptanceThatGivesNoAccountIsToldWithItsRemedy) {
    config.account_map_file = "/etc/zbs/accounts.map";
    config.accounts = *AccountMap::parse("org-z * * -> zoe\n", "accounts.map");
    ASSERT_TRUE(service->change("org-c", {.verb = PeeringVerb::kAccept, .bundle = "BUNDLE of org-c"}, operator_b));
    EXPECT_THAT(service->notes("org-c"),
                testing::ElementsAre(testing::AllOf(testing::HasSubstr("'org-c * * -> ACCOUNT'"),
                                                    testing::HasSubstr("/etc/zbs/accounts.map"))));
    const AccountMap map = *AccountMap::parse("org-c * * -> cleo\n", "accounts.map");
    start({.accounts = [&map] { return &map; }});  // read again
    EXPECT_THAT(service->notes("org-c"), testing::IsEmpty());
}

TEST_F(PeeringServiceTest, APoolThatOthersUseTooIsToldWithItsRemedy) {
    config.account_map_file = "/etc/zbs/accounts.map";
    config.accounts = *AccountMap::parse(
        "pool all = a[1-4]\npool own = b[1-4]\npool c = c[1-4]\norg-b * * -> pool:own\norg-d * * -> pool:all\n",
        "accounts.map");
    const auto accept = [&](const OrganisationName& organisation, const std::string& rule) {
        PeeringChange wanted{.verb = PeeringVerb::kAccept, .bundle = "BUNDLE of " + organisation};
        wanted.rights.account_rule = rule;
        return service->change(organisation, wanted, operator_b);
    };
    ASSERT_TRUE(accept("org-c", "pool:all"));
    EXPECT_THAT(service->notes("org-c"), testing::IsEmpty()) << "nobody else is accepted";
    ASSERT_TRUE(accept("org-d", "map"));
    for (const auto& [organisation, other] :
         {std::pair<OrganisationName, std::string>{"org-c", "org-d"}, {"org-d", "org-c"}}) {
        EXPECT_THAT(service->notes(organisation),
                    testing::ElementsAre(testing::AllOf(testing::HasSubstr("pool 'all' is also of '" + other + "'"),
                                                        testing::HasSubstr("/etc/zbs/accounts.map"),
                                                        testing::HasSubstr("peer set " + organisation))));
    }
    ASSERT_TRUE(accept("org-e", "pool:own"));
    EXPECT_THAT(service->notes("org-e"), testing::ElementsAre(testing::HasSubstr("'own' is also of 'org-b'")));
    PeeringChange apart{.verb = PeeringVerb::kSet};
    apart.rights.account_rule = "pool:c";
    ASSERT_TRUE(service->change("org-c", apart, operator_b));
    for (const char* organisation : {"org-c", "org-d"})
        EXPECT_THAT(service->notes(OrganisationName(organisation)), testing::IsEmpty()) << organisation;
}

TEST_F(PeeringServiceTest, RightsNameOnlyWhatIsThere) {
    start({.check_account = [](const AccountName& name) -> Result<void> {
        return name == "guest" ? Result<void>{} : invalid("no such account");
    }});
    ask("org-a", bundle);
    ASSERT_TRUE(settle(PeeringVerb::kAccept));
    const auto set = [&](RightsChange rights) {
        const auto done =
            service->change("org-a", {.verb = PeeringVerb::kSet, .rights = std::move(rights)}, operator_b);
        return done ? "done" : done.error().pointer;
    };
    EXPECT_EQ(set({.partitions = {{"gpu"}}}), "/rights/ceiling/partitions/0");
    EXPECT_EQ(set({.account_rule = "pool:physics"}), "/rights/ceiling/account_rule");
    EXPECT_EQ(set({.account_rule = "account:nobody7"}), "/rights/ceiling/account_rule");
    EXPECT_EQ(service->views("org-a").at(0).record.rights.ceiling.account_rule, "map");
    EXPECT_EQ(set({.partitions = {{"main"}}, .account_rule = "account:guest"}), "done");
    start({.check_account = [](const AccountName&) -> Result<void> { return invalid("gone"); }});
    EXPECT_EQ(set({.processors = 3}), "done");  // names nothing anew
}

TEST_F(PeeringServiceTest, WhatCannotBeStoredIsNotSettled) {
    ask("org-a", bundle);
    static_cast<MemoryRecordTable<PeeringRecord>&>(store.peerings()).fault =
        Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_EQ(settle(PeeringVerb::kAccept).error().message, "disk full");
    EXPECT_FALSE(service->accepts(zone_a));
}

}  // namespace
}  // namespace zbs::test
