#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "services/common/adapters/postgresql/zone_schema.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/zone_schema.hpp"
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

/// Of files tests/unit/sqlite keeps each version's text.
TEST(ZoneSchemas, ApplicationsInPostgresqlFromBeforeHaveTheirPlaceInLists) {
    ZBS_NEEDS_POSTGRES();
    const postgresql::Address address{PostgresServer::shared()->url(), PostgresServer::shared()->fresh_schema(),
                                      "zbs test"};
    const std::vector<std::string> second(postgresql::zone_schema().begin(), postgresql::zone_schema().begin() + 2);
    {
        const auto before = postgresql::Database::open(address, second);
        ASSERT_TRUE(before) << before.error();
        for (const std::uint64_t low : {1, 2}) {
            sql::Query row(**before,
                           "INSERT INTO application(id, owner, open, ended_us, ranks, program, outline, status, name, "
                           "state) VALUES(?, 'spiffe://alpha/user/ana', 0, 9, 2, './a', ?, '{}', '', 'failed')");
            row.bind(to_string(some_id(low)));
            row.bind(R"({"state":"failed","reason":"","zones":[],"submitted_us":)" + std::to_string(9 - low) + "}");
            ASSERT_TRUE(row.step());
        }
    }
    const auto opened = postgresql::open_zone_database(address, sql::Durability::kEachCall);
    ASSERT_TRUE(opened) << opened.error();
    const auto rows = opened->stores.zone->list_applications({});
    ASSERT_TRUE(rows) << rows.error();
    ASSERT_EQ(rows->size(), 2U);
    EXPECT_EQ(place_of(rows->front()), (ApplicationPlace{time_from_microseconds(8), {some_id(1)}}));
    EXPECT_EQ(place_of(rows->back()), (ApplicationPlace{time_from_microseconds(7), {some_id(2)}}));
}

}  // namespace
}  // namespace zbs::test
