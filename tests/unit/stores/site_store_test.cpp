#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/adapters/sqlite/zone_store.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/postgres_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

// One suite for the stores on disk, in PostgreSQL and in memory.

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

struct SiteInServer : InPostgres {
    SiteStore& operator*() { return *database.stores.site; }
};

template <class Store>
class SiteStoreContract : public testing::Test {
  protected:
    void SetUp() override {
        if constexpr (std::is_same_v<Store, SiteInServer>) ZBS_NEEDS_POSTGRES();
    }
    Store store;
};
using SiteStores = testing::Types<SiteOnDisk, SiteInMemory, SiteInServer>;
TYPED_TEST_SUITE(SiteStoreContract, SiteStores);

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

TYPED_TEST(SiteStoreContract, PeeringsComeBackWithRightsHistoryAndZones) {
    PeeringRecord asked{.organisation = "org-b", .fingerprint = "sha256:1", .bundle = "ONE", .requested = at(1)};
    PeeringRecord accepted{.organisation = "org-b",
                           .fingerprint = "sha256:2",
                           .bundle = "TWO",
                           .state = PeeringState::kSuspended,
                           .by = "spiffe://org-a/operator/o",
                           .reason = "misuse",
                           .zones = {{"b1", "https://b1:1", at(3)}},
                           .requested = at(1),
                           .changed = at(2)};
    accepted.rights.floor = {1, std::chrono::minutes{1}, 1};
    accepted.rights.ceiling = {.processors = 8,
                               .walltime = std::chrono::hours{2},
                               .concurrent_parts = 3,
                               .hours = {{0, 480}, {1'080, 1'440}},
                               .weekdays = 0x1f,
                               .partitions = {"main"},
                               .share = 0.5,
                               .account_rule = "pool:guests",
                               .require_delegation = false};
    accepted.history.at = at(9);
    accepted.history.initial = 0.25;
    accepted.history.weight[2] = 1.5;
    accepted.history.count[2] = 7;
    ASSERT_TRUE((*this->store).peerings().save(accepted));
    ASSERT_TRUE((*this->store).peerings().save(asked));
    this->store.reopen();
    EXPECT_EQ(*(*this->store).peerings().load(), (std::vector{asked, accepted}));
    ASSERT_TRUE((*this->store).peerings().remove(key_of(asked)));
    EXPECT_EQ(*(*this->store).peerings().load(), std::vector{accepted});
}

TYPED_TEST(SiteStoreContract, LeasesOfPoolAccountsComeBack) {
    const PoolLease lease{"phys01", {CallerKind::kUser, "org-b", "bo"}, at(4), true};
    ASSERT_TRUE((*this->store).pool_leases().save(lease));
    this->store.reopen();
    EXPECT_EQ(*(*this->store).pool_leases().load(), std::vector{lease});
}

TYPED_TEST(SiteStoreContract, NumbersNeverRepeat) {
    EXPECT_EQ(*(*this->store).next_number("crl"), 1U);
    EXPECT_EQ(*(*this->store).next_number("other"), 1U);
    this->store.reopen();
    EXPECT_EQ(*(*this->store).next_number("crl"), 2U);
}

}  // namespace
}  // namespace zbs::test
