#pragma once
#include <memory>
#include <string>
#include <vector>

#include "algorithms/base/task_runner.hpp"
#include "services/common/adapters/sql/audit_chain.hpp"
#include "services/common/adapters/sql/zone_store.hpp"
#include "services/zone_scheduler/adapters/postgresql/database.hpp"

namespace zbs::postgresql {

/// A zone's stores and its audit log in one schema of a PostgreSQL database.
struct ZoneDatabase {
    sql::ZoneDatabase stores;
    std::shared_ptr<Database> database;
};

/// Errors: those of `Database::open`. Many records at once are decoded by `runner`, which must outlive the stores; null
/// is serial.
Result<ZoneDatabase> open_zone_database(const Address& address, sql::Durability durability,
                                        TaskRunner* runner = nullptr);

/// AuditLog in the zone's own schema: its records are durable with the commit of what they allow. Triggers refuse every
/// change but appending; the chain finds who went behind their back. Errors: as of the log in SQLite.
Result<std::unique_ptr<AuditLog>> open_audit_log(std::shared_ptr<Database> database,
                                                 const sql::AuditBeginning& beginning);

/// As of the log in SQLite, for the schema at `address`; also while the zone runs.
Result<AuditSummary> verify_audit_log(const Address& address, const std::optional<AuditHead>& expected = std::nullopt);

/// The schema version of a zone's database, without a change to it. Errors: what is wrong with it, and the remedy.
Result<std::int64_t> examine_zone_database(const Address& address);

/// For a schema that was put back from a backup, before its zone starts: fencing tokens and other counters go on behind
/// any that can have been given since, and nobody has the lease. First of all, while nobody else can write to it or
/// take the lease (for 10 min at most), `look` receives a predicate for the steps ("mpi-ID" of an application,
/// "run-ID-pN" of a part) that the schema knows; nothing but the lease is changed where it fails. Not for one in use:
/// kConflict. The next token.
using KnowsStep = std::function<bool(const StepId& step)>;
Result<std::int64_t> go_on_from_restored(const Address& address, Time now,
                                         const std::function<Result<void>(const KnowsStep&)>& look);

/// The id of the state folder that goes with a database, without a change to it; empty where it has none yet. Errors:
/// as `examine_zone_database`.
Result<std::string> state_folder_of(const Address& address);

/// Whether a state folder is the one that goes with this database: the first that asks is it. kConflict where not.
Result<void> claim_state_folder(Database& database, const std::string& id);

/// The steps that make a zone's schema, oldest first; the n-th lifts it to version n. Append only.
const std::vector<std::string>& zone_schema();

/// Makes the table of the lease, which has to be there before anything else.
extern const char* const kLeaseSchema;

}  // namespace zbs::postgresql
