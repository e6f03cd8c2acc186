#include "services/common/adapters/sqlite/zone_store.hpp"

#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/zone_schema.hpp"

namespace zbs::sqlite {

Result<std::int64_t> examine_zone_database(const std::string& path) { return Database::examine(path, zone_schema()); }

Result<ZoneDatabase> open_zone_database(const std::string& path, Durability durability, TaskRunner* runner) {
    Result<std::unique_ptr<Database>> opened =
        Database::open(path, zone_schema(), " ('zbs-zone restore FILE --config CONFIG')");
    if (!opened) return opened.error();
    const std::shared_ptr<Database> database = *std::move(opened);
    if (durability == Durability::kBatches) database->batch();
    return sql::make_zone_database(database, runner);
}

}  // namespace zbs::sqlite
