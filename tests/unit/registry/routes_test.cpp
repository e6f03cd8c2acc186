#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schemas/contract.hpp"
#include "services/registry/http/registry_routes.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs {
namespace {
using namespace zbs::test;

TEST(RegistryRoutes, AreThoseOfTheContract) {
    VirtualClock clock;
    MemoryRegistryStore store;
    SilentLog log;
    Registry registry(clock, store, log);
    const http::Router router = make_registry_routes(registry, registry_contract());
    const codec::Json document = *codec::parse(registry_contract());
    std::vector<std::string> documented;
    for (const auto& [path, methods] : document["paths"].items()) {
        for (const auto& [method, operation] : methods.items()) {
            std::string upper = method;
            for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            documented.push_back(upper + " " + path);
        }
    }
    EXPECT_THAT(router.routes(), testing::UnorderedElementsAreArray(documented));
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
