#include "services/common/adapters/sqlite/audit_log.hpp"

#include <algorithm>
#include <utility>

#include "services/common/adapters/sql/statements.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::sqlite {
namespace {

using sql::Query;

constexpr std::size_t kMaxPending = 64;
constexpr std::size_t kMaxPendingOfOutbox = 4'096;  ///< they are durable already

// The trigger on INSERT also stops "INSERT OR REPLACE", which deletes without firing a trigger on DELETE.
const std::vector<std::string> kAuditSchema = {
    "CREATE TABLE audit(number INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, who TEXT NOT NULL, action TEXT NOT NULL,"
    " object TEXT NOT NULL, decision TEXT NOT NULL, request_id TEXT NOT NULL, detail TEXT NOT NULL,"
    " hash TEXT NOT NULL);"
    "CREATE TRIGGER audit_only_appends BEFORE INSERT ON audit"
    " WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM audit)"
    " BEGIN SELECT RAISE(ABORT, 'the audit log is append-only: this is not its next entry'); END;"
    "CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit"
    " BEGIN SELECT RAISE(ABORT, 'the audit log is append-only: entries never change'); END;"
    "CREATE TRIGGER audit_never_forgets BEFORE DELETE ON audit"
    " BEGIN SELECT RAISE(ABORT, 'the audit log is append-only: entries never go'); END;"
    // A row once the log has its beginning, written with it: distinguishes a new log from one that was emptied.
    "CREATE TABLE audit_begun(entry INTEGER NOT NULL)"};

constexpr const char* kSelect =
    "SELECT number, at_us, who, action, object, decision, request_id, detail, hash FROM audit WHERE number >= ? "
    "ORDER BY number LIMIT ?";
constexpr std::int64_t kNoLimit = -1;

Result<void> run(Database& database, const char* sql) { return sql::run_statements(database, {sql}); }

Result<void> insert(Database& database, const AuditRecord& record) {
    return sql::insert_audit_row(database, "INSERT INTO audit VALUES(?,?,?,?,?,?,?,?,?)", record);
}

class SqliteAuditLog : public AuditLog {
  public:
    SqliteAuditLog(std::unique_ptr<Database> database, AuditHead head, sql::AuditOutbox* outbox)
        : database_(std::move(database)), outbox_(outbox), durable_(std::move(head)) {}
    ~SqliteAuditLog() override { static_cast<void>(flush()); }

    Result<void> append(const AuditEntry& entry, AuditUrgency urgency) override {
        AuditRecord record{durable_.entries + pending_.size() + 1, sql::stored_form(entry), {}};
        Result<std::string> hash =
            sql::chain_hash(pending_.empty() ? durable_.hash : pending_.back().hash, record.number, record.entry);
        if (!hash) return hash.error();
        record.hash = *std::move(hash);
        pending_.push_back(std::move(record));
        if (urgency == AuditUrgency::kWithWrites && outbox_ != nullptr) {
            // And what was kept back before it: the chain has no gaps.
            for (; in_outbox_ < pending_.size(); ++in_outbox_) {
                if (auto kept = outbox_->add(pending_[in_outbox_]); !kept) {
                    pending_.pop_back();
                    return kept;
                }
            }
            if (pending_.size() < kMaxPendingOfOutbox) return {};
        }
        if (urgency != AuditUrgency::kNow && in_outbox_ > 0 && pending_.size() < kMaxPendingOfOutbox) return {};
        if (urgency != AuditUrgency::kNow && pending_.size() < kMaxPending) return {};
        Result<void> written = flush();
        if (!written && in_outbox_ < pending_.size()) pending_.pop_back();
        return written;
    }
    bool rides_on_journal() const override { return outbox_ != nullptr; }

    Result<void> flush() override {
        if (pending_.empty()) return {};
        Result<void> written = write_pending();
        if (!written) {
            static_cast<void>(run(*database_, "ROLLBACK"));
            return Error{written.error().code,
                         "the audit log cannot be written: " + written.error().message +
                             "; check its disk, and that no other program writes to it",
                         {}};
        }
        durable_ = {pending_.back().number, pending_.back().hash};
        pending_.clear();
        // Where this fails they are forgotten later: they are known by their numbers.
        if (std::exchange(in_outbox_, 0) > 0) static_cast<void>(outbox_->forget(durable_.entries));
        if (outbox_ != nullptr) static_cast<void>(outbox_->record(durable_));
        return {};
    }

    Result<std::vector<AuditRecord>> read(std::uint64_t from, std::size_t limit) override {
        if (auto ok = flush(); !ok) return ok.error();
        Query query(*database_, kSelect);
        query.bind(static_cast<std::int64_t>(std::min<std::uint64_t>(from, INT64_MAX)));
        query.bind(static_cast<std::int64_t>(std::min(limit, limits::kMaxAuditRows)));
        return sql::rows_of(query, [](const Query& row) { return Result<AuditRecord>(sql::audit_record_of(row)); });
    }

    AuditHead head() const override { return durable_; }

  private:
    Result<void> write_pending() {
        if (auto reached = failpoint::reach(failpoint::Point::kAuditBeforeWrite); !reached) return reached;
        if (auto ok = run(*database_, "BEGIN IMMEDIATE"); !ok) return ok;
        for (const AuditRecord& record : pending_) {
            if (auto ok = insert(*database_, record); !ok) return ok;
        }
        if (auto reached = failpoint::reach(failpoint::Point::kAuditBeforeSync); !reached) return reached;
        return run(*database_, "COMMIT");
    }

    std::unique_ptr<Database> database_;
    sql::AuditOutbox* outbox_;
    AuditHead durable_;
    std::vector<AuditRecord> pending_;
    std::size_t in_outbox_ = 0;  ///< the first so many of `pending_`
};

/// Both or none: the entry, and the note that it was written.
Result<void> begin(Database& database, const AuditRecord& record) {
    if (auto ok = run(database, "BEGIN IMMEDIATE"); !ok) return ok;
    Result<void> done = insert(database, record);
    if (done) {
        Query note(database, "INSERT INTO audit_begun VALUES(?)");
        note.bind(static_cast<std::int64_t>(record.number));
        if (const Result<bool> step = note.step(); !step) done = step.error();
    }
    if (done) done = run(database, "COMMIT");
    if (!done) static_cast<void>(run(database, "ROLLBACK"));
    return done;
}

/// What waits in the outbox, into the log. `head` moves on with it.
Result<void> take_over(Database& database, AuditHead& head, sql::AuditOutbox& outbox) {
    const Result<std::vector<AuditRecord>> waiting = outbox.load();
    if (!waiting) return waiting.error();
    AuditHead next = head;
    Result<void> done = run(database, "BEGIN IMMEDIATE");
    if (!done) return done;
    for (const AuditRecord& record : *waiting) {
        if (record.number <= head.entries) continue;  // written, and then not forgotten
        Result<std::string> hash = sql::chain_hash(next.hash, next.entries + 1, record.entry);
        if (!hash) done = hash.error();
        if (done) {
            next = {next.entries + 1, *hash};
            done = insert(database, {next.entries, record.entry, next.hash});
        }
        if (!done) break;
    }
    if (done) done = run(database, "COMMIT");
    if (!done) {
        static_cast<void>(run(database, "ROLLBACK"));
        return done;
    }
    head = next;
    return waiting->empty() ? Result<void>{} : outbox.forget(waiting->back().number);
}

Error unreadable(const std::string& path, const Error& fault) {
    return {ErrorCode::kUnavailable,
            "the audit log " + path + " cannot be read: " + fault.message +
                "; restore it from a backup, or move it away to begin a new one",
            {}};
}

}  // namespace

const std::vector<std::string>& audit_schema() { return kAuditSchema; }

Result<std::unique_ptr<AuditLog>> open_audit_log(const std::string& path, const AuditBeginning& beginning,
                                                 sql::AuditOutbox* outbox) {
    Result<std::unique_ptr<Database>> database = Database::open(path, kAuditSchema);
    if (!database) return database.error();
    AuditHead head;
    {
        Query last(**database, "SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1");
        const Result<bool> row = last.step();
        if (!row) return unreadable(path, row.error());
        if (*row) head = {static_cast<std::uint64_t>(last.integer(0)), last.text(1)};
    }
    const Result<std::int64_t> begun = sql::number_of(**database, "SELECT entry FROM audit_begun");
    if (!begun) return unreadable(path, begun.error());
    if (head.entries < static_cast<std::uint64_t>(*begun)) {
        return Error{
            ErrorCode::kConflict,
            "the audit log " + path +
                " was emptied: it has lost the entry with which it began; keep it for whoever looks into that, "
                "and restore it from a backup, or move it away to begin a new one",
            {}};
    }
    if (*begun == 0) {
        const Result<AuditRecord> record = sql::beginning_record(beginning);
        if (!record) return record.error();
        if (auto ok = begin(**database, *record); !ok) return ok.error();
        head = {record->number, record->hash};
    }
    if (outbox != nullptr) {
        if (auto taken = take_over(**database, head, *outbox); !taken) return taken.error();
    }
    return std::unique_ptr<AuditLog>(std::make_unique<SqliteAuditLog>(*std::move(database), std::move(head), outbox));
}

Result<AuditSummary> verify_audit_log(const std::string& path, const std::optional<AuditHead>& expected) {
    const Result<std::unique_ptr<Database>> database = Database::open_read_only(path);
    if (!database) return database.error();
    sql::ChainCheck check(expected);
    Query query(**database, kSelect);
    query.bind(INT64_MIN).bind(kNoLimit);
    while (true) {
        const Result<bool> row = query.step();
        if (!row) return unreadable(path, row.error());
        if (!*row) return check.finish();
        if (auto ok = check.step(sql::audit_record_of(query)); !ok) return ok.error();
    }
}

}  // namespace zbs::sqlite
