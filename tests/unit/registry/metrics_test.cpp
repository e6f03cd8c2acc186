#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/registry/http/registry_metrics.hpp"
#include "services/registry/http/registry_routes.hpp"
#include "tests/support/memory_audit_log.hpp"
#include "tests/unit/registry/registry_world.hpp"

namespace zbs {
namespace {
using namespace zbs::test;
using testing::HasSubstr;
using testing::Not;

class RegistryFigures : public test::RegistryWorld {
  protected:
    std::string text() { return figures.text(metrics::TextFormat::kOpenMetrics, *registry); }
    RegistryMetrics figures{config,
                            *clock,
                            {.store_bytes = [] { return std::uint64_t{4'096}; },
                             .certificate_until = [this] { return clock->now() + std::chrono::hours{2}; }}};
};

TEST_F(RegistryFigures, TellZonesWithAndWithoutALease) {
    EXPECT_EQ(enrol(code(), entry("zone-1", "org-a")), "good");
    EXPECT_EQ(enrol(code(), entry("zone-2", "org-b")), "good");
    EXPECT_THAT(text(), HasSubstr("zbs_registry_zones{state=\"live\"} 2\n"));
    EXPECT_THAT(text(), HasSubstr("zbs_registry_zones{state=\"silent\"} 0\n"));
    clock->advance(std::chrono::seconds{41});
    EXPECT_THAT(text(), HasSubstr("zbs_registry_zones{state=\"live\"} 0\n"));
    EXPECT_THAT(text(), HasSubstr("zbs_registry_zones{state=\"silent\"} 2\n"));
    EXPECT_EQ(publish(entry("zone-1", "org-a")), "good");
    EXPECT_THAT(text(), HasSubstr("zbs_registry_zones{state=\"live\"} 1\n"));
}

TEST_F(RegistryFigures, TellCallsAndResources) {
    EXPECT_THAT(text(), Not(HasSubstr("zbs_registry_requests_total{")));
    figures.answered(Action::kListZones, 200);
    figures.answered(Action::kListZones, 200);
    figures.answered(Action::kListZones, 403);
    EXPECT_THAT(text(), HasSubstr("zbs_registry_requests_total{operation=\"listZones\",code=\"200\"} 2\n"));
    EXPECT_THAT(text(), HasSubstr("zbs_registry_requests_total{operation=\"listZones\",code=\"403\"} 1\n"));
    EXPECT_THAT(text(), HasSubstr("zbs_registry_store_bytes 4096\n"));
    EXPECT_THAT(text(), HasSubstr("zbs_registry_certificate_left_seconds 7200\n"));
}

TEST_F(RegistryFigures, AreForTheOwnOrganisationUnlessTheOperatorOpensThem) {
    MemoryAuditLog audit;
    RegistryServices services{.config = config, .registry = *registry, .trust = trust, .audit = audit};
    http::DecisionLog decisions(*clock, audit, log, "registry");
    const auto verdict = [&](const http::Call& call) {
        return check_registry_call(services, decisions, Action::kGetMetrics, call);
    };
    http::Call anonymous;
    EXPECT_FALSE(verdict(anonymous));
    services.has_public_metrics = true;
    EXPECT_TRUE(verdict(anonymous));
}

}  // namespace
}  // namespace zbs
