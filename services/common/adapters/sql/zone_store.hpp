#pragma once
#include <functional>
#include <memory>

#include "algorithms/base/task_runner.hpp"
#include "services/common/adapters/sql/audit_chain.hpp"
#include "services/common/adapters/sql/database.hpp"
#include "services/common/ports/storage/journal.hpp"
#include "services/common/ports/storage/site_store.hpp"
#include "services/common/ports/storage/zone_store.hpp"

namespace zbs::sql {

/// A zone's database: one connection that writes.
struct ZoneDatabase {
    std::unique_ptr<ZoneStore> zone;
    std::unique_ptr<SiteStore> site;
    std::shared_ptr<Journal> journal;
    std::unique_ptr<AuditOutbox> outbox;  ///< for an audit log that lies elsewhere
};

/// When what is written to a zone's stores is durable.
enum class Durability {
    kEachCall,  ///< when the call returns: one sync of the disk each (measured about 4 ms)
    kBatches,   ///< with the journal's next commit
};

/// A zone's stores over a database that has its tables. Many records at once are decoded by `runner`, which must
/// outlive the stores; null is serial.
ZoneDatabase make_zone_database(const std::shared_ptr<Database>& database, TaskRunner* runner = nullptr);

/// Whether a step is of an application or part in `database`, as it is now; the answer outlives it.
Result<std::function<bool(const StepId& step)>> known_steps(Database& database);

}  // namespace zbs::sql
