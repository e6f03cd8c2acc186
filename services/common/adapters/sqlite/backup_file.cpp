#include "services/common/adapters/sqlite/backup_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "services/common/adapters/sql/audit_chain.hpp"
#include "services/common/adapters/sql/statements.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/database.hpp"

namespace zbs::sqlite {
namespace {

using BackupQuery = Database::Query;

constexpr std::int64_t kBackupFormat = 1;

Error unusable(const std::string& file, const std::string& why) {
    return {ErrorCode::kUnavailable, "backup " + file + " cannot be used: " + why + "; take another one", {}};
}

Error cannot(const std::string& what, const std::string& path) {
    return {ErrorCode::kUnavailable, "cannot " + what + " " + path + ": " + std::strerror(errno), {}};
}

/// What is in the file or folder is on the disk when this returns.
Result<void> sync_path(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return cannot("open", path);
    const bool good = fsync(fd) == 0;
    const int fault = errno;
    ::close(fd);
    errno = fault;
    return good ? Result<void>{} : cannot("sync", path);
}

/// For ATTACH: read only, whatever characters the path has.
std::string read_only_uri(const std::string& path) {
    std::string uri = "file:";
    for (const char c : path) {
        if (c == '%')
            uri += "%25";
        else if (c == '?')
            uri += "%3f";
        else if (c == '#')
            uri += "%23";
        else
            uri += c;
    }
    return uri + "?mode=ro";
}

std::string folder_of(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

/// A file that is being made; removed with what SQLite lays beside it, unless it was kept.
class Draft {
  public:
    explicit Draft(std::string path) : path_(std::move(path)) {}
    ~Draft() {
        for (const char* end : {"", "-journal", "-wal", "-shm"}) ::unlink((path_ + end).c_str());
    }
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;

    Result<void> make() const {
        for (const char* end : {"", "-journal", "-wal", "-shm"}) ::unlink((path_ + end).c_str());
        const int fd = ::open(path_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0) return cannot("make", path_);
        ::close(fd);
        return {};
    }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

/// The content of `from`, as it is at one moment, in the new file `to`.
Result<void> copy_database(const std::string& from, const std::string& to) {
    const Result<std::unique_ptr<Database>> source = Database::open_read_only(from);
    if (!source) return source.error();
    BackupQuery copy(**source, "VACUUM INTO ?");
    copy.bind(to);
    if (const Result<bool> step = copy.step(); !step)
        return Error{ErrorCode::kUnavailable, from + " cannot be copied: " + step.error().message, {}};
    return {};
}

/// The tables of another database's log into this one.
Result<void> take_log_over(Database& into, const std::string& from) {
    {
        BackupQuery attach(into, "ATTACH ? AS log");
        attach.bind(read_only_uri(from));
        if (const Result<bool> step = attach.step(); !step)
            return Error{ErrorCode::kUnavailable, from + " cannot be read: " + step.error().message, {}};
    }
    return run_statements(into,
                          {"BEGIN",
                           "CREATE TABLE audit(number INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, who TEXT NOT NULL, "
                           "action TEXT NOT NULL, object TEXT NOT NULL, decision TEXT NOT NULL, request_id TEXT NOT "
                           "NULL, detail TEXT NOT NULL, hash TEXT NOT NULL)",
                           "INSERT INTO audit SELECT * FROM log.audit ORDER BY number",
                           "CREATE TABLE audit_begun AS SELECT entry FROM log.audit_begun", "COMMIT", "DETACH log"});
}

Result<void> sign_backup(Database& database, const std::string& who, Time now) {
    // The column is called zone because zones were the first to have backups.
    if (auto made =
            run_statements(database, {"CREATE TABLE backup(format INTEGER NOT NULL, zone TEXT NOT NULL, made_us "
                                      "INTEGER NOT NULL)"});
        !made)
        return made;
    BackupQuery row(database, "INSERT INTO backup VALUES(?,?,?)");
    row.bind(kBackupFormat).bind(who).bind(to_microseconds(now));
    if (const Result<bool> step = row.step(); !step) return step.error();
    return {};
}

/// Into the log in place what the database in place still had for it; as far as the two can be read.
void take_waiting(const ServiceFiles& files, Time now) {
    if (::access(files.database.c_str(), R_OK) != 0 || ::access(files.audit.c_str(), R_OK) != 0) return;
    Result<std::unique_ptr<Database>> old = Database::open_read_only(files.database);
    if (!old) return;
    sql::AuditOutbox outbox(*std::move(old));
    if (const auto waiting = outbox.load(); !waiting || waiting->empty()) return;
    // This outbox is read-only and cannot drop its entries, and need not: the database is put aside next.
    static_cast<void>(open_audit_log(files.audit, {files.who, now}, &outbox));
}

std::string mark_of(const ServiceFiles& files) { return files.database + ".restoring"; }

/// A database and what SQLite has beside it, under another name.
Result<void> move_database(const std::string& from, const std::string& to) {
    for (const char* end : {"", "-wal", "-shm"}) {
        if (::rename((from + end).c_str(), (to + end).c_str()) != 0 && errno != ENOENT)
            return cannot("move", from + end);
    }
    return {};
}

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// The service's own tables of a backup, in a new file.
Result<std::unique_ptr<Database>> make_database(const std::string& file, const std::string& draft) {
    if (auto copied = copy_database(file, draft); !copied) return copied.error();
    Result<std::unique_ptr<Database>> opened = Database::open_scratch(draft);
    if (!opened) return opened.error();
    if (auto dropped = run_statements(**opened, {"DROP TABLE audit", "DROP TABLE audit_begun", "DROP TABLE backup"});
        !dropped)
        return dropped.error();
    return opened;
}

Result<void> make_log(const std::string& file, const std::string& draft) {
    const Result<std::unique_ptr<Database>> opened = Database::open(draft, audit_schema());
    if (!opened) return opened.error();
    {
        BackupQuery attach(**opened, "ATTACH ? AS saved");
        attach.bind(read_only_uri(file));
        if (const Result<bool> step = attach.step(); !step) return step.error();
    }
    return run_statements(**opened, {"BEGIN", "INSERT INTO audit SELECT * FROM saved.audit ORDER BY number",
                                     "INSERT INTO audit_begun SELECT entry FROM saved.audit_begun", "COMMIT",
                                     "DETACH saved", "PRAGMA wal_checkpoint(TRUNCATE)"});
}

}  // namespace

std::string to_string(const BackupSummary& backup) {
    std::string text;
    for (const BackupSummary::Count& count : backup.content)
        text += std::to_string(count.rows) + " " + count.what + ", ";
    return text + "audit log up to " + to_string(backup.audit);
}

Result<BackupSummary> write_backup(const BackupKind& kind, const ServiceFiles& from, const std::string& file,
                                   Time now) {
    const Error taken{ErrorCode::kConflict, file + " exists; nothing was changed, name another file", {}};
    if (is_there(file)) return taken;
    if (is_half_restored(from)) return half_restored(kind);
    for (const std::string& path : {from.database, from.audit})
        if (!is_there(path)) return Error{ErrorCode::kNotFound, "this " + kind.service + " has no database yet", path};
    const Draft draft(file + ".part");
    if (auto made = draft.make(); !made) return made.error();
    if (auto copied = copy_database(from.database, draft.path()); !copied) return copied.error();
    {
        const Result<std::unique_ptr<Database>> opened = Database::open_scratch(draft.path());
        if (!opened) return opened.error();
        if (auto taken_over = take_log_over(**opened, from.audit); !taken_over) return taken_over.error();
        if (auto signed_ = sign_backup(**opened, from.who, now); !signed_) return signed_.error();
    }
    Result<BackupSummary> checked = check_backup(kind, draft.path(), from.who);
    if (!checked) return checked.error();
    if (auto synced = sync_path(draft.path()); !synced) return synced.error();
    // A second name and not a new one: it replaces nothing.
    if (::link(draft.path().c_str(), file.c_str()) != 0) return errno == EEXIST ? taken : cannot("name", file);
    if (auto synced = sync_path(folder_of(file)); !synced) return synced.error();
    return checked;
}

Result<BackupSummary> check_backup(const BackupKind& kind, const std::string& file, const std::string& who) {
    const Result<std::unique_ptr<Database>> opened = Database::open_read_only(file);
    if (!opened) return opened.error();
    Database& database = **opened;
    {
        BackupQuery check(database, "PRAGMA integrity_check(1)");
        const Result<bool> row = check.step();
        if (!row || !*row || check.text(0) != "ok")
            return unusable(file, "it is damaged (" + (row ? check.text(0) : row.error().message) + ")");
    }
    BackupSummary summary;
    {
        BackupQuery query(database, "SELECT format, zone, made_us FROM backup");
        const Result<bool> row = query.step();
        if (!row || !*row) return unusable(file, "it is none that '" + kind.program + " backup' has made");
        if (query.integer(0) != kBackupFormat) return unusable(file, "a newer program has made it");
        summary.who = query.text(1);
        summary.made = time_from_microseconds(query.integer(2));
        if (summary.who != who)
            return invalid("this is a backup of " + summary.who + ", and this " + kind.service + " is " + who, file);
    }
    const Result<std::int64_t> version = number_of(database, "PRAGMA user_version");
    if (!version) return version.error();
    if (*version > static_cast<std::int64_t>(kind.schema.size())) {
        return Error{ErrorCode::kUnavailable,
                     "backup " + file + " has schema version " + std::to_string(*version) + ", this program knows " +
                         std::to_string(kind.schema.size()) + "; restore it with the newer program",
                     {}};
    }
    for (const BackupKind::Count& count : kind.content) {
        const Result<std::int64_t> rows = number_of(database, count.sql);
        if (!rows) return rows.error();
        summary.content.push_back({count.what, static_cast<std::uint64_t>(*rows)});
    }
    const Result<AuditSummary> log = verify_audit_log(file);
    if (!log) return log.error();
    summary.audit = log->head;
    return summary;
}

Result<RestoredFiles> restore_backup(const BackupKind& kind, const std::string& file, const ServiceFiles& to, Time now,
                                     const MakeSafe& make_safe) {
    Result<BackupSummary> backup = check_backup(kind, file, to.who);
    if (!backup) return backup.error();
    RestoredFiles restored;
    restored.backup = *backup;
    const Draft database(to.database + ".new"), log(to.audit + ".new");
    if (auto made = database.make(); !made) return made.error();
    Result<std::unique_ptr<Database>> tables = make_database(file, database.path());
    if (!tables) return tables.error();
    if (kind.has_outbox) take_waiting(to, now);
    // What the log in place knows of the time since the backup happened, though its effects are gone.
    restored.kept_audit = is_there(to.audit) && verify_audit_log(to.audit, backup->audit).has_value();
    const Result<std::string> safe =
        make_safe(**tables, {backup->audit, restored.kept_audit ? to.audit : std::string{}});
    tables->reset();
    if (!safe) return safe.error();
    if (auto synced = sync_path(database.path()); !synced) return synced.error();
    if (!restored.kept_audit) {
        if (auto made = log.make(); !made) return made.error();
        if (auto made = make_log(file, log.path()); !made) return made.error();
        if (auto synced = sync_path(log.path()); !synced) return synced.error();
    }

    // From here to the end of the mark nobody may start on these files.
    const std::string mark = mark_of(to);
    const int fd = ::open(mark.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) return cannot("make", mark);
    ::close(fd);
    if (auto synced = sync_path(folder_of(to.database)); !synced) return synced.error();
    const std::string before = ".before-restore-" + std::to_string(to_microseconds(now) / 1'000'000);
    if (is_there(to.database)) {
        restored.kept = to.database + before;
        if (auto moved = move_database(to.database, restored.kept); !moved) return moved.error();
    }
    if (auto moved = move_database(database.path(), to.database); !moved) return moved.error();
    if (!restored.kept_audit) {
        if (auto moved = move_database(to.audit, to.audit + before); !moved) return moved.error();
        if (auto moved = move_database(log.path(), to.audit); !moved) return moved.error();
    }
    if (auto synced = sync_path(folder_of(to.database)); !synced) return synced.error();
    if (kind.has_outbox) take_waiting(to, now);  // of the backup: before an entry of today takes their numbers
    Result<std::unique_ptr<AuditLog>> audit = open_audit_log(to.audit, {to.who, now});
    if (!audit) return audit.error();
    const AuditEntry entry{.at = now,
                           .who = to.who,
                           .action = "restoreBackup",
                           .object = file,
                           .decision = "allow",
                           .request_id = {},
                           .detail = "made at " + std::to_string(to_microseconds(backup->made) / 1'000'000) +
                                     " s with audit entry " + std::to_string(backup->audit.entries) + " as its last; " +
                                     *safe};
    if (auto kept = (*audit)->append(entry, AuditUrgency::kNow); !kept) return kept.error();
    if (::unlink(mark.c_str()) != 0) return cannot("remove", mark);
    if (auto synced = sync_path(folder_of(to.database)); !synced) return synced.error();
    return restored;
}

bool is_half_restored(const ServiceFiles& files) { return is_there(mark_of(files)); }

Error half_restored(const BackupKind& kind) {
    return {ErrorCode::kConflict, "a restore was interrupted; run '" + kind.program + " restore FILE' again first", {}};
}

namespace {

/// False for a database that cannot be read: opening it reports the reason.
bool has_lost_rows(const BackupKind& kind, const std::string& path) {
    const Result<std::unique_ptr<Database>> opened = Database::open_read_only(path);
    if (!opened) return false;
    const Result<std::int64_t> rows = number_of(**opened, kind.rows_of_every_database);
    return rows && *rows == 0;
}

}  // namespace

Result<void> check_database_kept(const BackupKind& kind, const ServiceFiles& files,
                                 const std::vector<std::string>& others) {
    std::error_code fault;
    const auto has_content = [&fault](const std::string& path) {
        return std::filesystem::exists(path, fault) && !std::filesystem::is_empty(path, fault) && !fault;
    };
    std::vector<std::string> traces = others;
    traces.insert(traces.begin(), files.audit);
    std::string beside;
    for (const std::string& path : traces)
        if (has_content(path)) beside += (beside.empty() ? "" : " and ") + path;
    if (beside.empty()) return {};
    std::string what;
    if (!std::filesystem::exists(files.database, fault))
        what = "missing";
    else if (!has_content(files.database))
        what = "empty";
    else if (const auto version = Database::examine(files.database, kind.schema); version && *version == 0)
        what = "empty";  // a database without a schema
    else if (version && has_lost_rows(kind, files.database))
        what = "empty (it has tables, but not the rows of one in use)";
    if (what.empty()) return {};
    return Error{ErrorCode::kConflict,
                 "the database is " + what + ", but this " + kind.service + " has run before (see " + beside +
                     "): it would start without its state; restore a backup with '" + kind.program +
                     " restore FILE', or start with a new, empty state folder",
                 files.database};
}

std::string to_string(const RestoredFiles& restored, std::string_view more) {
    std::string text = "restored " + to_string(restored.backup) + "\nthe audit log " +
                       (restored.kept_audit ? "in place goes on from there and stays" : "is the backup's") + "\n" +
                       std::string(more);
    if (!restored.kept.empty()) text += "what was there before is " + restored.kept + "\n";
    return text;
}

}  // namespace zbs::sqlite
