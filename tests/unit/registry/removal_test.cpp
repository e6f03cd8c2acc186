#include <gmock/gmock.h>

#include "services/registry/http/registry_routes.hpp"
#include "tests/support/memory_audit_log.hpp"
#include "tests/unit/registry/registry_world.hpp"

namespace zbs::test {
namespace {
using std::chrono::hours;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RegistryRemoval : public RegistryWorld {
  protected:
    /// What the registry says to this zone's wish to read, as at the edge.
    std::string read_by(const Caller& caller) {
        http::Call call;
        call.method = "GET";
        call.path = "/v1/zones";
        call.peer = PeerIdentity(caller, Evidence::kCertificate);
        const Result<void> allowed = check(Action::kListZones, call);
        return allowed ? "good" : to_string(allowed.error().code);
    }
    RegistryServices services() { return {.config = config, .registry = *registry, .trust = trust, .audit = audit}; }

    Result<void> check(Action action, const http::Call& call) {
        http::DecisionLog decisions(*clock, audit, log, "spiffe://reg/registry/main");  // a restart makes a new clock
        return check_registry_call(services(), decisions, action, call);
    }

    MemoryAuditLog audit;
};

TEST_F(RegistryRemoval, ARemovedZoneIsInNoListAndGetsNoAnswer) {
    ASSERT_EQ(enrol(code(), entry("a")), "good");
    ASSERT_EQ(enrol(code(), entry("b")), "good");
    EXPECT_EQ(read_by(zone("a")), "good");
    ASSERT_TRUE(registry->remove_zone("a"));
    EXPECT_THAT(names(), ElementsAre("b"));
    EXPECT_EQ(read_by(zone("a")), "denied");
    EXPECT_EQ(read_by(zone("b")), "good");
    start();
    EXPECT_EQ(read_by(zone("a")), "denied") << "also after a restart";
    EXPECT_THAT(registry->remove_zone("a").error().message, HasSubstr("zbs-registry zone list"));
}

TEST_F(RegistryRemoval, ARemovedZoneComesBackByANewTokenOnly) {
    const std::string used = code();
    ASSERT_EQ(enrol(used, entry("a")), "good");
    ASSERT_TRUE(registry->remove_zone("a"));
    EXPECT_EQ(enrol(used, entry("a")), "denied");
    start();
    EXPECT_EQ(enrol(used, entry("a")), "denied") << "nor after a restart";
    EXPECT_EQ(enrol(code(), entry("a")), "good");
}

TEST_F(RegistryRemoval, AnEntryWhoseAddressIsStillBeingProvedDoesNotBringItBack) {
    ASSERT_EQ(enrol(code(), entry("a")), "good");
    ZoneEntry moved = entry("a");
    moved.url = "https://elsewhere:1";
    Answer answer;
    registry->publish(zone("a"), sign(moved), [&answer](const Result<ZoneLease>& lease) { answer = lease; });
    ASSERT_EQ(prover.asked.size(), 1U);
    ASSERT_TRUE(registry->remove_zone("a"));
    prover.answer();
    EXPECT_EQ(verdict(answer), "denied");
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RegistryRemoval, AnOrganisationGoesWithItsZonesTokensAndBundle) {
    ASSERT_EQ(enrol(code(), entry("a")), "good");
    ASSERT_EQ(enrol(code(), entry("b", "beta")), "good");
    const std::string open = code("alpha");
    const auto gone = registry->remove_organisation("alpha");
    ASSERT_TRUE(gone) << gone.error();
    EXPECT_THAT(*gone, ElementsAre("a"));
    EXPECT_THAT(registry->organisations(), ElementsAre("beta", "reg"));
    EXPECT_EQ(read_by(zone("a")), "denied");
    EXPECT_EQ(enrol(open, entry("a")), "denied") << "its open token is gone, too";
    start();
    EXPECT_THAT(registry->organisations(), ElementsAre("beta", "reg"));
    ZoneEntry renewed = entry("a");
    renewed.bundle = "another bundle of alpha";
    EXPECT_EQ(enrol(code(), renewed), "good") << "with another bundle, which was refused before";
}

TEST_F(RegistryRemoval, WhatIsNotThereOrIsItsOwnIsNotRemoved) {
    EXPECT_EQ(registry->remove_organisation("nobody").error().code, ErrorCode::kNotFound);
    EXPECT_EQ(registry->remove_organisation("reg").error().code, ErrorCode::kConflict);
    EXPECT_THAT(registry->organisations(), ElementsAre("reg"));
}

TEST_F(RegistryRemoval, WhatCannotBeStoredDoesNotHappen) {
    ASSERT_EQ(enrol(code(), entry("a")), "good");
    store.zones().fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_FALSE(registry->remove_zone("a"));
    EXPECT_THAT(names(), ElementsAre("a"));
    EXPECT_EQ(read_by(zone("a")), "good");
}

TEST_F(RegistryRemoval, TheOperatorSeesAlsoZonesThatAreAway) {
    ASSERT_EQ(enrol(code(), entry("a")), "good");
    clock->advance(hours{1});
    EXPECT_THAT(names(), IsEmpty());
    EXPECT_THAT(registry->enrolments(), ElementsAre(Registry::Enrolment{zone("a"), "https://a:1", false}));
    ASSERT_EQ(publish(entry("a")), "good");
    EXPECT_THAT(registry->enrolments(), ElementsAre(Registry::Enrolment{zone("a"), "https://a:1", true}));
}

TEST_F(RegistryRemoval, IsOnRecord) {
    http::Call call;
    call.method = "DELETE";
    call.path = "/v1/enrolments/a";
    call.peer = PeerIdentity({CallerKind::kOperator, "reg", "olga"}, Evidence::kCertificate);
    ASSERT_TRUE(check(Action::kRemoveEnrolment, call));
    ASSERT_EQ(audit.durable().size(), 1U);
    EXPECT_EQ(audit.durable()[0].entry.action, "removeEnrolment");
    EXPECT_EQ(audit.durable()[0].entry.object, "/v1/enrolments/a");
    call.peer = PeerIdentity({CallerKind::kOperator, "alpha", "oscar"}, Evidence::kCertificate);
    EXPECT_FALSE(check(Action::kRemoveEnrolment, call));
}

TEST_F(RegistryRemoval, TheRecordTellsWhatWasRemoved) {
    const PeerIdentity olga({CallerKind::kOperator, "reg", "olga"}, Evidence::kCertificate);
    const PeerIdentity oscar({CallerKind::kOperator, "alpha", "oscar"}, Evidence::kCertificate);
    const std::optional<RemovedFromRegistry> nothing;
    for (const auto& [action, path, peer, removed] :
         {std::tuple{Action::kRemoveEnrolment, "/v1/enrolments/a", olga, std::optional(RemovedFromRegistry{"a", {}})},
          {Action::kRemoveOrganisation, "/v1/organisations/alpha", olga, RemovedFromRegistry{{}, "alpha"}},
          {Action::kRemoveOrganisation, "/v1/organisations/reg", olga, nothing},  // its own: refused later on
          {Action::kRemoveEnrolment, "/v1/enrolments/a", oscar, nothing},
          {Action::kCreateEnrolmentToken, "/v1/enrolment-tokens", olga, nothing}}) {
        http::Call call;
        call.method = action == Action::kCreateEnrolmentToken ? "POST" : "DELETE";
        call.path = path;
        call.query = {{"subject", "b"}};
        call.peer = peer;
        static_cast<void>(check(action, call));
        ASSERT_TRUE(audit.flush());
        ASSERT_FALSE(audit.durable().empty());
        EXPECT_EQ(removal_of(audit.durable().back().entry, "reg"), removed) << path;
    }
}

}  // namespace
}  // namespace zbs::test
