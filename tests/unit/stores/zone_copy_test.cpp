#include "services/common/adapters/sql/zone_copy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "services/common/adapters/postgresql/zone_move.hpp"
#include "services/common/adapters/postgresql/zone_store.hpp"
#include "services/common/adapters/sql/statements.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/postgres_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::sql {
namespace {
using namespace zbs::test;
using testing::HasSubstr;

const char* const kWho = "spiffe://org-a/zone/a";

Application copied_application(std::uint64_t low) {
    Application made = some_application();
    made.request.id = {some_id(low)};
    return made;
}

/// A zone in files, and a schema that is to take it in.
class ZoneCopy : public testing::Test {
  protected:
    void SetUp() override {
        ZBS_NEEDS_POSTGRES();
        address = {PostgresServer::shared()->url(), PostgresServer::shared()->fresh_schema(), "zbs test"};
        auto made = sqlite::open_zone_database(zone_file);
        ASSERT_TRUE(made) << made.error();
        for (const std::uint64_t low : {1, 2, 3}) ASSERT_TRUE(made->zone->insert(copied_application(low)));
        ASSERT_TRUE(made->zone->next_token());
        auto log = sqlite::open_audit_log(audit_file, {kWho, {}});
        ASSERT_TRUE(log) << log.error();
        for (int i = 0; i < 3; ++i) ASSERT_TRUE((*log)->append({.action = "createUser"}, AuditUrgency::kNow));
    }
    Result<std::vector<CopiedTable>> move() {
        const auto zone = sqlite::Database::open_read_only(zone_file);
        const auto audit = sqlite::Database::open_read_only(audit_file);
        EXPECT_TRUE(zone && audit);
        return postgresql::take_in_zone(address, **zone, **audit, "folder-1");
    }
    TemporaryFolder folder;
    std::string zone_file = folder.path("zone.db"), audit_file = folder.path("audit.db");
    postgresql::Address address;
};

TEST_F(ZoneCopy, TheZoneIsInPostgresqlAsItWas) {
    const auto copied = move();
    ASSERT_TRUE(copied) << copied.error();
    const auto opened = postgresql::open_zone_database(address, Durability::kEachCall);
    ASSERT_TRUE(opened) << opened.error();
    const auto before = sqlite::open_zone_database(zone_file);
    ASSERT_TRUE(before) << before.error();
    EXPECT_EQ(*opened->stores.zone->load_open_applications(), *before->zone->load_open_applications());
    EXPECT_EQ(opened->stores.zone->load_open_applications()->size(), 3U);
    EXPECT_EQ(*opened->stores.zone->next_token(), *before->zone->next_token()) << "tokens go on";
    const auto was = sqlite::verify_audit_log(audit_file);
    const auto is = postgresql::verify_audit_log(address);
    ASSERT_TRUE(was) << was.error();
    ASSERT_TRUE(is) << is.error();
    EXPECT_EQ(is->head, was->head);
    EXPECT_EQ(*postgresql::state_folder_of(address), "folder-1");
}

TEST_F(ZoneCopy, KnowsEveryTable) {
    const auto copied = move();
    ASSERT_TRUE(copied) << copied.error();
    std::set<std::string> tables = {"audit_outbox"};  // written into the log before a move
    for (const CopiedTable& one : *copied)
        if (one.table != "audit") tables.insert(one.table);
    std::set<std::string> known;
    const auto zone = sqlite::Database::open_read_only(zone_file);
    ASSERT_TRUE(zone);
    Query names(**zone, "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'");
    for (;;) {
        const auto row = names.step();
        ASSERT_TRUE(row) << row.error();
        if (!*row) break;
        known.insert(names.text(0));
    }
    EXPECT_EQ(tables, known);
}

TEST_F(ZoneCopy, ASchemaThatHoldsAZoneIsLeftAsItIs) {
    {
        const auto opened = postgresql::open_zone_database(address, Durability::kEachCall);
        ASSERT_TRUE(opened) << opened.error();
        ASSERT_TRUE(opened->stores.zone->insert(copied_application(9)));
    }
    const auto copied = move();
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code, ErrorCode::kConflict);
    EXPECT_THAT(copied.error().message,
                testing::AllOf(HasSubstr("table 'application'"), HasSubstr("another 'schema'")));
    const auto opened = postgresql::open_zone_database(address, Durability::kEachCall);
    ASSERT_TRUE(opened) << opened.error();
    EXPECT_EQ(*opened->stores.zone->load_open_applications(), std::vector{copied_application(9)});
    EXPECT_EQ(*postgresql::state_folder_of(address), "");
}

TEST_F(ZoneCopy, WhereTheAuditLogCannotBeTakenInNothingOfTheZoneIs) {
    {
        const auto opened = postgresql::open_zone_database(address, Durability::kEachCall);
        ASSERT_TRUE(opened) << opened.error();
        ASSERT_TRUE(postgresql::open_audit_log(opened->database, {kWho, {}}));
    }
    const auto copied = move();
    ASSERT_FALSE(copied);
    EXPECT_THAT(copied.error().message, HasSubstr("table 'audit'"));
    const auto opened = postgresql::open_zone_database(address, Durability::kEachCall);
    ASSERT_TRUE(opened) << opened.error();
    EXPECT_TRUE(opened->stores.zone->load_open_applications()->empty());
}

}  // namespace
}  // namespace zbs::sql
