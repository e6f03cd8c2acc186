#pragma once
#include <memory>

#include "services/common/adapters/files/file_depot.hpp"
#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/process/step_executor.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/zone_backup.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "services/common/ports/audit.hpp"
#include "services/common/ports/log.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

/// What a running zone has on this host: its state folder, locked against a second one, and who starts its jobs.
struct Storage {
    std::unique_ptr<process::FolderLock> lock;
    std::unique_ptr<Log> log;
    std::unique_ptr<TaskRunner> runner;  ///< for the database
    sqlite::ZoneDatabase database;
    std::unique_ptr<AuditLog> audit;
    std::unique_ptr<process::StepExecutor> executor;
    std::unique_ptr<FileDepot> depot;
};

sqlite::ServiceFiles zone_files(const ZoneSettings& settings, const StateFolder& state);
Result<std::unique_ptr<process::StepExecutor>> open_executor(const ZoneSettings& settings, const StateFolder& state);

/// Makes the state folder where it is missing. Errors: another zone runs on it; a file that cannot be used; no way to
/// start jobs as the settings ask.
Result<Storage> open_storage(const ZoneSettings& settings, const StateFolder& state);

}  // namespace zbs::zone_program
