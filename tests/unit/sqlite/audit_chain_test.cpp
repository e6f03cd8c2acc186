#include "services/common/adapters/sql/audit_chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include "services/common/adapters/sqlite/audit_log.hpp"
#include "tests/support/temporary_folder.hpp"

// What somebody with the file and an editor can do, and what is found of it.

namespace zbs::sqlite {
namespace {
using namespace zbs::test;
using testing::HasSubstr;

AuditEntry entry(int i) {
    return {
        time_from_microseconds(i), "spiffe://alpha/user/ann", "getApplication", std::to_string(i), "allow", "r", "d"};
}

class AuditChain : public testing::Test {
  protected:
    void SetUp() override {
        const auto log = open();
        ASSERT_TRUE(log) << log.error();
        for (int i = 2; i <= 5; ++i) {  // behind the log's beginning
            ASSERT_TRUE((*log)->append(entry(i), AuditUrgency::kNow));
            if (i == 3) third_ = (*log)->head();
        }
        head_ = (*log)->head();
    }
    Result<std::unique_ptr<AuditLog>> open() const {
        return open_audit_log(path(), {"spiffe://alpha/zone/one", time_from_microseconds(0)});
    }
    std::string path() const { return folder_.path("audit.db"); }
    /// Through SQLite's own interface; gives its complaint, empty if it succeeded.
    std::string edit(const std::string& sql) const {
        sqlite3* handle = nullptr;
        EXPECT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
        char* message = nullptr;
        sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message);
        const std::string complaint = message == nullptr ? "" : message;
        sqlite3_free(message);
        sqlite3_close(handle);
        return complaint;
    }
    void tamper(const std::string& sql) const {
        ASSERT_EQ(edit("DROP TRIGGER audit_only_appends; DROP TRIGGER audit_never_changes; DROP TRIGGER "
                       "audit_never_forgets;" +
                       sql),
                  "");
    }
    std::string found(const std::optional<AuditHead>& expected = {}) const {
        const Result<AuditSummary> verified = verify_audit_log(path(), expected);
        if (verified) return "whole, " + std::to_string(verified->head.entries);
        EXPECT_EQ(verified.error().code, ErrorCode::kConflict);
        return verified.error().message;
    }
    TemporaryFolder folder_;
    AuditHead third_, head_;
};

TEST_F(AuditChain, AnUntouchedLogIsWhole) {
    const Result<AuditSummary> verified = verify_audit_log(path());
    ASSERT_TRUE(verified) << verified.error();
    EXPECT_EQ(*verified, (AuditSummary{head_, time_from_microseconds(0), time_from_microseconds(5)}));
    EXPECT_TRUE(verify_audit_log(path(), head_));
    EXPECT_TRUE(verify_audit_log(path(), third_)) << "noted before the log grew";
}

TEST_F(AuditChain, TriggersRefuseEverythingButTheNextEntry) {
    for (const char* sql :
         {"UPDATE audit SET who='x' WHERE number=2", "DELETE FROM audit WHERE number=5", "DELETE FROM audit",
          "INSERT OR REPLACE INTO audit VALUES(2,0,'','','','','','','')",
          "INSERT INTO audit VALUES(9,0,'','','','','','','')", "INSERT INTO audit VALUES(0,0,'','','','','','','')",
          "UPDATE OR REPLACE audit SET number=4 WHERE number=5"})
        EXPECT_THAT(edit(sql), HasSubstr("append-only")) << sql;
    EXPECT_EQ(found(head_), "whole, 5");
}

TEST_F(AuditChain, AnyChangedFieldIsFound) {
    for (const char* column : {"at_us", "who", "action", "object", "decision", "request_id", "detail", "hash"}) {
        SCOPED_TRACE(column);
        const TemporaryFolder copy;
        std::filesystem::copy(path(), copy.path("audit.db"));
        tamper(std::string("UPDATE audit SET ") + column + "=" + column + "||'0' WHERE number=3");
        EXPECT_THAT(found(), HasSubstr("entry 3 of the audit log was changed"));
        std::filesystem::copy(copy.path("audit.db"), path(), std::filesystem::copy_options::overwrite_existing);
        ASSERT_EQ(found(), "whole, 5");
    }
}

TEST_F(AuditChain, TextMovedBetweenFieldsIsFound) {
    tamper("UPDATE audit SET request_id='', detail='rd' WHERE number=2");
    EXPECT_THAT(found(), HasSubstr("entry 2 of the audit log was changed"));
}

TEST_F(AuditChain, ARemovedEntryIsFound) {
    tamper("DELETE FROM audit WHERE number=2");
    EXPECT_THAT(found(), HasSubstr("entry 2 of the audit log was removed"));
}

TEST_F(AuditChain, ARemovedEntryIsFoundAlsoWhenTheOthersMoveUp) {
    tamper("DELETE FROM audit WHERE number=2; UPDATE audit SET number=number-1 WHERE number>2");
    EXPECT_THAT(found(), HasSubstr("entry 2 of the audit log was changed, moved"));
}

TEST_F(AuditChain, SwappedEntriesAreFound) {
    tamper(
        "UPDATE audit SET number=-1 WHERE number=2; UPDATE audit SET number=2 WHERE number=4;"
        "UPDATE audit SET number=4 WHERE number=-1");
    EXPECT_THAT(found(), HasSubstr("entry 2 of the audit log was changed, moved"));
}

TEST_F(AuditChain, AnInsertedEntryIsFound) {
    tamper(
        "INSERT INTO audit SELECT 6, at_us, who, action, object, decision, request_id, detail, hash FROM audit "
        "WHERE number=5");
    EXPECT_THAT(found(), HasSubstr("entry 6 of the audit log was changed, moved or put in"));
    EXPECT_THAT(edit("DELETE FROM audit WHERE number=6; INSERT INTO audit SELECT -7, at_us, who, action, object, "
                     "decision, request_id, detail, hash FROM audit WHERE number=1"),
                "");
    EXPECT_THAT(found(), HasSubstr("entry 1 of the audit log has one before it that was put in"));
}

TEST_F(AuditChain, ACutEndShowsOnlyAgainstANotedHead) {
    tamper("DELETE FROM audit WHERE number>3");
    EXPECT_EQ(found(), "whole, 3") << "nothing in the file can reveal it";
    EXPECT_EQ(found(third_), "whole, 3");
    EXPECT_THAT(found(head_), HasSubstr("entry 4 of the audit log is missing: 5 entries were noted"));
}

TEST_F(AuditChain, AnEmptiedLogIsFoundAndNotBegunAnew) {
    tamper("DELETE FROM audit");
    EXPECT_THAT(found(), HasSubstr("entry 1 of the audit log is missing"));
    EXPECT_THAT(found(head_), HasSubstr("entry 1 of the audit log is missing"));
    const auto again = open();
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::kConflict);
    EXPECT_THAT(again.error().message, testing::AllOf(HasSubstr(path()), HasSubstr("was emptied")));
}

TEST_F(AuditChain, ALogWithoutItsBeginningIsFound) {
    tamper("DELETE FROM audit WHERE number=1");
    EXPECT_THAT(found(), HasSubstr("entry 1 of the audit log was removed"));
    ASSERT_EQ(edit("UPDATE audit SET number=number-1"), "");
    EXPECT_THAT(found(), HasSubstr("entry 1 of the audit log was changed, moved"));
}

TEST_F(AuditChain, ALogBeginsWithItsOwnMakingOnce) {
    const std::vector<AuditRecord> records = *(*open())->read(1, 100);
    ASSERT_EQ(records.size(), 5U) << "opening it again begins nothing";
    EXPECT_EQ(records[0].entry, (AuditEntry{time_from_microseconds(0), "spiffe://alpha/zone/one", "beginAudit", "",
                                            "recorded", "", "the audit log begins"}));
}

TEST_F(AuditChain, ALogWhoseFirstEntryIsNotItsBeginningIsFound) {
    const std::string hash = *sql::chain_hash(std::string(64, '0'), 1, entry(1));
    tamper(
        "DELETE FROM audit; INSERT INTO audit VALUES(1,1,'spiffe://alpha/user/ann','getApplication','1','allow','r',"
        "'d','" +
        hash + "')");
    EXPECT_THAT(found(), HasSubstr("entry 1 of the audit log is not the one with which a log begins"));
}

TEST_F(AuditChain, AChainWrittenAnewShowsOnlyAgainstANotedHead) {
    std::filesystem::remove(path());
    {
        const auto forged = open();
        for (int i = 2; i <= 5; ++i) ASSERT_TRUE((*forged)->append(entry(i == 2 ? 7 : i), AuditUrgency::kNow));
    }
    EXPECT_EQ(found(), "whole, 5");
    EXPECT_THAT(found(head_), HasSubstr("entry 5 of the audit log is not the one noted"));
    EXPECT_THAT(found(third_), HasSubstr("entry 3 of the audit log is not the one noted"));
}

TEST_F(AuditChain, IsVerifiedWhileAServiceWrites) {
    const auto log = open();
    ASSERT_TRUE((*log)->append(entry(6), AuditUrgency::kNow));
    ASSERT_TRUE((*log)->append(entry(7), AuditUrgency::kSoon));
    EXPECT_EQ(found(head_), "whole, 6") << "what is durable";
    ASSERT_TRUE((*log)->flush());
    EXPECT_EQ(found(head_), "whole, 7");
}

TEST_F(AuditChain, VerifyingMakesNoFile) {
    const auto missing = verify_audit_log(folder_.path("other.db"));
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(missing.error().message, HasSubstr(folder_.path("other.db")));
    EXPECT_FALSE(std::filesystem::exists(folder_.path("other.db")));

    std::ofstream(folder_.path("no.db")) << std::string(8192, 'x');
    const auto damaged = verify_audit_log(folder_.path("no.db"));
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().code, ErrorCode::kUnavailable);
}

TEST_F(AuditChain, WhatIsKeptBackIsWrittenWhenTheLogCloses) {
    ASSERT_TRUE((*open())->append(entry(6), AuditUrgency::kSoon));
    EXPECT_EQ(found(), "whole, 6");
}

TEST_F(AuditChain, AnEntryThatCannotBeWrittenIsRefusedAndTheOthersWait) {
    const auto log = open();
    ASSERT_TRUE((*log)->append(entry(6), AuditUrgency::kSoon));
    ASSERT_EQ(edit("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'disk is full'); END"), "");
    const Result<void> refused = (*log)->append(entry(7), AuditUrgency::kNow);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, testing::AllOf(HasSubstr("disk is full"), HasSubstr("check its disk")));
    EXPECT_EQ((*log)->head(), head_);
    ASSERT_EQ(edit("DROP TRIGGER full"), "");
    ASSERT_TRUE((*log)->append(entry(8), AuditUrgency::kNow));
    const std::vector<AuditRecord> records = *(*log)->read(6, 10);
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[0].entry, entry(6));
    EXPECT_EQ(records[1].entry, entry(8));
    EXPECT_EQ(found(head_), "whole, 7");
}

TEST_F(AuditChain, ASecondWriterIsRefusedNotMixedIn) {
    const auto one = open(), two = open();
    ASSERT_TRUE((*one)->append(entry(6), AuditUrgency::kNow));
    const Result<void> second = (*two)->append(entry(7), AuditUrgency::kNow);
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr("no other program"));
    EXPECT_EQ(found(head_), "whole, 6");
}

TEST(ChainHash, IsSha256OverTheDocumentedBytes) {
    // printf of the bytes | sha256sum: 8 bytes 64, 64 '0', number 1, time 2, then each text after its length.
    const AuditEntry one{time_from_microseconds(2), "a", "bc", "", "allow", "r", "d"};
    EXPECT_EQ(*sql::chain_hash(std::string(64, '0'), 1, one),
              "34ccfebaccd7bc4820afde51b8fb869b999cb9050fb00ec41f693245b5777d3e");
}

TEST(ParseAuditHead, ReadsWhatIsPrinted) {
    const AuditHead head{12, std::string(60, 'a') + "09bf"};
    EXPECT_EQ(*parse_audit_head(to_string(head)), head);
    const std::string hash(64, 'a');
    for (const std::string& bad :
         {std::string(), hash, ":" + hash, "1:" + hash + "a", "1:" + std::string(64, 'g'), "-1:" + hash, "1x:" + hash,
          "99999999999999999999:" + hash, "1 :" + hash, "1:" + std::string(64, 'A')}) {
        const Result<AuditHead> read = parse_audit_head(bad);
        ASSERT_FALSE(read) << bad;
        EXPECT_THAT(read.error().message, HasSubstr("ENTRIES:HASH"));
    }
}

}  // namespace
}  // namespace zbs::sqlite
