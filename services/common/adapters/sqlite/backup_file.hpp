#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/ports/storage/audit.hpp"

// Backups of a service's database and audit log, in one file: what is the same for every service.

namespace zbs::sqlite {

class Database;

/// Where a service keeps its databases, and whose they are.
struct ServiceFiles {
    std::string database;
    std::string audit;
    std::string who;  ///< URI of the service
};

/// What one kind of service has of its own.
struct BackupKind {
    struct Count {
        std::string what;  ///< in the plural: "applications"
        std::string sql;   ///< gives their number
    };
    std::string service;              ///< as messages call it: "zone"
    std::string program;              ///< that makes and restores backups: "zbs-zone"
    std::vector<std::string> schema;  ///< steps of its database
    std::vector<Count> content;       ///< what a summary counts
    /// Gives 0 for a database with the schema alone: one that lost its rows, since making it leaves some.
    std::string rows_of_every_database;
    bool has_outbox = false;  ///< records wait for the log in the database
};

/// What a backup holds.
struct BackupSummary {
    struct Count {
        std::string what;
        std::uint64_t rows = 0;
    };
    std::string who;
    Time made{};
    std::vector<Count> content;
    AuditHead audit;
};

/// "5 applications, 2 parts, audit log up to ENTRIES:HASH".
std::string to_string(const BackupSummary& backup);

/// Writes database and audit log into one new SQLite file, also while the service runs: through connections that only
/// read. The database is read first and the log, which is durable before what it allows, after it: the log in the
/// backup knows of all that the database has. `file` gets its name once it is whole, checked and on the disk; mode
/// 0600. Errors: kConflict where the file exists; kUnavailable.
Result<BackupSummary> write_backup(const BackupKind& kind, const ServiceFiles& from, const std::string& file, Time now);

/// Checks every page, the chain of the log, and whose it is. Errors: kUnavailable (no backup, damaged, of a newer
/// version), kConflict (the log's chain), kInvalidArgument for that of another service.
Result<BackupSummary> check_backup(const BackupKind& kind, const std::string& file, const std::string& who);

/// What became of the files.
struct RestoredFiles {
    BackupSummary backup;
    std::string kept;         ///< what was in its place, beside it; empty where there was nothing
    bool kept_audit = false;  ///< the log in place goes on from the backup's: it stays, and knows more
};

/// What is known of the time since the backup was made.
struct SinceBackup {
    AuditHead backup;  ///< end of the log in the backup
    std::string log;   ///< the log in place, which goes on from there; empty where none does
};

/// Changes the database of a backup so that a service can go on from it. Gives words for the audit log.
using MakeSafe = std::function<Result<std::string>(Database& database, const SinceBackup& since)>;

/// Puts a backup in place of the files of a service that is not running, and an entry into its audit log. What was
/// there is kept beside. Interrupted, it leaves a mark (`is_half_restored`), and has to be run again. Errors: as
/// `check_backup`; those of `make_safe`; kUnavailable.
Result<RestoredFiles> restore_backup(const BackupKind& kind, const std::string& file, const ServiceFiles& to, Time now,
                                     const MakeSafe& make_safe);

/// Whether a restore was interrupted: such files are nobody's state.
bool is_half_restored(const ServiceFiles& files);
/// What a service says that finds it so. kConflict.
Error half_restored(const BackupKind& kind);

/// kConflict where the service has run before (its audit log or one of `others`, paths below the state folder, is
/// there) and its database is missing, empty or without the rows that each has: it would start without its state.
/// Changes nothing.
Result<void> check_database_kept(const BackupKind& kind, const ServiceFiles& files,
                                 const std::vector<std::string>& others);

/// "restored ...", what became of the log, and where the old files are; lines, each ended.
std::string to_string(const RestoredFiles& restored, std::string_view more = {});

}  // namespace zbs::sqlite
