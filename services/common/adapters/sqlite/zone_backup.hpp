#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/ports/audit.hpp"

namespace zbs::sqlite {

/// Where a zone keeps its databases, and whose they are.
struct ZoneFiles {
    std::string database;
    std::string audit;
    std::string zone;  ///< URI of the zone
};

/// What a backup holds.
struct BackupSummary {
    std::string zone;
    Time made{};
    std::uint64_t applications = 0;
    std::uint64_t parts = 0;
    AuditHead audit;
};

/// Writes database and audit log into one new SQLite file, also while the zone runs: through connections that only
/// read. The database is read first and the log, which is durable before what it allows, after it: the log in the
/// backup knows of all that the database has. `file` gets its name once it is whole, checked and on the disk; mode
/// 0600. Errors: kConflict where the file exists; kUnavailable.
Result<BackupSummary> write_backup(const ZoneFiles& from, const std::string& file, Time now);

/// Checks every page, the chain of the log, and whose it is. Errors: kUnavailable (no backup, damaged, of a newer
/// version), kConflict (the log's chain), kInvalidArgument for another zone's.
Result<BackupSummary> check_backup(const std::string& file, const std::string& zone);

struct Restored {
    BackupSummary backup;
    std::uint64_t first_token = 0;  ///< greater than any that the zone can have given
    std::string kept;               ///< what was in its place, beside it; empty where there was nothing
    bool kept_audit = false;        ///< the log in place goes on from the backup's: it stays, and knows more
};

/// Puts a backup in place of the files of a zone that is not running, and an entry into its audit log. What was there
/// is kept beside. Fencing tokens and other counters go on behind any that can have been given since the backup: from
/// the seconds since 1970 times 2^20, or from where the old database or the backup were, whichever is most. A zone that
/// gives less than 2^20 holds a second never reaches what a later restore begins with, whatever backup that takes.
/// Interrupted, it leaves a mark (`is_half_restored`), and has to be run again. Errors: as `check_backup`;
/// kUnavailable.
Result<Restored> restore_backup(const std::string& file, const ZoneFiles& to, Time now);

/// Whether a restore was interrupted: such files are nobody's state.
bool is_half_restored(const ZoneFiles& files);

/// Whether a zone's database or backup knows a step: "mpi-ID" of an application, "run-ID-pN" of a part. Errors:
/// kUnavailable.
Result<std::function<bool(const std::string& operation)>> known_steps(const std::string& database);

}  // namespace zbs::sqlite
