#include "services/common/adapters/sql/zone_copy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <set>
#include <utility>

#include "services/common/adapters/sql/statements.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "services/zone_scheduler/adapters/postgresql/zone_move.hpp"
#include "services/zone_scheduler/adapters/postgresql/zone_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/postgres_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::sql {
namespace {
using namespace zbs::test;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr auto kDeadline = std::chrono::seconds{60};
const char* const kWho = "spiffe://org-a/zone/a";

Application copied_application(std::uint64_t low) {
    Application made = some_application();
    made.request.id = {some_id(low)};
    return made;
}

/// Another database, with something done before it is read for the first time.
class InterruptedSource : public Database {
  public:
    InterruptedSource(Database& inner, std::function<void()> before) : inner_(inner), before_(std::move(before)) {}
    ~InterruptedSource() override { forget_statements(); }
    Result<void> together(const std::function<Result<void>()>& writes) override { return inner_.together(writes); }
    bool is_dirty() const override { return inner_.is_dirty(); }
    bool is_ours() const override { return inner_.is_ours(); }
    Result<void> commit() override { return inner_.commit(); }

  protected:
    std::unique_ptr<Statement> prepare(std::string_view sql) override {
        if (const auto before = std::exchange(before_, nullptr)) before();
        return std::make_unique<Passed>(inner_, sql);
    }

  private:
    class Passed : public Statement {
      public:
        Passed(Database& database, std::string_view sql) : query_(database, sql) {}
        void bind(std::string_view text) override { query_.bind(text); }
        void bind(std::int64_t number) override { query_.bind(number); }
        Result<bool> step() override { return query_.step(); }
        std::string text(int column) const override { return query_.text(column); }
        std::int64_t integer(int column) const override { return query_.integer(column); }
        bool reset() override { return false; }

      private:
        Query query_;
    };
    Database& inner_;
    std::function<void()> before_;
};

/// What is in a table, as text: its columns, and its rows in any order.
struct Contents {
    std::set<std::string> columns;
    std::multiset<std::vector<std::string>> rows;
    bool operator==(const Contents&) const = default;
};

std::vector<std::string> texts_of(Database& database, const std::string& sql, int columns = 1) {
    std::vector<std::string> texts;
    Query query(database, sql);
    for (;;) {
        const Result<bool> row = query.step();
        EXPECT_TRUE(row) << sql << ": " << row.error();
        if (!row || !*row) return texts;
        for (int i = 0; i < columns; ++i) texts.push_back(query.text(i));
    }
}

Contents contents_of(Database& database, const std::string& table, const std::string& columns_sql) {
    Contents all;
    std::string listed;
    for (const std::string& column : texts_of(database, columns_sql)) all.columns.insert(column);
    for (const std::string& column : all.columns) listed += (listed.empty() ? "\"" : ", \"") + column + "\"";
    Query query(database, "SELECT " + listed + " FROM " + table);
    for (;;) {
        const Result<bool> row = query.step();
        EXPECT_TRUE(row) << table << ": " << row.error();
        if (!row || !*row) return all;
        std::vector<std::string> values;
        for (std::size_t i = 0; i < all.columns.size(); ++i) values.push_back(query.text(static_cast<int>(i)));
        all.rows.insert(std::move(values));
    }
}
Contents in_file(Database& file, const std::string& table) {
    return contents_of(file, table, "SELECT name FROM pragma_table_info('" + table + "')");
}
Contents in_schema(Database& server, const std::string& table) {
    return contents_of(server, table,
                       "SELECT column_name FROM information_schema.columns WHERE table_schema=current_schema() AND "
                       "table_name='" +
                           table + "'");
}

/// A row whose values name their column; text is a JSON value, as some columns want.
void add_row(Database& file, const std::string& table) {
    static std::int64_t number = 1'000;
    std::string columns, values;
    const auto described = texts_of(file, "SELECT name, type FROM pragma_table_info('" + table + "')", 2);
    for (std::size_t i = 0; i < described.size(); i += 2) {
        columns += (i == 0 ? "" : ",") + described[i];
        values += (i == 0 ? "" : ",") +
                  (described[i + 1] == "TEXT" ? "'\"" + table + "." + described[i] + "\"'" : std::to_string(++number));
    }
    Query insert(file, "INSERT INTO " + table + "(" + columns + ") VALUES(" + values + ")");
    const Result<bool> done = insert.step();
    EXPECT_TRUE(done) << table << ": " << done.error();
}

/// Whether one of the rows would show that any of its columns was forgotten, or taken for another.
bool tells_columns_apart(const Contents& table) {
    return std::ranges::any_of(table.rows, [](const std::vector<std::string>& row) {
        std::set<std::string> distinct(row.begin(), row.end());
        return distinct.size() == row.size() && !distinct.contains("") && !distinct.contains("0");
    });
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
    /// `meanwhile` is called when half of it is done.
    Result<std::vector<CopiedTable>> move(const std::string& node = "mover", std::function<void()> meanwhile = {}) {
        const auto zone = sqlite::Database::open_read_only(zone_file);
        const auto audit = sqlite::Database::open_read_only(audit_file);
        EXPECT_TRUE(zone && audit);
        InterruptedSource source(**audit, std::move(meanwhile));
        return postgresql::take_in_zone(
            address, **zone, source,
            {.folder_id = "folder-1",
             .lease = {.node = node, .url = {}, .length = 10s, .renew_every = std::chrono::milliseconds{100}}});
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

TEST_F(ZoneCopy, TakesEveryColumnOfEveryTable) {
    const std::string of_files =
        "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%' AND name<>'audit_outbox'";
    {
        const auto zone = sqlite::Database::open(zone_file, sqlite::zone_schema());
        ASSERT_TRUE(zone) << zone.error();
        for (const std::string& table : texts_of(**zone, of_files)) add_row(**zone, table);
        const auto log = sqlite::open_audit_log(audit_file, {kWho, {}});
        ASSERT_TRUE(log) << log.error();
        ASSERT_TRUE((*log)->append({.at = time_from_microseconds(77),
                                    .who = "who",
                                    .action = "action",
                                    .object = "object",
                                    .decision = "decision",
                                    .request_id = "request",
                                    .detail = "detail"},
                                   AuditUrgency::kNow));
    }
    const auto copied = move();
    ASSERT_TRUE(copied) << copied.error();
    const auto server = postgresql::Database::open(address, postgresql::zone_schema());
    ASSERT_TRUE(server) << server.error();
    std::size_t tables = 0;
    for (const std::string& file : {zone_file, audit_file}) {
        const auto from = sqlite::Database::open_read_only(file);
        ASSERT_TRUE(from) << from.error();
        for (const std::string& table : texts_of(**from, of_files)) {
            const Contents there = in_file(**from, table), here = in_schema(**server, table);
            EXPECT_TRUE(tells_columns_apart(there)) << table << ": give each of its columns a value above";
            EXPECT_EQ(here.columns, there.columns) << table;
            EXPECT_EQ(here.rows, there.rows) << table;
            ++tables;
        }
    }
    EXPECT_EQ(tables, copied->size() + 1) << "of the audit log's two tables one is listed";
}

TEST_F(ZoneCopy, MeanwhileNoSchedulerBeginsAndNoOtherMove) {
    std::promise<std::int64_t> taken;
    std::future<std::int64_t> epoch = taken.get_future();
    std::unique_ptr<postgresql::Lease> scheduler;
    const auto copied = move("first mover", [&] {
        const auto second = move("second mover");
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().code, ErrorCode::kConflict);
        EXPECT_EQ(second.error().message,
                  "first mover works on schema '" + address.schema + "' of the database; stop it first");
        auto opened = postgresql::Lease::open(address, {.node = "scheduler", .url = "http://scheduler"});
        ASSERT_TRUE(opened) << opened.error();
        scheduler = *std::move(opened);
        scheduler->start({.taken = [&](std::int64_t given) { taken.set_value(given); },
                          .lost = [](const Error& error) { ADD_FAILURE() << error; }});
        const auto end = postgresql::boot_time() + kDeadline;
        while (scheduler->seen().holder.empty()) ASSERT_LT(postgresql::boot_time(), end);
        EXPECT_EQ(scheduler->seen().holder, "first mover");
    });
    ASSERT_TRUE(copied) << copied.error();
    ASSERT_EQ(epoch.wait_for(kDeadline), std::future_status::ready) << "the move has not given the lease back";
    EXPECT_EQ(epoch.get(), 2);
    EXPECT_EQ(*postgresql::state_folder_of(address), "folder-1");
}

TEST_F(ZoneCopy, ASchemaWhoseSchedulerIsActiveIsLeftAsItIs) {
    const auto active = postgresql::Lease::take(address, {.node = "one", .url = "http://one", .length = 600s});
    ASSERT_TRUE(active) << active.error();
    const auto copied = move();
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code, ErrorCode::kConflict);
    EXPECT_THAT(copied.error().message, HasSubstr("one at http://one works on schema"));
    EXPECT_EQ(postgresql::state_folder_of(address).error().code, ErrorCode::kNotFound);
}

TEST_F(ZoneCopy, ASchemaThatGoesWithAnotherStateFolderIsLeftAsItIs) {
    {
        const auto opened = postgresql::open_zone_database(address, Durability::kEachCall);
        ASSERT_TRUE(opened) << opened.error();
        ASSERT_TRUE(postgresql::claim_state_folder(*opened->database, "folder-2"));
    }
    const auto copied = move();
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code, ErrorCode::kConflict);
    EXPECT_THAT(copied.error().message,
                testing::AllOf(HasSubstr("goes with a state folder already"), HasSubstr("another 'schema'")));
    const auto server = postgresql::Database::open(address, postgresql::zone_schema());
    ASSERT_TRUE(server) << server.error();
    EXPECT_EQ(texts_of(**server, "SELECT id FROM state_folder"), std::vector<std::string>{"folder-2"});
    EXPECT_EQ(*number_of(**server, "SELECT count(*) FROM application"), 0);
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
