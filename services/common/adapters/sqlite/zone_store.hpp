#pragma once
#include <string>
#include <vector>

#include "algorithms/base/task_runner.hpp"
#include "services/common/adapters/sql/zone_store.hpp"

namespace zbs::sqlite {

using sql::Durability;
using sql::ZoneDatabase;

/// The schema version of a zone's database, without a change to it, also while the zone runs. Errors: what is wrong
/// with it, and the remedy. O(size).
Result<std::int64_t> examine_zone_database(const std::string& path);

/// A zone's stores in one SQLite file. Many records at once are decoded by `runner`, which must outlive the stores;
/// null is serial.
Result<ZoneDatabase> open_zone_database(const std::string& path, Durability durability = Durability::kEachCall,
                                        TaskRunner* runner = nullptr);

/// The steps that make a zone's database, oldest first; the n-th lifts it to version n. Append only.
const std::vector<std::string>& zone_schema();

}  // namespace zbs::sqlite
