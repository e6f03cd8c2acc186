#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/adapters/sqlite/registry_store.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs {
namespace {
using namespace zbs::test;

struct RegistryOnDisk {
    TemporaryFolder folder;
    std::unique_ptr<RegistryStore> store = open();
    std::unique_ptr<RegistryStore> open() { return *sqlite::open_registry_store(folder.path("registry.db")); }
    RegistryStore& operator*() { return *store; }
    void reopen() {
        store.reset();
        store = open();
    }
};
struct RegistryInMemory {
    MemoryRegistryStore store;
    RegistryStore& operator*() { return store; }
    void reopen() {}
};
template <class Store>
class RegistryStoreContract : public testing::Test {
  protected:
    Store holder;
};
using RegistryStores = testing::Types<RegistryOnDisk, RegistryInMemory>;
TYPED_TEST_SUITE(RegistryStoreContract, RegistryStores);

TYPED_TEST(RegistryStoreContract, ZonesAreKeptReplacedAndRemoved) {
    const EnrolledZone a = some_enrolled_zone("a");
    EnrolledZone b = some_enrolled_zone("b");
    EXPECT_THAT(*(*this->holder).zones().load(), testing::IsEmpty());
    for (const EnrolledZone& zone : {b, a}) ASSERT_TRUE((*this->holder).zones().save(zone));
    b.entry.text = "another";
    ASSERT_TRUE((*this->holder).zones().save(b));
    this->holder.reopen();
    EXPECT_THAT(*(*this->holder).zones().load(), testing::ElementsAre(a, b));
    ASSERT_TRUE((*this->holder).zones().remove("a"));
    ASSERT_TRUE((*this->holder).zones().remove("unknown"));
    this->holder.reopen();
    EXPECT_THAT(*(*this->holder).zones().load(), testing::ElementsAre(b));
}

TYPED_TEST(RegistryStoreContract, RightsAndOrganisationsAreTablesOfTheirOwn) {
    const EnrolmentRight one = some_enrolment_right("ab"), two = some_enrolment_right("cd");
    const TrustedOrganisation beta = some_trusted_organisation();
    ASSERT_TRUE((*this->holder).rights().save(one));
    ASSERT_TRUE((*this->holder).rights().save(two));
    ASSERT_TRUE((*this->holder).organisations().save(beta));
    ASSERT_TRUE((*this->holder).rights().remove("ab"));
    this->holder.reopen();
    EXPECT_THAT(*(*this->holder).rights().load(), testing::ElementsAre(two));
    EXPECT_THAT(*(*this->holder).organisations().load(), testing::ElementsAre(beta));
    EXPECT_THAT(*(*this->holder).zones().load(), testing::IsEmpty());
}

}  // namespace
}  // namespace zbs
