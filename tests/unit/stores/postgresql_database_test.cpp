#include "services/zone_scheduler/adapters/postgresql/database.hpp"
#include "services/zone_scheduler/adapters/postgresql/lease.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/messages.hpp"
#include "tests/support/postgres_fixture.hpp"

// What the driver for PostgreSQL owes the stores, against a real server.

namespace zbs::postgresql {
namespace {
using namespace zbs::test;
using sql::Query;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kOne = {"CREATE TABLE t(id text PRIMARY KEY, n bigint NOT NULL)"};
const std::vector<std::string> kTwo = {kOne[0], "ALTER TABLE t ADD COLUMN m bigint NOT NULL DEFAULT 7"};

class PostgresDatabase : public testing::Test {
  protected:
    void SetUp() override {
        ZBS_NEEDS_POSTGRES();
        address = {PostgresServer::shared()->url(), PostgresServer::shared()->fresh_schema(), "zbs test"};
        database = open(kOne);
    }
    std::unique_ptr<Database> open(const std::vector<std::string>& steps) const {
        auto opened = Database::open(address, steps);
        EXPECT_TRUE(opened) << opened.error();
        return *std::move(opened);
    }
    Result<void> insert(std::string_view id) {
        Query query(*database, "INSERT INTO t VALUES(?,?)");
        query.bind(id).bind(std::int64_t{1});
        if (const Result<bool> step = query.step(); !step) return step.error();
        return {};
    }
    std::string stored() {
        Query query(*database, "SELECT coalesce(string_agg(id, '' ORDER BY id), '') FROM t");
        EXPECT_TRUE(query.step());
        return query.text(0);
    }
    void reopen(const std::vector<std::string>& steps = kOne) {
        database.reset();
        database = open(steps);
    }
    Address address;
    std::unique_ptr<Database> database;
};

TEST_F(PostgresDatabase, LiftsAnOlderSchemaAndKeepsTheRows) {
    ASSERT_TRUE(insert("a"));
    reopen(kTwo);
    Query query(*database, "SELECT id, n, m FROM t");
    ASSERT_TRUE(*query.step());
    EXPECT_EQ(query.text(0), "a");
    EXPECT_EQ(query.integer(2), 7);
    EXPECT_FALSE(*query.step());
    EXPECT_EQ(query.text(0), "") << "there is no row any more";
}

TEST_F(PostgresDatabase, RefusesASchemaFromTheFuture) {
    reopen(kTwo);
    database.reset();
    const auto older = Database::open(address, kOne);
    ASSERT_FALSE(older);
    EXPECT_THAT(older.error().message, AllOf(HasSubstr("version 2"), HasSubstr("start the newer program")));
    EXPECT_FALSE(Database::open_to_read(address, 1));
    EXPECT_TRUE(Database::open_to_read(address, 2));
}

TEST_F(PostgresDatabase, AFailedLiftChangesNothing) {
    database.reset();
    EXPECT_FALSE(Database::open(address, {kOne[0], "CREATE TABLE u(x bigint); THIS IS NO SQL"}));
    reopen(kTwo);
    EXPECT_FALSE(Query(*database, "SELECT x FROM u").step());
}

TEST_F(PostgresDatabase, ARefusedWriteLeavesTheOthersOfItsBatch) {
    database->batch();
    ASSERT_TRUE(insert("a"));
    EXPECT_EQ(insert("a").error().code, ErrorCode::kConflict);
    EXPECT_FALSE(Query(*database, "SELECT nothing FROM nowhere").step());
    ASSERT_TRUE(insert("b"));
    ASSERT_TRUE(database->commit());
    reopen();
    EXPECT_EQ(stored(), "ab");
}

TEST_F(PostgresDatabase, TextThatItCannotHoldIsNamedAndBreaksNoBatch) {
    database->batch();
    ASSERT_TRUE(insert("a"));
    const Result<void> nul = insert(std::string_view("b\0c", 3));
    EXPECT_EQ(nul.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(nul.error().message, HasSubstr("value 1 for the database holds a NUL character"));
    const Result<void> bytes = insert("\xff\xfe");
    EXPECT_EQ(bytes.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(bytes.error().message, HasSubstr("invalid byte sequence for encoding \"UTF8\""));
    ASSERT_TRUE(insert("d?'e"));
    ASSERT_TRUE(database->commit());
    reopen();
    EXPECT_EQ(stored(), "ad?'e");
}

TEST_F(PostgresDatabase, WritesTogetherAreAllDoneOrNone) {
    for (const bool batches : {false, true}) {
        SCOPED_TRACE(batches);
        if (batches) database->batch();
        const std::string mark = batches ? "2" : "1";
        ASSERT_TRUE(insert("a" + mark));
        const auto both = [&](const std::string& first, const std::string& second) {
            return database->together([&] {
                Result<void> done = insert(first + mark);
                return done ? insert(second + mark) : done;
            });
        };
        EXPECT_EQ(both("b", "a").error().code, ErrorCode::kConflict);
        EXPECT_TRUE(both("c", "d"));
        ASSERT_TRUE(database->commit());
    }
    reopen();
    EXPECT_EQ(stored(), "a1a2c1c2d1d2");
}

TEST_F(PostgresDatabase, WhatWasNotCommittedIsGoneAfterTheEnd) {
    database->batch();
    ASSERT_TRUE(insert("a"));
    EXPECT_TRUE(database->is_dirty());
    EXPECT_EQ(stored(), "a") << "seen at once";
    reopen();
    EXPECT_EQ(stored(), "");
}

TEST_F(PostgresDatabase, NothingIsWrittenBehindABatchThatIsLost) {
    database->batch();
    ASSERT_TRUE(insert("a"));
    ASSERT_TRUE(Query(*database, "ROLLBACK").step());
    EXPECT_FALSE(insert("b"));
    EXPECT_TRUE(database->is_dirty());
    EXPECT_FALSE(database->commit());
    reopen();
    EXPECT_EQ(stored(), "");
}

TEST_F(PostgresDatabase, AServerThatCrashesLosesNothingThatWasCommitted) {
    database->batch();
    ASSERT_TRUE(insert("a"));
    ASSERT_TRUE(database->commit());
    ASSERT_TRUE(insert("b"));
    PostgresServer::shared()->crash_and_restart();
    EXPECT_FALSE(database->commit());
    EXPECT_FALSE(insert("c"));
    reopen();
    EXPECT_EQ(stored(), "a");
}

TEST_F(PostgresDatabase, OnlyOneWrites) {
    const auto second = Database::open(address, kOne);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::kConflict);
    EXPECT_THAT(second.error().message, HasSubstr("another process writes to schema"));
    EXPECT_TRUE(Database::open_to_read(address, 1)) << "others may look";
}

TEST_F(PostgresDatabase, OnlyASchemaWithoutAZoneIsCalledEmptyAndLookingMakesNone) {
    Address empty = address;
    empty.schema = PostgresServer::shared()->fresh_schema();
    EXPECT_EQ(Database::open_to_read(empty, 1).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(ask_lease(empty).error().code, ErrorCode::kNotFound);
    const auto connection = Connection::open(empty);
    ASSERT_TRUE(connection) << connection.error();
    const auto made = (*connection)->ask({{"SELECT 1 FROM pg_namespace WHERE nspname=$1", {empty.schema}}});
    ASSERT_TRUE(made) << made.error();
    EXPECT_EQ(rows_of(*made), 0U);

    ASSERT_TRUE(Query(*database, "ALTER TABLE schema_version RENAME COLUMN version TO other").step());
    ASSERT_TRUE(Query(*database, "CREATE TABLE lease(other bigint)").step());
    EXPECT_EQ(Database::open_to_read(address, 1).error().code, ErrorCode::kUnavailable) << "there is one, of a kind";
    EXPECT_EQ(ask_lease(address).error().code, ErrorCode::kUnavailable);
}

TEST_F(PostgresDatabase, AStatementMayBeAtWorkTwiceAtOnce) {
    for (const char* id : {"a", "b"}) ASSERT_TRUE(insert(id));
    constexpr const char* kSelect = "SELECT id FROM t ORDER BY id";
    Query outer(*database, kSelect);
    ASSERT_TRUE(*outer.step());
    {
        Query inner(*database, kSelect);
        ASSERT_TRUE(*inner.step());
        EXPECT_EQ(inner.text(0), "a");
    }
    ASSERT_TRUE(*outer.step());
    EXPECT_EQ(outer.text(0), "b");
    Query again(*database, kSelect);
    ASSERT_TRUE(*again.step());
    EXPECT_EQ(again.text(0), "a") << "a used one begins anew";
}

TEST(PostgresAddress, APasswordInTheUrlIsRefusedAndNotShown) {
    for (const char* url :
         {"postgresql://zbs:geheim@/x", "host=/nowhere password=geheim", "postgresql://zbs:geheim@/x?what=1",
          "host=/nowhere password=sehr geheim", "postgresql://zbs:geheim/x", "postgresql://zbs:geheim/1@host/x",
          "postgresql://zbs@/x?host=/nowhere&sslpassword=geheim", "postgresql://zbs@/x?password=%geheim"}) {
        const auto opened = Connection::open({url, "s", "zbs test"});
        ASSERT_FALSE(opened) << url;
        EXPECT_EQ(opened.error().code, ErrorCode::kInvalidArgument) << opened.error();
        EXPECT_THAT(opened.error().message, Not(HasSubstr("geheim")));
        EXPECT_THAT(opened.error().message, HasSubstr("'url' of [database]"));
    }
}

TEST(PostgresAddress, AServerThatIsNotThereIsNamedWithTheRemedy) {
    const auto opened = Connection::open({"postgresql://zbs@/x?host=/no/such/folder", "s", "zbs test"});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(opened.error().message, AllOf(HasSubstr("/no/such/folder"), HasSubstr("check 'url' of [database]")));
}

TEST_F(PostgresDatabase, AReplacedSettingThatWouldLoseCommitsIsPutRight) {
    const auto connection =
        Connection::open({address.url + "&options=-csynchronous_commit%3Doff", address.schema, "zbs"});
    ASSERT_TRUE(connection) << connection.error();
    const auto set = (*connection)->ask({{"SELECT current_setting('synchronous_commit')"}});
    ASSERT_TRUE(set) << set.error();
    EXPECT_EQ(text_of(*set, 0, 0), "on");
}

}  // namespace
}  // namespace zbs::postgresql
