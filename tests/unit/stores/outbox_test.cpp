#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/adapters/sqlite/zone_store.hpp"
#include "tests/support/postgres_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

// One suite for the outbox in both databases.

namespace zbs::test {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;

struct OutboxOnDisk {
    TemporaryFolder folder;
    sql::ZoneDatabase stores = open();
    sql::ZoneDatabase open() const {
        auto opened = sqlite::open_zone_database(folder.path("zone.db"), sql::Durability::kBatches);
        EXPECT_TRUE(opened) << opened.error();
        return *std::move(opened);
    }
    sql::ZoneDatabase& operator*() { return stores; }
    void reopen() {
        stores = {};
        stores = open();
    }
};
struct OutboxInServer : InPostgres {
    OutboxInServer() {
        if (!address.url.empty()) reopen();
    }
    sql::ZoneDatabase& operator*() { return database.stores; }
    void reopen() { InPostgres::reopen(sql::Durability::kBatches); }
};

template <class Holder>
class OutboxContract : public testing::Test {
  protected:
    void SetUp() override {
        if constexpr (std::is_same_v<Holder, OutboxInServer>) ZBS_NEEDS_POSTGRES();
    }
    static AuditRecord record(std::uint64_t number) {
        return {number,
                {time_from_microseconds(5), "ana", "submit", "a 'b'", "allow", "r", "\xc3\xa4"},
                std::string(64, 'f')};
    }
    Holder holder;
};
using Outboxes = testing::Types<OutboxOnDisk, OutboxInServer>;
TYPED_TEST_SUITE(OutboxContract, Outboxes);

TYPED_TEST(OutboxContract, RecordsWaitByNumberUntilTheyAreForgotten) {
    for (const std::uint64_t number : {2U, 1U, 3U}) ASSERT_TRUE((*this->holder).outbox->add(this->record(number)));
    ASSERT_TRUE((*this->holder).journal->commit());
    this->holder.reopen();
    EXPECT_EQ(*(*this->holder).outbox->load(), (std::vector{this->record(1), this->record(2), this->record(3)}));
    ASSERT_TRUE((*this->holder).outbox->forget(2));
    EXPECT_THAT(*(*this->holder).outbox->load(), ElementsAre(this->record(3)));
}

TYPED_TEST(OutboxContract, TheLastHeadStaysNoted) {
    EXPECT_EQ(*(*this->holder).outbox->noted(), std::nullopt);
    for (const AuditHead& head : {AuditHead{1, std::string(64, 'a')}, AuditHead{2, std::string(64, 'b')}}) {
        ASSERT_TRUE((*this->holder).outbox->record(head));
        ASSERT_TRUE((*this->holder).journal->commit());
        this->holder.reopen();
        EXPECT_EQ(*(*this->holder).outbox->noted(), head);
    }
}

TYPED_TEST(OutboxContract, WithoutTheCommitNoneHasWaited) {
    ASSERT_TRUE((*this->holder).outbox->add(this->record(1)));
    this->holder.reopen();
    EXPECT_THAT(*(*this->holder).outbox->load(), IsEmpty());
}

TYPED_TEST(OutboxContract, ANumberIsTakenOnce) {
    ASSERT_TRUE((*this->holder).outbox->add(this->record(1)));
    EXPECT_EQ((*this->holder).outbox->add(this->record(1)).error().code, ErrorCode::kConflict);
    ASSERT_TRUE((*this->holder).outbox->add(this->record(2)));
    ASSERT_TRUE((*this->holder).journal->commit());
    EXPECT_EQ((*this->holder).outbox->load()->size(), 2U);
}

}  // namespace
}  // namespace zbs::test
