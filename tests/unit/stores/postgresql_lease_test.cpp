#include "services/zone_scheduler/adapters/postgresql/lease.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <thread>

#include "tests/support/messages.hpp"
#include "tests/support/postgres_fixture.hpp"

namespace zbs::postgresql {
namespace {
using namespace zbs::test;
using testing::HasSubstr;

constexpr std::chrono::seconds kDeadline{60};

/// A scheduler as far as the lease goes.
struct Contender {
    std::promise<std::int64_t> taken;
    std::promise<Error> lost;
    std::future<std::int64_t> epoch = taken.get_future();
    std::future<Error> end = lost.get_future();
    std::unique_ptr<Lease> lease;
    Contender(const Address& address, const std::string& node, Duration length = std::chrono::seconds{20})
        : Contender(address, node, length, length / 4) {}
    Contender(const Address& address, const std::string& node, Duration length, Duration renew_every,
              std::function<bool()> may_take = {}) {
        auto opened =
            Lease::open(address, {.node = node, .url = "http://" + node, .length = length, .renew_every = renew_every});
        EXPECT_TRUE(opened) << opened.error();
        lease = *std::move(opened);
        lease->start({.taken = [this](std::int64_t given) { taken.set_value(given); },
                      .lost = [this](const Error& error) { lost.set_value(error); },
                      .may_take = std::move(may_take)});
    }
    std::int64_t wait() {
        EXPECT_EQ(epoch.wait_for(kDeadline), std::future_status::ready);
        return epoch.get();
    }
};

class PostgresLease : public testing::Test {
  protected:
    void SetUp() override {
        ZBS_NEEDS_POSTGRES();
        address = {PostgresServer::shared()->url(), PostgresServer::shared()->fresh_schema(), "zbs test"};
    }
    std::unique_ptr<Database> writer(const Contender& of, std::int64_t epoch) const {
        auto opened = Database::open(address, {"CREATE TABLE t(id text PRIMARY KEY)"});
        EXPECT_TRUE(opened) << opened.error();
        (*opened)->batch();
        (*opened)->use_fence({epoch, [&of] { return of.lease->holds(); }});
        return *std::move(opened);
    }
    static Result<bool> write(Database& database, const char* id) {
        sql::Query query(database, "INSERT INTO t VALUES(?)");
        query.bind(id);
        return query.step();
    }
    static std::int64_t rows(Database& database) {
        sql::Query query(database, "SELECT count(*) FROM t");
        EXPECT_TRUE(query.step());
        return query.integer(0);
    }
    Address address;
};

TEST_F(PostgresLease, OneHasItAndTheOtherSeesWho) {
    Contender first(address, "first");
    EXPECT_EQ(first.wait(), 1);
    EXPECT_TRUE(first.lease->holds());
    const auto view = ask_lease(address);
    ASSERT_TRUE(view) << view.error();
    EXPECT_EQ(view->holder, "first");
    EXPECT_EQ(view->url, "http://first");
    EXPECT_GT(view->left, Duration{0});
    Contender second(address, "second");
    EXPECT_FALSE(second.lease->holds());
    first.lease->release();
    EXPECT_EQ(second.wait(), 2) << "well before it would have run out";
    EXPECT_FALSE(first.lease->holds());
}

TEST_F(PostgresLease, WhoCouldNotTakeOverLeavesItToOthersUntilItCan) {
    std::atomic<bool> is_fit{false};
    std::atomic<int> asked{0};
    Contender unfit(address, "unfit", std::chrono::seconds{20}, std::chrono::seconds{5}, [&] {
        ++asked;
        asked.notify_all();
        return is_fit.load();
    });
    for (int seen = 0; seen < 2; seen = asked) asked.wait(seen);
    EXPECT_TRUE(unfit.lease->is_left_to_others());
    EXPECT_EQ(ask_lease(address)->epoch, 0) << "nobody has had it";
    Contender fit(address, "fit");
    EXPECT_EQ(fit.wait(), 1);
    const auto seen = [&] { return unfit.lease->seen().holder; };
    const Duration end = boot_time() + kDeadline;
    while (seen() != "fit" || unfit.lease->is_left_to_others()) ASSERT_LT(boot_time(), end) << seen();
    is_fit = true;
    fit.lease->release();
    EXPECT_EQ(unfit.wait(), 2);
    EXPECT_FALSE(unfit.lease->is_left_to_others());
}

TEST_F(PostgresLease, ItIsTakenNowOrRefusedWithWhoHasIt) {
    Contender first(address, "first", std::chrono::seconds{8}, std::chrono::milliseconds{100});
    first.wait();
    const auto refused = Lease::take(address, {.node = "command", .url = {}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
    EXPECT_EQ(refused.error().message,
              "first at http://first works on schema '" + address.schema + "' of the database; stop it first");
    EXPECT_TRUE(first.lease->holds());
    first.lease->release();
    const auto taken = Lease::take(address, {.node = "command", .url = {}, .length = std::chrono::minutes{10}});
    ASSERT_TRUE(taken) << taken.error();
    EXPECT_EQ((*taken)->epoch(), 2);
    EXPECT_TRUE((*taken)->holds());
    const auto other = Lease::take(address, {.node = "other", .url = {}});
    ASSERT_FALSE(other) << "nobody waits ten minutes for one that may have died";
    EXPECT_THAT(other.error().message,
                testing::AllOf(HasSubstr("command works on"), HasSubstr("once its lease has run out, in ")));
    (*taken)->release();
    EXPECT_TRUE(Lease::take(address, {.node = "other", .url = {}}));
}

TEST_F(PostgresLease, OfOneThatHasDiedItIsTakenOnceItRanOut) {
    auto first = std::make_unique<Contender>(address, "first", std::chrono::seconds{1});
    first->wait();
    first.reset();
    const auto taken = Lease::take(address, {.node = "command", .url = {}});
    ASSERT_TRUE(taken) << taken.error();
    EXPECT_EQ((*taken)->epoch(), 2);
}

TEST_F(PostgresLease, NoSchedulerBeginsWhileASchemaIsMadeToGoOnFromABackup) {
    { ASSERT_TRUE(Lease::open(address, {.node = "one", .url = "http://one"})); }
    for (const bool is_good : {false, true}) {
        SCOPED_TRACE(is_good);
        std::optional<Contender> scheduler;
        const auto next = go_on_from_restored(address, Time{std::chrono::seconds{1}}, [&](const KnowsStep&) {
            scheduler.emplace(address, "scheduler");
            const Duration end = boot_time() + kDeadline;
            while (scheduler->lease->seen().holder.empty() && boot_time() < end) std::this_thread::yield();
            EXPECT_EQ(to_string(scheduler->lease->seen()), "'zbs-zone restore'");
            return is_good ? Result<void>{} : Result<void>(Error{ErrorCode::kConflict, "a step does not end", {}});
        });
        ASSERT_EQ(next.has_value(), is_good);
        if (is_good) {
            EXPECT_EQ(*next, (1 << 20) + 1);
        }
        EXPECT_GT(scheduler->wait(), 1 << 20) << "it has not given the lease back";
        scheduler->lease->release();
    }
}

TEST_F(PostgresLease, ManyThatStartAtOnceOnAnEmptyDatabaseAllGetIn) {
    for (int round = 0; round < 10; ++round) {
        address.schema = PostgresServer::shared()->fresh_schema();
        std::vector<std::future<bool>> opened;
        for (int i = 0; i < 6; ++i) {
            opened.push_back(std::async(std::launch::async, [this] {
                const auto lease = Lease::open(address, {.node = "one", .url = "http://one"});
                EXPECT_TRUE(lease) << lease.error();
                return lease.has_value();
            }));
        }
        for (std::future<bool>& one : opened) EXPECT_TRUE(one.get());
    }
}

TEST_F(PostgresLease, AnotherZoneThatStandsStillAsItBeginsKeepsNobodyUp) {
    Address other = address;
    other.schema = PostgresServer::shared()->fresh_schema();
    { ASSERT_TRUE(Lease::open(other, {.node = "one", .url = "http://one"})); }
    const auto stopped = Connection::open(other);
    ASSERT_TRUE(stopped) << stopped.error();
    ASSERT_TRUE(
        (*stopped)->run("BEGIN; SELECT pg_advisory_xact_lock(k, z) FROM (VALUES (1514296659), (1514296660)) a(k), "
                        "(SELECT 0 AS z UNION SELECT oid::integer FROM pg_namespace WHERE "
                        "nspname=current_schema()) b"));
    const auto same = Lease::open(other, {.node = "two", .url = "http://two"});
    EXPECT_FALSE(same) << "it waits for the one that makes the same";
    const auto lease = Lease::open(address, {.node = "one", .url = "http://one"});
    EXPECT_TRUE(lease) << lease.error();
}

TEST_F(PostgresLease, ItIsRenewedForAsLongAsItsHolderLives) {
    Contender first(address, "first", std::chrono::seconds{3});
    first.wait();
    Contender second(address, "second", std::chrono::seconds{3});
    EXPECT_EQ(second.epoch.wait_for(std::chrono::seconds{5}), std::future_status::timeout);
    EXPECT_TRUE(first.lease->holds());
}

TEST_F(PostgresLease, WhoEndsWithoutAWordLosesItOnceItRanOut) {
    auto first = std::make_unique<Contender>(address, "first", std::chrono::seconds{1});
    first->wait();
    Contender second(address, "second", std::chrono::seconds{1});
    first.reset();
    EXPECT_EQ(second.wait(), 2);
}

TEST_F(PostgresLease, ACommitWithoutTheLeaseKeepsNothing) {
    Contender first(address, "first");
    const auto database = writer(first, first.wait());
    ASSERT_TRUE(write(*database, "kept"));
    ASSERT_TRUE(database->commit());
    // The epoch of another, behind the back of this one's connection.
    const auto other = Connection::open(address);
    ASSERT_TRUE((*other)->run("UPDATE lease SET epoch=epoch+1"));
    ASSERT_TRUE(write(*database, "late"));
    const Result<void> late = database->commit();
    ASSERT_FALSE(late);
    EXPECT_THAT(late.error().message, HasSubstr("another zone scheduler has the lease now"));
    EXPECT_EQ(first.end.wait_for(kDeadline), std::future_status::ready) << "and the next renewal finds out";
    EXPECT_FALSE(database->is_ours());
    const auto reader = Database::open_to_read(address, 1);
    EXPECT_EQ(rows(**reader), 1);
}

TEST_F(PostgresLease, OneThatStandsStillWithinATransactionKeepsNobodyUp) {
    auto first = std::make_unique<Contender>(address, "first", std::chrono::seconds{1});
    const auto stopped = writer(*first, first->wait());
    ASSERT_TRUE(write(*stopped, "same"));
    ASSERT_TRUE(sql::Query(*stopped, "UPDATE lease SET url='held'").step()) << "the row that the next one needs";
    first->lease.reset();  // renews no more
    Contender second(address, "second");
    EXPECT_EQ(second.wait(), 2);
    const auto database = writer(second, 2);
    ASSERT_TRUE(write(*database, "same"));
    ASSERT_TRUE(database->commit());
    EXPECT_FALSE(stopped->commit());
    EXPECT_EQ(rows(*database), 1);
}

TEST_F(PostgresLease, OnlyTheWriterOfALeaseThatIsStillFreeIsEnded) {
    Contender first(address, "first");
    const auto database = writer(first, first.wait());
    const auto late = Connection::open(address);
    ASSERT_TRUE(late) << late.error();
    const auto ended = [&](std::int64_t seen) {
        const Result<int> number = end_writers(**late, seen, boot_time() + kDeadline);
        EXPECT_TRUE(number) << number.error();
        return number ? *number : -1;
    };
    EXPECT_EQ(ended(0), 0) << "free when it was looked at, and taken since";
    EXPECT_EQ(ended(1), 0);
    ASSERT_TRUE(write(*database, "kept"));
    EXPECT_TRUE(database->commit());
    first.lease->release();
    EXPECT_EQ(ended(0), 0);
    EXPECT_EQ(ended(1), 1);
    EXPECT_FALSE(write(*database, "lost"));
}

TEST_F(PostgresLease, ARenewalWaitsForACommitThatStalls) {
    Contender first(address, "first", std::chrono::seconds{60}, std::chrono::milliseconds{200});
    const std::int64_t epoch = first.wait();
    const auto stalled = Connection::open(address);
    ASSERT_TRUE(stalled) << stalled.error();
    const auto number = [&](const std::string& sql) {
        const Result<Answer> answer = (*stalled)->ask({{sql}});
        EXPECT_TRUE(answer) << answer.error();
        return answer ? integer_of(*answer, 0, 0) : -1;
    };
    ASSERT_TRUE((*stalled)->run("BEGIN; SELECT fence(" + std::to_string(epoch) + ")"));
    const Duration end = boot_time() + kDeadline;
    // Longer than others wait for a lock.
    while (number("SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING(pid) WHERE NOT granted AND "
                  "clock_timestamp() - query_start > interval '4 seconds' AND query LIKE 'UPDATE lease%'") == 0) {
        ASSERT_LT(boot_time(), end) << "no renewal waits so long";
        ASSERT_EQ(first.end.wait_for(std::chrono::milliseconds{50}), std::future_status::timeout)
            << first.end.get().message;
    }
    ASSERT_TRUE((*stalled)->run("COMMIT"));
    const std::string renewed = "SELECT (extract(epoch FROM until) * 1000000)::bigint FROM lease";
    for (const std::int64_t before = number(renewed); number(renewed) == before;) ASSERT_LT(boot_time(), end);
    EXPECT_TRUE(first.lease->holds());
}

TEST_F(PostgresLease, WithoutTheServerItEndsAtOnce) {
    Contender first(address, "first", std::chrono::seconds{2});
    first.wait();
    PostgresServer::shared()->crash_and_restart();
    ASSERT_EQ(first.end.wait_for(kDeadline), std::future_status::ready);
    EXPECT_THAT(first.end.get().message, HasSubstr("connection to PostgreSQL is lost"));
    EXPECT_FALSE(first.lease->holds());
}

}  // namespace
}  // namespace zbs::postgresql
