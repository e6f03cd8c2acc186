#pragma once
#include <memory>
#include <string>

#include "algorithms/base/task_runner.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/ports/journal.hpp"
#include "services/common/ports/site_store.hpp"
#include "services/common/ports/zone_store.hpp"

namespace zbs::sqlite {

/// A zone's database: one file, one connection that writes.
struct ZoneDatabase {
    std::unique_ptr<ZoneStore> zone;
    std::unique_ptr<SiteStore> site;
    std::shared_ptr<Journal> journal;
    std::unique_ptr<AuditOutbox> outbox;  ///< in the same file: for the audit log
};

/// When what is written to a zone's stores is durable.
enum class Durability {
    kEachCall,  ///< when the call returns: one sync of the disk each (measured about 4 ms)
    kBatches,   ///< with the journal's next commit
};

/// The schema version of a zone's database, without a change to it, also while the zone runs. Errors: what is wrong
/// with it, and the remedy. O(size).
Result<std::int64_t> examine_zone_database(const std::string& path);

/// A zone's stores in one SQLite file. Many records at once are decoded by `runner`, which must outlive the stores;
/// null is serial.
Result<ZoneDatabase> open_zone_database(const std::string& path, Durability durability = Durability::kEachCall,
                                        TaskRunner* runner = nullptr);

}  // namespace zbs::sqlite
