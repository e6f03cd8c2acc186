// What a page of the list of applications costs, from the plans of both databases.
#include "services/common/adapters/sql/application_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "services/zone_scheduler/adapters/postgresql/zone_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/postgres_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// With and without an owner, states, a beginning and an end.
std::vector<ApplicationQuery> queries() {
    std::vector<ApplicationQuery> all;
    for (int bits = 0; bits < 16; ++bits) {
        ApplicationQuery query;
        if ((bits & 1) != 0) query.owner = some_user();
        if ((bits & 2) != 0) query.states = {ApplicationState::kRunning, ApplicationState::kFailed};
        if ((bits & 4) != 0) query.since = time_from_microseconds(1'000);
        if ((bits & 8) != 0) query.after = ApplicationPlace{time_from_microseconds(4'000), {some_id(1)}};
        all.push_back(std::move(query));
    }
    return all;
}

std::string plan_in(sql::Query& query, int column) {
    std::string plan;
    for (;;) {
        const Result<bool> row = query.step();
        EXPECT_TRUE(row) << row.error();
        if (!row || !*row) return plan;
        plan += query.text(column) + "\n";
    }
}

std::string plan_of(sql::Database& database, const std::string& explain, const ApplicationQuery& wanted, int column) {
    sql::Query query(database, explain + sql::application_list_sql(wanted));
    sql::bind_application_list(query, wanted);
    return plan_in(query, column);
}

TEST(ApplicationList, SqliteReadsThePageFromOneIndexInItsOrder) {
    const TemporaryFolder folder;
    const auto file = sqlite::Database::open(folder.path("zone.db"), sqlite::zone_schema());
    ASSERT_TRUE(file) << file.error();
    for (const ApplicationQuery& query : queries()) {
        const std::string plan = plan_of(**file, "EXPLAIN QUERY PLAN ", query, 3);
        const std::string index = query.owner
                                      ? query.states.empty() ? "application_by_owner" : "application_by_owner_and_state"
                                  : query.states.empty() ? "application_by_time"
                                                         : "application_by_state";
        const bool is_bound = query.owner || query.since || query.after || !query.states.empty();
        const std::string how = is_bound ? "SEARCH application USING INDEX " : "SCAN application USING INDEX ";
        EXPECT_THAT(plan, HasSubstr(how + index + (is_bound ? " (" : "")));
        EXPECT_EQ(plan.find("TEMP B-TREE") != std::string::npos, !query.states.empty())
            << "pages of states alone are sorted: " << plan;
        EXPECT_EQ(plan.find("submitted_us>?") != std::string::npos, query.since.has_value()) << plan;
        EXPECT_EQ(plan.find("(submitted_us,id)<(?,?)") != std::string::npos, query.after.has_value()) << plan;
    }
}

TEST(ApplicationList, SqliteCountsWhatIsOpenAndWhatHasEndedLatelyWithoutReadingTheRest) {
    const TemporaryFolder folder;
    const auto file = sqlite::Database::open(folder.path("zone.db"), sqlite::zone_schema());
    ASSERT_TRUE(file) << file.error();
    for (const bool of_one_owner : {false, true}) {
        sql::Query query(**file, "EXPLAIN QUERY PLAN " + sql::application_count_sql(of_one_owner));
        const std::string plan = plan_in(query, 3);
        EXPECT_THAT(plan, HasSubstr("SCAN application USING INDEX application_open"));
        EXPECT_THAT(plan, HasSubstr("SEARCH application USING INDEX application_ended (ended_us>?)"));
        EXPECT_THAT(plan, Not(HasSubstr("application_by_")));
    }
}

TEST(ApplicationList, PostgresqlReadsThePageFromOneIndexInItsOrder) {
    ZBS_NEEDS_POSTGRES();
    const auto server = postgresql::Database::open(
        {PostgresServer::shared()->url(), PostgresServer::shared()->fresh_schema(), "zbs test"},
        postgresql::zone_schema());
    ASSERT_TRUE(server) << server.error();
    // So many, of two owners in two states, that no other way would be cheaper.
    const std::string rows =
        "INSERT INTO application(id, owner, open, ended_us, ranks, program, outline, status, name, state, "
        "submitted_us) "
        "SELECT lpad(i::text, 26, '0'), CASE WHEN i % 2 = 0 THEN '" +
        to_uri(some_user()) +
        "' ELSE 'other' END, 0, i, 1, 'a', '{}', '{}', '', CASE WHEN i % 3 = 0 THEN 'running' ELSE 'failed' END, i "
        "FROM generate_series(1, 20000) AS i";
    ASSERT_TRUE(sql::Query(**server, rows).step());
    ASSERT_TRUE(sql::Query(**server, "ANALYZE application").step());
    // Which of the indexes suits best is for the server to say: it knows how many each owner and state has.
    for (const ApplicationQuery& query : queries()) {
        const std::string plan = plan_of(**server, "EXPLAIN ", query, 0);
        EXPECT_THAT(plan, HasSubstr("Index Scan Backward using application_by_"));
        EXPECT_THAT(plan, Not(HasSubstr("Sort  ("))) << plan;
        EXPECT_THAT(plan, Not(HasSubstr("Seq Scan")));
    }
}

}  // namespace
}  // namespace zbs::test
