#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schemas/contract.hpp"
#include "services/registry/http/registry_routes.hpp"
#include "tests/support/documented_routes.hpp"
#include "tests/support/memory_audit_log.hpp"
#include "tests/unit/registry/registry_world.hpp"

namespace zbs {
namespace {
using namespace zbs::test;

class RegistryRoutes : public test::RegistryWorld {
  protected:
    std::string contract = registry_contract();
    MemoryAuditLog audit;
    RegistryServices services{
        .config = config, .registry = *registry, .trust = trust, .audit = audit, .contract = contract};
};

TEST_F(RegistryRoutes, AreThoseOfTheContract) {
    const http::Router router = make_registry_routes(services, {});
    EXPECT_THAT(router.routes(), testing::UnorderedElementsAreArray(documented_routes(registry_contract())));
}

TEST(Contracts, AreStrictJson) {
    for (const char* text : {zone_contract(), registry_contract()}) {
        const auto document = codec::parse(text);
        ASSERT_TRUE(document) << document.error();
        EXPECT_EQ((*document)["openapi"], "3.1.0");
        EXPECT_EQ(document->dump(2).size() > 1000, true);
    }
}

}  // namespace
}  // namespace zbs
