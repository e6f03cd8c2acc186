#pragma once
#include <gtest/gtest.h>

#include "services/zone_scheduler/adapters/postgresql/zone_store.hpp"
#include "tests/support/postgres_server.hpp"

/// At the top of a test that needs a real PostgreSQL.
#define ZBS_NEEDS_POSTGRES()                            \
    if (zbs::test::PostgresServer::shared() == nullptr) \
    GTEST_SKIP() << "no PostgreSQL here: install Debian's package postgresql"

namespace zbs::test {

/// A schema of its own in the real PostgreSQL.
struct InPostgres {
    postgresql::Address address = [] {
        PostgresServer* const server = PostgresServer::shared();
        return server == nullptr ? postgresql::Address{}
                                 : postgresql::Address{server->url(), server->fresh_schema(), "zbs test"};
    }();
    postgresql::ZoneDatabase database = open();
    postgresql::ZoneDatabase open(sql::Durability durability = sql::Durability::kEachCall) const {
        if (address.url.empty()) return {};
        auto opened = postgresql::open_zone_database(address, durability);
        EXPECT_TRUE(opened) << opened.error();
        return *std::move(opened);
    }
    void reopen(sql::Durability durability = sql::Durability::kEachCall) {
        database = {};
        database = open(durability);
    }
};

}  // namespace zbs::test
