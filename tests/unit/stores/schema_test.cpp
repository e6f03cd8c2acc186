#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "services/zone_scheduler/adapters/postgresql/zone_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/postgres_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::test {
namespace {

/// "table.column" of all that a query tells.
std::set<std::string> columns(sql::Database& database, std::string_view sql) {
    std::set<std::string> all;
    sql::Query query(database, sql);
    for (;;) {
        const Result<bool> row = query.step();
        EXPECT_TRUE(row) << row.error();
        if (!row || !*row) return all;
        all.insert(query.text(0) + "." + query.text(1));
    }
}

/// A step of one that the other has not got shows here, before a store misses the column.
TEST(ZoneSchemas, BothDatabasesHaveTheSameColumns) {
    ZBS_NEEDS_POSTGRES();
    const TemporaryFolder folder;
    const auto file = sqlite::Database::open(folder.path("zone.db"), sqlite::zone_schema());
    ASSERT_TRUE(file) << file.error();
    const auto in_file = columns(**file,
                                 "SELECT t.name, c.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c WHERE "
                                 "t.type='table'");
    const auto server = postgresql::Database::open(
        {PostgresServer::shared()->url(), PostgresServer::shared()->fresh_schema(), "zbs test"},
        postgresql::zone_schema());
    ASSERT_TRUE(server) << server.error();
    const auto in_server = columns(**server,
                                   "SELECT table_name, column_name FROM information_schema.columns WHERE "
                                   "table_schema=current_schema() AND table_name NOT IN ('schema_version', "
                                   "'state_folder', 'audit', 'audit_begun')");
    EXPECT_GT(in_file.size(), 40U);
    EXPECT_EQ(in_server, in_file);
}

}  // namespace
}  // namespace zbs::test
