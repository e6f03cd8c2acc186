#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/adapters/sqlite/zone_store.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/temporary_folder.hpp"

// One suite for the store on disk and the one in memory.

namespace zbs::test {
namespace {

struct SiteOnDisk {
    TemporaryFolder folder;
    sqlite::ZoneDatabase database = open();
    sqlite::ZoneDatabase open() {
        auto opened = sqlite::open_zone_database(folder.path("zone.db"));
        EXPECT_TRUE(opened) << opened.error();
        return *std::move(opened);
    }
    SiteStore& operator*() { return *database.site; }
    void reopen() {
        database = {};
        database = open();
    }
};
struct SiteInMemory {
    MemorySiteStore store;
    SiteStore& operator*() { return store; }
    void reopen() {}
};

template <class Store>
class SiteStoreContract : public testing::Test {
  protected:
    Store store;
};
using Stores = testing::Types<SiteOnDisk, SiteInMemory>;
TYPED_TEST_SUITE(SiteStoreContract, Stores);

Time at(std::int64_t seconds) { return time_from_microseconds(seconds * 1'000'000); }

TYPED_TEST(SiteStoreContract, KeepsMembersWhole) {
    const Member ana{.name = "ana",
                     .groups = {"physics", "staff"},
                     .added = at(5),
                     .code_hash = std::string(64, 'a'),
                     .code_expires = at(6),
                     .revoked = true,
                     .certificates = {{"0a1b", at(7), std::nullopt}, {"0c", at(8), at(9)}}};
    const Member bob{.name = "bob"};
    ASSERT_TRUE((*this->store).members().save(bob));
    ASSERT_TRUE((*this->store).members().save(ana));
    this->store.reopen();
    EXPECT_EQ(*(*this->store).members().load(), (std::vector{ana, bob}));
}

TYPED_TEST(SiteStoreContract, SavingAgainReplacesAndRemovingForgets) {
    RecordTable<Block>* blocks = &(*this->store).blocks();
    ASSERT_TRUE(blocks->save({"org-x", "first", "o", at(1)}));
    ASSERT_TRUE(blocks->save({"org-x", "second", "o", at(2)}));
    EXPECT_EQ(*blocks->load(), (std::vector<Block>{{"org-x", "second", "o", at(2)}}));
    ASSERT_TRUE(blocks->remove("org-x"));
    ASSERT_TRUE(blocks->remove("org-x"));
    this->store.reopen();
    EXPECT_THAT(*(*this->store).blocks().load(), testing::IsEmpty());
}

TYPED_TEST(SiteStoreContract, KindsDoNotMixAndKeysAndChainsComeBack) {
    const Delegation delegation{.id = DelegationId{make_id128(1, 2, 3)},
                                .owner = {CallerKind::kUser, "org-a", "ana"},
                                .application = to_string(make_id128(4, 5, 6)),
                                .key = "KEY",
                                .request = "REQUEST",
                                .chain = "CHAIN",
                                .not_after = at(10),
                                .created = at(11)};
    const TrustedOrganisation trusted{"org-b", "BUNDLE", "LIST", at(12)};
    ASSERT_TRUE((*this->store).delegations().save(delegation));
    ASSERT_TRUE((*this->store).trusted().save(trusted));
    this->store.reopen();
    EXPECT_EQ(*(*this->store).delegations().load(), std::vector{delegation});
    EXPECT_EQ(*(*this->store).trusted().load(), std::vector{trusted});
    EXPECT_THAT(*(*this->store).members().load(), testing::IsEmpty());
}

TYPED_TEST(SiteStoreContract, NumbersNeverRepeat) {
    EXPECT_EQ(*(*this->store).next_number("crl"), 1U);
    EXPECT_EQ(*(*this->store).next_number("other"), 1U);
    this->store.reopen();
    EXPECT_EQ(*(*this->store).next_number("crl"), 2U);
}

}  // namespace
}  // namespace zbs::test
