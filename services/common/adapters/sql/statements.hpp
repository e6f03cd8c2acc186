#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "services/common/adapters/sql/database.hpp"

namespace zbs::sql {

/// One after the other; those before the first that fails stay done.
inline Result<void> run_statements(Database& database, const std::vector<std::string>& statements) {
    for (const std::string& sql : statements) {
        if (const Result<bool> step = Query(database, sql).step(); !step) return step.error();
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
