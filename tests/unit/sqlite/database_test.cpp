#include "services/common/adapters/sqlite/database.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "services/common/adapters/sqlite/zone_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::sqlite {
namespace {
using namespace zbs::test;
using testing::HasSubstr;

const std::vector<std::string> kOne = {"CREATE TABLE t(id TEXT PRIMARY KEY, n INTEGER NOT NULL)"};
const std::vector<std::string> kTwo = {kOne[0], "ALTER TABLE t ADD COLUMN m INTEGER NOT NULL DEFAULT 7"};

TEST(Database, LiftsAnOlderSchemaAndKeepsTheRows) {
    const TemporaryFolder folder;
    {
        const auto database = Database::open(folder.path("d"), kOne);
        ASSERT_TRUE(database) << database.error();
        Database::Query insert(**database, "INSERT INTO t VALUES(?,?)");
        insert.bind("a").bind(std::int64_t{3});
        ASSERT_FALSE(*insert.step());
    }
    const auto database = Database::open(folder.path("d"), kTwo);
    ASSERT_TRUE(database) << database.error();
    Database::Query query(**database, "SELECT id, n, m FROM t");
    ASSERT_TRUE(*query.step());
    EXPECT_EQ(query.text(0), "a");
    EXPECT_EQ(query.integer(1), 3);
    EXPECT_EQ(query.integer(2), 7);
}

/// SQLite takes a batch back by itself where the disk is full; "ROLLBACK" stands for that.
TEST(Database, NothingIsWrittenBehindABatchThatIsLost) {
    const TemporaryFolder folder;
    {
        const auto database = Database::open(folder.path("d"), kOne);
        ASSERT_TRUE(database) << database.error();
        (*database)->batch();
        ASSERT_TRUE(Database::Query(**database, "INSERT INTO t VALUES('first', 1)").step());
        ASSERT_TRUE(Database::Query(**database, "ROLLBACK").step());
        EXPECT_FALSE(Database::Query(**database, "INSERT INTO t VALUES('second', 2)").step());
        EXPECT_TRUE((*database)->is_dirty());
        EXPECT_FALSE((*database)->commit());
    }
    const auto database = Database::open(folder.path("d"), kOne);
    Database::Query query(**database, "SELECT id FROM t");
    EXPECT_FALSE(*query.step()) << query.text(0);
}

TEST(Database, RefusesASchemaFromTheFuture) {
    const TemporaryFolder folder;
    ASSERT_TRUE(Database::open(folder.path("d"), kTwo));
    const auto older = Database::open(folder.path("d"), kOne);
    ASSERT_FALSE(older);
    EXPECT_EQ(older.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(older.error().message,
                testing::AllOf(HasSubstr("schema version 2"), HasSubstr("newer program"), HasSubstr(folder.path("d"))));
    EXPECT_TRUE(Database::open(folder.path("d"), kTwo)) << "and has changed nothing";
}

TEST(Database, AFailedLiftChangesNothing) {
    const TemporaryFolder folder;
    ASSERT_TRUE(Database::open(folder.path("d"), kOne));
    EXPECT_FALSE(Database::open(folder.path("d"), {kOne[0], "CREATE TABLE u(x); THIS IS NO SQL"}));
    EXPECT_TRUE(Database::open(folder.path("d"), kTwo));
}

TEST(Database, ABrokenConstraintIsAConflict) {
    const TemporaryFolder folder;
    const auto database = Database::open(folder.path("d"), kOne);
    for (const bool first : {true, false}) {
        Database::Query insert(**database, "INSERT INTO t VALUES('a', 1)");
        const Result<bool> step = insert.step();
        EXPECT_EQ(step.has_value(), first);
        EXPECT_TRUE(step || step.error().code == ErrorCode::kConflict);
    }
    Database::Query wrong(**database, "SELECT nothing FROM nowhere");
    EXPECT_FALSE(wrong.step());
}

TEST(Database, WritesTogetherAreAllDoneOrNone) {
    for (const bool batches : {false, true}) {
        const TemporaryFolder folder;
        const auto database = Database::open(folder.path("d"), kOne);
        if (batches) (*database)->batch();
        const auto insert = [&](const char* id) -> Result<void> {
            Database::Query query(**database, "INSERT INTO t VALUES(?, 1)");
            query.bind(id);
            if (const Result<bool> step = query.step(); !step) return step.error();
            return {};
        };
        ASSERT_TRUE(insert("a"));
        const auto both = [&](const char* first, const char* second) {
            return (*database)->together([&] {
                Result<void> done = insert(first);
                return done ? insert(second) : done;
            });
        };
        EXPECT_EQ(both("b", "a").error().code, ErrorCode::kConflict);
        EXPECT_TRUE(both("c", "d"));
        ASSERT_TRUE((*database)->commit());
        Database::Query left(**database, "SELECT group_concat(id, '') FROM t");
        ASSERT_TRUE(*left.step());
        EXPECT_EQ(left.text(0), "acd");
    }
}

TEST(Database, AStatementMayBeAtWorkTwiceAtOnce) {
    const TemporaryFolder folder;
    const auto database = Database::open(folder.path("d"), kOne);
    for (const char* id : {"a", "b"}) {
        Database::Query insert(**database, "INSERT INTO t VALUES(?, 1)");
        insert.bind(id);
        ASSERT_FALSE(*insert.step());
    }
    constexpr const char* kSelect = "SELECT id FROM t ORDER BY id";
    Database::Query outer(**database, kSelect);
    ASSERT_TRUE(*outer.step());
    {
        Database::Query inner(**database, kSelect);
        ASSERT_TRUE(*inner.step());
        EXPECT_EQ(inner.text(0), "a");
    }
    ASSERT_TRUE(*outer.step());
    EXPECT_EQ(outer.text(0), "b");
    Database::Query again(**database, kSelect);
    ASSERT_TRUE(*again.step());
    EXPECT_EQ(again.text(0), "a") << "a used one begins anew";
}

TEST(Database, AMissingFolderIsNamed) {
    const TemporaryFolder folder;
    const auto database = Database::open(folder.path("no/such/d"), kOne);
    ASSERT_FALSE(database);
    EXPECT_THAT(database.error().message,
                testing::AllOf(HasSubstr(folder.path("no/such/d")), HasSubstr("check that the folder exists")));
}

TEST(ZoneStoreOnDisk, AFileThatIsNoDatabaseIsRefusedWithAdvice) {
    const TemporaryFolder folder;
    std::ofstream(folder.path("zone.db")) << std::string(8192, 'x');
    const auto store = open_zone_database(folder.path("zone.db"));
    ASSERT_FALSE(store);
    EXPECT_THAT(store.error().message,
                testing::AllOf(HasSubstr(folder.path("zone.db")), HasSubstr("restore it from a backup")));
}

TEST(ZoneStoreOnDisk, ADamagedFileIsRefusedWithAdvice) {
    const TemporaryFolder folder;
    const std::string path = folder.path("zone.db");
    {
        const auto store = open_zone_database(path);
        Application application = some_application();
        for (std::uint64_t i = 0; i < 30; ++i) {
            application.request.id = {some_id(i)};
            ASSERT_TRUE(store->zone->insert(application));
        }
    }
    // Everything behind the first page: header and schema are whole, the tables are not.
    const auto size = std::filesystem::file_size(path);
    ASSERT_GT(size, 12'288U);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(static_cast<std::size_t>(size) - 4096, '\x5a');
    file.close();
    const auto store = open_zone_database(path);
    ASSERT_FALSE(store);
    EXPECT_THAT(store.error().message, testing::AllOf(HasSubstr("damaged"), HasSubstr("restore it from a backup"),
                                                      HasSubstr("zbs-zone restore FILE --config")));
}

TEST(ZoneStoreOnDisk, AFileWithoutOneOfItsTablesIsRefusedWithAdvice) {
    const TemporaryFolder folder;
    const std::string path = folder.path("zone.db");
    ASSERT_TRUE(open_zone_database(path));
    EXPECT_TRUE(examine_zone_database(path));
    {
        const auto database = Database::open(path, zone_schema());
        ASSERT_TRUE(database) << database.error();
        Database::Query drop(**database, "DROP TABLE record");
        ASSERT_FALSE(*drop.step());
    }
    const auto store = open_zone_database(path);
    ASSERT_FALSE(store);
    EXPECT_THAT(store.error().message,
                testing::AllOf(HasSubstr("zone.db is damaged (it has lost its table 'record')"),
                               HasSubstr("restore it from a backup"), HasSubstr("zbs-zone restore FILE --config")));
    EXPECT_THAT(examine_zone_database(path).error().message, HasSubstr("lost its table 'record'"));
}

TEST(ZoneStoreOnDisk, ATornTailOfTheLogLosesOnlyWhatWasNotDone) {
    const TemporaryFolder folder;
    const TemporaryFolder crashed;
    const auto store = open_zone_database(folder.path("zone.db"));
    ASSERT_TRUE(store->zone->insert(some_application()));
    // What the disk would hold had the machine stopped here: the log has not been folded into the file yet.
    for (const char* name : {"zone.db", "zone.db-wal"}) std::filesystem::copy(folder.path(name), crashed.path(name));
    std::ofstream(crashed.path("zone.db-wal"), std::ios::app | std::ios::binary) << std::string(1000, '\x11');
    const auto recovered = open_zone_database(crashed.path("zone.db"));
    ASSERT_TRUE(recovered) << recovered.error();
    EXPECT_EQ(*recovered->zone->load_open_applications(), std::vector{some_application()});
}

TEST(ZoneStoreOnDisk, ARecordThatCannotBeReadIsAFaultNotSilence) {
    const TemporaryFolder folder;
    const std::string path = folder.path("zone.db");
    ASSERT_TRUE(open_zone_database(path)->zone->save(some_peer()));
    {
        const auto database = Database::open(path, zone_schema());
        ASSERT_TRUE(database) << database.error();
        Database::Query update(**database, "UPDATE peer SET record='{\"zone\":1}'");
        ASSERT_TRUE(update.step());
    }
    const auto peers = open_zone_database(path)->zone->load_peers();
    ASSERT_FALSE(peers);
    EXPECT_THAT(peers.error().message, HasSubstr("peer that this version cannot read"));
}

TEST(ZoneStoreInBatches, WritesAreSeenAtOnceAndDurableTogetherWithTheCommit) {
    const TemporaryFolder folder;
    const auto store = open_zone_database(folder.path("zone.db"), Durability::kBatches);
    const auto stored = [&] {  // as after a power cut: by whoever opens what the disk has
        const TemporaryFolder crashed;
        for (const char* name : {"zone.db", "zone.db-wal"})
            std::filesystem::copy(folder.path(name), crashed.path(name));
        return open_zone_database(crashed.path("zone.db"))->zone->load_open_applications()->size();
    };
    EXPECT_FALSE(store->journal->is_dirty());
    Application application = some_application();
    for (std::uint64_t i = 0; i < 3; ++i) {
        application.request.id = {some_id(i)};
        ASSERT_TRUE(store->zone->insert(application));
    }
    EXPECT_EQ(store->zone->load_open_applications()->size(), 3u);
    EXPECT_TRUE(store->journal->is_dirty());
    EXPECT_EQ(stored(), 0u);
    ASSERT_TRUE(store->journal->commit());
    EXPECT_FALSE(store->journal->is_dirty());
    EXPECT_EQ(stored(), 3u);
}

TEST(ZoneStoreInBatches, RefusedWriteLeavesTheOthersOfItsBatch) {
    const TemporaryFolder folder;
    {
        const auto store = open_zone_database(folder.path("zone.db"), Durability::kBatches);
        ASSERT_TRUE(store->zone->insert(some_application()));
        EXPECT_EQ(store->zone->insert(some_application()).error().code, ErrorCode::kConflict);
        ASSERT_TRUE(store->journal->commit());
    }
    EXPECT_EQ(open_zone_database(folder.path("zone.db"))->zone->load_open_applications()->size(), 1u);
}

TEST(ZoneStoreInBatches, WhatWasNotCommittedIsGoneAfterTheEnd) {
    const TemporaryFolder folder;
    ASSERT_TRUE(open_zone_database(folder.path("zone.db"), Durability::kBatches)->zone->insert(some_application()));
    EXPECT_TRUE(open_zone_database(folder.path("zone.db"))->zone->load_open_applications()->empty());
}

/// The pieces from behind, as a pool of threads may carry them out.
class BackwardRunner final : public TaskRunner {
  public:
    int width() const override { return 2; }
    void run(int count, const std::function<void(int)>& work) override {
        pieces += count;
        for (int i = count; i > 0; --i) work(i - 1);
    }
    int pieces = 0;
};

TEST(ZoneDatabase, ManyRecordsAreDecodedInPiecesAndStayInOrder) {
    const TemporaryFolder folder;
    BackwardRunner runner;
    const auto database = open_zone_database(folder.path("zone.db"), Durability::kBatches, &runner);
    ASSERT_TRUE(database) << database.error();
    Application application = some_application();  // a small one, because there are many
    application.request.model.reset();
    application.status = {.state = ApplicationState::kRunning, .history = application.status.history};
    std::vector<ApplicationId> ids;
    for (std::uint64_t n = 1; n <= 2'500; ++n) {
        application.request.id = {some_id(n)};
        ids.push_back(application.request.id);
        ASSERT_TRUE(database->zone->insert(application));
    }
    const auto all = database->zone->load_open_applications();
    ASSERT_TRUE(all) << all.error();
    std::sort(ids.begin(), ids.end());
    std::vector<ApplicationId> read;
    for (const Application& one : *all) read.push_back(one.request.id);
    EXPECT_EQ(read, ids);
    EXPECT_EQ(runner.pieces, 3);
}

}  // namespace
}  // namespace zbs::sqlite
