#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "algorithms/base/task_runner.hpp"
#include "services/common/adapters/sql/zone_store.hpp"
#include "services/common/adapters/sqlite/backup_file.hpp"
#include "services/common/messages/names/name_types.hpp"

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

/// Backups of zones: `write_backup` and `check_backup` take this.
const BackupKind& zone_backups();

struct RestoredZone {
    RestoredFiles files;
    std::uint64_t first_token = 0;  ///< greater than any that the zone can have given
};

/// `restore_backup` of a zone. Fencing tokens and other counters go on behind any that can have been given since the
/// backup: from the seconds since 1970 times 2^20, or from where the old database or the backup were, whichever is
/// most. A zone that gives less than 2^20 holds a second never reaches what a later restore begins with, whatever
/// backup that takes. Errors: as `restore_backup`.
Result<RestoredZone> restore_zone(const std::string& file, const ServiceFiles& to, Time now);

/// Whether a zone's database or backup knows a step: "mpi-ID" of an application, "run-ID-pN" of a part. Errors:
/// kUnavailable.
Result<std::function<bool(const StepId& step)>> known_steps(const std::string& database);

}  // namespace zbs::sqlite
