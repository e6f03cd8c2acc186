#pragma once
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "services/common/adapters/sql/database.hpp"

namespace zbs::sql {

/// Runs a statement that gives no rows.
inline Result<void> carry_out(Query& query) {
    const Result<bool> step = query.step();
    if (!step) return step.error();
    return {};
}

/// Calls `each(query)` at each row until one fails.
template <class Each>
Result<void> for_each_row(Query& query, const Each& each) {
    for (;;) {
        const Result<bool> row = query.step();
        if (!row) return row.error();
        if (!*row) return {};
        if (Result<void> done = each(query); !done) return done;
    }
}

/// What `decode(query)`, a Result, makes of each row, in their order.
template <class Decode>
auto rows_of(Query& query, const Decode& decode) {
    using Row = std::remove_cvref_t<decltype(*decode(query))>;
    std::vector<Row> all;
    const Result<void> read = for_each_row(query, [&](const Query& row) -> Result<void> {
        Result<Row> made = decode(row);
        if (!made) return made.error();
        all.push_back(*std::move(made));
        return {};
    });
    return read ? Result<std::vector<Row>>(std::move(all)) : Result<std::vector<Row>>(read.error());
}

/// One after the other; those before the first that fails stay done.
inline Result<void> run_statements(Database& database, const std::vector<std::string>& statements) {
    for (const std::string& sql : statements) {
        Query query(database, sql);
        if (auto done = carry_out(query); !done) return done;
    }
    return {};
}

/// The first column of the first row; 0 where there is no row.
inline Result<std::int64_t> number_of(Database& database, const std::string& sql) {
    Query query(database, sql);
    const Result<bool> row = query.step();
    if (!row) return row.error();
    return *row ? query.integer(0) : 0;
}

}  // namespace zbs::sql
