#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/messages.hpp"
#include "tests/support/postgres_fixture.hpp"

// The audit log in the zone's own schema.

namespace zbs::postgresql {
namespace {
using namespace zbs::test;
using testing::ElementsAre;
using testing::HasSubstr;

class PostgresAudit : public testing::Test {
  protected:
    void SetUp() override {
        ZBS_NEEDS_POSTGRES();
        open();
    }
    void open() {
        audit.reset();
        place.reopen(sql::Durability::kBatches);
        auto opened = open_audit_log(place.database.database, {"spiffe://alpha/zone/one", {}});
        ASSERT_TRUE(opened) << opened.error();
        audit = *std::move(opened);
    }
    Result<void> note(const std::string& who, AuditUrgency urgency) {
        return audit->append({.who = who, .action = "scheduleApplication"}, urgency);
    }
    std::vector<std::string> callers() {
        std::vector<std::string> all;
        const auto records = audit->read(1, 100);
        EXPECT_TRUE(records) << records.error();
        for (const AuditRecord& record : *records) all.push_back(record.entry.who);
        return all;
    }
    Result<void> behind_its_back(const std::string& sql) {
        const auto connection = Connection::open(place.address);
        return (*connection)->run(sql);
    }
    InPostgres place;
    std::unique_ptr<AuditLog> audit;
};

TEST_F(PostgresAudit, ARecordIsDurableWithTheWritesThatItAllows) {
    ASSERT_TRUE(note("ana", AuditUrgency::kWithWrites));
    ASSERT_TRUE(place.database.stores.zone->insert(some_application()));
    ASSERT_TRUE(place.database.stores.journal->commit());
    EXPECT_EQ(audit->head().entries, 2U);
    const AuditHead head = audit->head();
    const auto verified = verify_audit_log(place.address, head);
    ASSERT_TRUE(verified) << verified.error();
    EXPECT_EQ(verified->head, head);
}

TEST_F(PostgresAudit, WithoutTheCommitNeitherIsThere) {
    ASSERT_TRUE(note("ana", AuditUrgency::kWithWrites));
    ASSERT_TRUE(place.database.stores.zone->insert(some_application()));
    EXPECT_EQ(audit->head().entries, 1U) << "of what is durable";
    ASSERT_TRUE(sql::Query(*place.database.database, "ROLLBACK").step());
    open();
    EXPECT_THAT(callers(), ElementsAre("spiffe://alpha/zone/one"));
    EXPECT_TRUE(place.database.stores.zone->load_open_applications()->empty());
}

TEST_F(PostgresAudit, WhatWasKeptBackBeforeComesAlongAndTheChainGoesOn) {
    ASSERT_TRUE(note("ana", AuditUrgency::kSoon));
    ASSERT_TRUE(note("bob", AuditUrgency::kNow));
    open();
    ASSERT_TRUE(note("cleo", AuditUrgency::kNow));
    EXPECT_THAT(callers(), ElementsAre("spiffe://alpha/zone/one", "ana", "bob", "cleo"));
    EXPECT_TRUE(verify_audit_log(place.address));
}

TEST_F(PostgresAudit, EntriesNeverChangeAndNeverGo) {
    ASSERT_TRUE(note("ana", AuditUrgency::kNow));
    for (const char* sql :
         {"UPDATE audit SET who='bob'", "DELETE FROM audit", "TRUNCATE audit",
          "INSERT INTO audit SELECT 9, at_us, who, action, object, decision, request_id, detail, hash "
          "FROM audit LIMIT 1"}) {
        const Result<void> done = behind_its_back(sql);
        ASSERT_FALSE(done) << sql;
        EXPECT_EQ(done.error().code, ErrorCode::kConflict);
        EXPECT_THAT(done.error().message, HasSubstr("append-only"));
    }
}

TEST_F(PostgresAudit, WhoGoesBehindTheTriggersIsFound) {
    ASSERT_TRUE(note("ana", AuditUrgency::kNow));
    ASSERT_TRUE(behind_its_back("ALTER TABLE audit DISABLE TRIGGER USER; UPDATE audit SET who='bob' WHERE number=2"));
    const auto verified = verify_audit_log(place.address);
    ASSERT_FALSE(verified);
    EXPECT_THAT(verified.error().message, HasSubstr("entry 2"));
}

TEST_F(PostgresAudit, ALogThatWasEmptiedIsNotBegunAnew) {
    audit.reset();
    ASSERT_TRUE(behind_its_back("ALTER TABLE audit DISABLE TRIGGER USER; DELETE FROM audit"));
    const auto opened = open_audit_log(place.database.database, {"spiffe://alpha/zone/one", {}});
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message, HasSubstr("was emptied"));
}

TEST_F(PostgresAudit, AnotherStateFolderIsRefused) {
    EXPECT_TRUE(claim_state_folder(*place.database.database, "one"));
    EXPECT_TRUE(claim_state_folder(*place.database.database, "one"));
    const auto other = claim_state_folder(*place.database.database, "two");
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ErrorCode::kConflict);
}

}  // namespace
}  // namespace zbs::postgresql
