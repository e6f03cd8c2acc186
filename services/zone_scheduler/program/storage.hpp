#pragma once
#include <memory>

#include "services/common/adapters/files/file_depot.hpp"
#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/process/step_executor.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/storage/audit.hpp"
#include "services/zone_scheduler/adapters/postgresql/lease.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

/// What a running zone has on this host: its state folder, locked against a second one, and who starts its jobs.
struct Storage {
    std::unique_ptr<process::FolderLock> lock;  ///< none where a lease takes its place
    std::unique_ptr<TaskRunner> runner;         ///< for the database
    sql::ZoneDatabase database;
    std::unique_ptr<AuditLog> audit;
    std::unique_ptr<process::StepExecutor> executor;
    std::unique_ptr<FileDepot> depot;
    std::int64_t turn = 0;  ///< of the lease; 0: there is none
};

sqlite::ServiceFiles zone_files(const ZoneSettings& settings, const StateFolder& state);
Result<std::unique_ptr<process::StepExecutor>> open_executor(const ZoneSettings& settings, const StateFolder& state);

/// Makes it where it is missing, for this user.
void make_state_folder(const ZoneSettings& settings, const StateFolder& state);

/// Errors: another zone runs on the state folder; a file that cannot be used; no way to start jobs as the settings ask.
Result<Storage> open_storage(const ZoneSettings& settings, const StateFolder& state, Log& log);

/// The right to write to a database that others reach, too; `lease` has to outlive the storage.
struct WriteLease {
    const postgresql::Lease& lease;
    std::int64_t epoch;
};
/// The same with the database in PostgreSQL. Errors also: a state folder that is not the one of this database.
Result<Storage> open_shared_storage(const ZoneSettings& settings, const StateFolder& state, Log& log,
                                    const WriteLease& write_lease);

/// What the state folder is known by to a database elsewhere; made where it is missing, and from then on no zone starts
/// on a database in the folder.
Result<std::string> folder_id(const StateFolder& state);

/// kConflict where the state folder has a database in a file, too.
Result<void> check_no_own_database(const StateFolder& state);

/// Where the settings say that the database is; they have one.
postgresql::Address database_address(const ZoneSettings& settings);

}  // namespace zbs::zone_program
