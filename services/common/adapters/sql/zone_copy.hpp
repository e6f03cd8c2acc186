#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "services/common/adapters/sql/database.hpp"

namespace zbs::sql {

/// Rows of one table that were copied.
struct CopiedTable {
    std::string table;
    std::int64_t rows = 0;
    bool operator==(const CopiedTable&) const = default;
};

/// All that a zone's database holds, from one adapter's tables into another's that are empty, as after their making;
/// within `to.together`, so that all of it is there or nothing. Afterwards rows are counted on both sides. Both have
/// the tables of this program's version. Errors: kConflict for a table that is not empty, or counts that differ; the
/// database's, with the table. O(rows), one at a time.
Result<std::vector<CopiedTable>> copy_zone_tables(Database& from, Database& to);

/// The same for an audit log: its entries in their order, as they are, and what says that it has begun.
Result<CopiedTable> copy_audit_tables(Database& from, Database& to);

}  // namespace zbs::sql
