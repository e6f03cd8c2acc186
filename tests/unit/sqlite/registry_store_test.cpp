#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/adapters/sqlite/zone_store.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs {
namespace {
using namespace zbs::test;

struct OnDisk {
    TemporaryFolder folder;
    std::unique_ptr<RegistryStore> store = open();
    std::unique_ptr<RegistryStore> open() { return *sqlite::open_registry_store(folder.path("registry.db")); }
    RegistryStore& operator*() { return *store; }
    void reopen() {
        store.reset();
        store = open();
    }
};
struct InMemory {
    MemoryRegistryStore store;
    RegistryStore& operator*() { return store; }
    void reopen() {}
};
template <class Store>
class RegistryStoreContract : public testing::Test {
  protected:
    Store holder;
};
using Stores = testing::Types<OnDisk, InMemory>;
TYPED_TEST_SUITE(RegistryStoreContract, Stores);

TYPED_TEST(RegistryStoreContract, KeepsReplacesAndRemoves) {
    ZoneEntry b = some_entry(), a = some_entry();
    b.name = "b";
    a.name = "a";
    EXPECT_THAT(*(*this->holder).load(), testing::IsEmpty());
    for (const ZoneEntry& entry : {b, a}) ASSERT_TRUE((*this->holder).save(entry));
    b.url = "http://127.0.0.1:2";
    ASSERT_TRUE((*this->holder).save(b));
    this->holder.reopen();
    EXPECT_THAT(*(*this->holder).load(), testing::ElementsAre(a, b));
    ASSERT_TRUE((*this->holder).remove("a"));
    ASSERT_TRUE((*this->holder).remove("unknown"));
    this->holder.reopen();
    EXPECT_THAT(*(*this->holder).load(), testing::ElementsAre(b));
}

}  // namespace
}  // namespace zbs
