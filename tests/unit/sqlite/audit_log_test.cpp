#include "services/common/adapters/sqlite/audit_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/messages/limits.hpp"
#include "tests/support/memory_audit_log.hpp"
#include "tests/support/temporary_folder.hpp"

// One suite for the log on disk and the one in memory. The one on disk has an entry of its own before all others.

namespace zbs {
namespace {
using namespace zbs::test;
using enum AuditUrgency;

struct AuditOnDisk {
    TemporaryFolder folder;
    std::unique_ptr<AuditLog> log = open();
    std::unique_ptr<AuditLog> open() {
        return *sqlite::open_audit_log(folder.path("audit.db"), {"spiffe://alpha/zone/one", {}});
    }
    AuditLog& operator*() { return *log; }
    void reopen() {
        log.reset();
        log = open();
    }
};
struct AuditInMemory {
    MemoryAuditLog log;
    AuditLog& operator*() { return log; }
    void reopen() {}
};

AuditEntry entry(int i) {
    return {time_from_microseconds(1'000 * i),
            "spiffe://alpha/user/ann",
            "cancelApplication",
            std::to_string(i),
            "allow",
            "01J9Z3V7Q0ABCDEFGHJKMNPQRS",
            ""};
}

template <class Log>
class AuditLogContract : public testing::Test {
  protected:
    Log holder;
    AuditLog& log() { return *holder; }
    const std::uint64_t before = log().head().entries;
    void add(int first, int last, AuditUrgency urgency = kSoon) {
        for (int i = first; i <= last; ++i) ASSERT_TRUE(log().append(entry(i), urgency));
    }
};
using AuditLogs = testing::Types<AuditOnDisk, AuditInMemory>;
TYPED_TEST_SUITE(AuditLogContract, AuditLogs);

TYPED_TEST(AuditLogContract, NumbersEntriesFromOneInTheirOrder) {
    EXPECT_LE(this->before, 1U);
    EXPECT_THAT(*this->log().read(this->before + 1, 10), testing::IsEmpty());
    this->add(1, 5);
    const std::vector<AuditRecord> records = *this->log().read(this->before + 1, 10);
    ASSERT_EQ(records.size(), 5U);
    for (int i = 1; i <= 5; ++i) {
        EXPECT_EQ(records[i - 1].number, this->before + static_cast<std::uint64_t>(i));
        EXPECT_EQ(records[i - 1].entry, entry(i));
        EXPECT_EQ(records[i - 1].hash.size(), 64U);
    }
    EXPECT_NE(records[0].hash, records[1].hash);
    EXPECT_EQ(this->log().head(), (AuditHead{this->before + 5, records[4].hash}));
}

TYPED_TEST(AuditLogContract, KeepsUrgentEntriesAtOnceAndOthersWithTheFlush) {
    this->add(1, 3);
    EXPECT_EQ(this->log().head().entries, this->before + 0);
    this->add(4, 4, kNow);
    EXPECT_EQ(this->log().head().entries, this->before + 4) << "with all before it";
    this->add(5, 5);
    EXPECT_EQ(this->log().head().entries, this->before + 4);
    ASSERT_TRUE(this->log().flush());
    EXPECT_EQ(this->log().head().entries, this->before + 5);
    this->add(6, 68);
    EXPECT_EQ(this->log().head().entries, this->before + 5);
    this->add(69, 69);
    EXPECT_EQ(this->log().head().entries, this->before + 69) << "the 64th writes them all";
}

TYPED_TEST(AuditLogContract, GoesOnWhereItEnded) {
    this->add(1, 2, kNow);
    const AuditHead head = this->log().head();
    this->holder.reopen();
    EXPECT_EQ(this->log().head(), head);
    this->add(3, 3, kNow);
    EXPECT_EQ(this->log().read(this->before + 3, 1)->at(0).number, this->before + 3);
}

TYPED_TEST(AuditLogContract, ReadsPages) {
    this->add(1, 1'100);
    EXPECT_EQ(this->log().read(1, 5'000)->size(), limits::kMaxAuditRows);
    const std::vector<AuditRecord> page = *this->log().read(this->before + 1'099, 10);
    ASSERT_EQ(page.size(), 2U);
    EXPECT_EQ(page[0].entry.object, "1099");
    EXPECT_THAT(*this->log().read(this->before + 1'101, 10), testing::IsEmpty());
    EXPECT_THAT(*this->log().read(UINT64_MAX, 10), testing::IsEmpty());
    EXPECT_THAT(*this->log().read(1, 0), testing::IsEmpty());
}

TYPED_TEST(AuditLogContract, NoEntryForgesAnotherOrOutgrowsItsPlace) {
    AuditEntry bad = entry(1);
    bad.object = "x\n2 allow spiffe://alpha/operator/olga";
    bad.detail = std::string(100'000, 'd');
    bad.who = "\xff\x1b[2J";
    ASSERT_TRUE(this->log().append(bad, kNow));
    const AuditEntry stored = this->log().read(this->before + 1, 1)->at(0).entry;
    EXPECT_EQ(stored.object, "x\\x0a2 allow spiffe://alpha/operator/olga");
    EXPECT_EQ(stored.detail, std::string(509, 'd') + "...");
    EXPECT_EQ(stored.who, "\\xff\\x1b[2J");
}

}  // namespace
}  // namespace zbs
