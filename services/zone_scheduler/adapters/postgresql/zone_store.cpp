#include "services/zone_scheduler/adapters/postgresql/zone_store.hpp"

#include <algorithm>
#include <utility>

#include "services/common/adapters/sql/statements.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::postgresql {
namespace {

using sql::Query;

constexpr std::size_t kMaxPending = 64;
constexpr std::int64_t kRowsAtOnce = 1'000;
constexpr std::string_view kSelectEntries =
    "SELECT number, at_us, who, action, object, decision, request_id, detail, hash FROM audit WHERE number>=? ORDER BY "
    "number LIMIT ?";

Result<std::string> known_folder(Database& database) {
    Query query(database, "SELECT id FROM state_folder");
    const Result<bool> row = query.step();
    if (!row) return row.error();
    return *row ? query.text(0) : std::string{};
}

/// The next token.
Result<std::int64_t> raise_counters(Database& database, std::int64_t least,
                                    const std::function<Result<void>(const KnowsStep&)>& look) {
    const Result<KnowsStep> knows = sql::known_steps(database);
    if (!knows) return knows.error();
    if (auto looked = look(*knows); !looked) return looked.error();
    Query raise(database, "UPDATE counter SET value=? WHERE value<? AND name<>'believed_us'");
    raise.bind(least).bind(least);
    if (const Result<bool> step = raise.step(); !step) return step.error();
    const Result<std::int64_t> token = sql::number_of(database, "SELECT value FROM counter WHERE name='token'");
    if (!token) return token.error();
    return *token + 1;
}

class PostgresAuditLog : public AuditLog {
  public:
    PostgresAuditLog(std::shared_ptr<Database> database, AuditHead head)
        : database_(std::move(database)), written_(head), durable_(std::move(head)) {}
    ~PostgresAuditLog() override { static_cast<void>(flush()); }

    Result<void> append(const AuditEntry& entry, AuditUrgency urgency) override {
        const AuditHead before = pending_.empty() ? written_ : AuditHead{pending_.back().number, pending_.back().hash};
        AuditRecord record{before.entries + 1, sql::stored_form(entry), {}};
        Result<std::string> hash = sql::chain_hash(before.hash, record.number, record.entry);
        if (!hash) return hash.error();
        record.hash = *std::move(hash);
        pending_.push_back(std::move(record));
        if (urgency == AuditUrgency::kSoon && pending_.size() < kMaxPending) return {};
        Result<void> written = urgency == AuditUrgency::kNow ? flush() : write_pending();
        if (!written && !pending_.empty()) pending_.pop_back();
        return written;
    }
    bool rides_on_journal() const override { return true; }

    Result<void> flush() override {
        if (auto written = write_pending(); !written) return written;
        if (written_ == durable_ || !database_->is_dirty()) return {};
        if (auto reached = failpoint::reach(failpoint::Point::kAuditBeforeSync); !reached) return reached;
        if (auto kept = database_->commit(); !kept) return kept;
        durable_ = written_;
        return {};
    }

    Result<std::vector<AuditRecord>> read(std::uint64_t from, std::size_t limit) override {
        if (auto ok = flush(); !ok) return ok.error();
        Query query(*database_, kSelectEntries);
        query.bind(static_cast<std::int64_t>(std::min<std::uint64_t>(from, INT64_MAX)));
        query.bind(static_cast<std::int64_t>(std::min(limit, limits::kMaxAuditRows)));
        return sql::rows_of(query, [](const Query& row) { return Result<AuditRecord>(sql::audit_record_of(row)); });
    }

    AuditHead head() const override { return database_->is_dirty() ? durable_ : written_; }

  private:
    Result<void> write_pending() {
        if (pending_.empty()) return {};
        if (!database_->is_dirty()) durable_ = written_;
        if (auto reached = failpoint::reach(failpoint::Point::kAuditBeforeWrite); !reached) return reached;
        const Result<void> written = database_->together([&]() -> Result<void> {
            for (const AuditRecord& record : pending_) {
                auto done = sql::insert_audit_row(*database_, "INSERT INTO audit VALUES(?,?,?,?,?,?,?,?,?)", record);
                if (!done) return done;
            }
            return {};
        });
        if (!written) {
            return Error{written.error().code,
                         "the audit log cannot be written: " + written.error().message +
                             "; check that no other program writes to it",
                         {}};
        }
        written_ = {pending_.back().number, pending_.back().hash};
        pending_.clear();
        return {};
    }

    std::shared_ptr<Database> database_;
    AuditHead written_, durable_;
    std::vector<AuditRecord> pending_;
};

// The same tables and columns as in SQLite. Keys are compared by bytes, whatever the server's locale. Columns of which
// the database reads a field are json, which keeps the text as it came.
constexpr const char* kFirst = R"sql(
CREATE TABLE application(id text COLLATE "C" PRIMARY KEY, owner text NOT NULL, open bigint NOT NULL,
  ended_us bigint NOT NULL, ranks bigint NOT NULL, program text NOT NULL, outline text NOT NULL, status json NOT NULL,
  name text NOT NULL, state text NOT NULL, submitted_us bigint NOT NULL);
CREATE INDEX application_by_time ON application(submitted_us, id);
CREATE INDEX application_by_owner ON application(owner, submitted_us, id);
CREATE INDEX application_by_state ON application(state, submitted_us, id);
CREATE INDEX application_by_owner_and_state ON application(owner, state, submitted_us, id);
CREATE INDEX application_open ON application(id) WHERE open=1;
CREATE INDEX application_ended ON application(ended_us, id) WHERE open=0;
CREATE TABLE application_request(id text COLLATE "C" PRIMARY KEY, request text NOT NULL);
CREATE TABLE removed_application(id text COLLATE "C" PRIMARY KEY);
CREATE TABLE part(id text COLLATE "C" PRIMARY KEY, record json NOT NULL, open bigint NOT NULL, ended_us bigint NOT NULL);
CREATE INDEX part_open ON part(id) WHERE open=1;
CREATE INDEX part_ended ON part(ended_us, id) WHERE open=0;
CREATE TABLE removed_part(id text COLLATE "C" PRIMARY KEY);
CREATE TABLE peer(zone text COLLATE "C" PRIMARY KEY, record text NOT NULL);
CREATE TABLE profile(id text COLLATE "C" PRIMARY KEY, owner text NOT NULL, program text NOT NULL, ranks bigint NOT NULL,
  complete bigint NOT NULL, at_us bigint NOT NULL, application text NOT NULL, digest text NOT NULL,
  arguments text NOT NULL, predicted_us bigint NOT NULL, measured_us bigint NOT NULL, unseen text NOT NULL, model text NOT NULL);
CREATE INDEX profile_by_owner ON profile(owner, id);
CREATE INDEX profile_by_digest ON profile(owner, digest, id) WHERE digest<>'';
CREATE TABLE counter(name text PRIMARY KEY, value bigint NOT NULL);
INSERT INTO counter VALUES('token', 0);
CREATE TABLE record(kind text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, value text NOT NULL,
  PRIMARY KEY(kind, key));
CREATE TABLE event(id bigint PRIMARY KEY, subject text NOT NULL, owner text NOT NULL, event text NOT NULL);
CREATE INDEX event_by_subject ON event(subject, id);
CREATE INDEX event_by_owner ON event(owner, id);
CREATE TABLE audit_outbox(number bigint PRIMARY KEY, at_us bigint NOT NULL, who text NOT NULL, action text NOT NULL,
  object text NOT NULL, decision text NOT NULL, request_id text NOT NULL, detail text NOT NULL, hash text NOT NULL);
CREATE TABLE audit(number bigint PRIMARY KEY, at_us bigint NOT NULL, who text NOT NULL, action text NOT NULL,
  object text NOT NULL, decision text NOT NULL, request_id text NOT NULL, detail text NOT NULL, hash text NOT NULL);
CREATE TABLE audit_begun(entry bigint NOT NULL);
CREATE FUNCTION audit_only_appends() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM audit) THEN
    RAISE EXCEPTION 'the audit log is append-only: this is not its next entry' USING ERRCODE='23000';
  END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION audit_never_changes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'the audit log is append-only: entries never change and never go' USING ERRCODE='23000';
END $$;
CREATE TRIGGER audit_only_appends BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION audit_only_appends();
CREATE TRIGGER audit_never_changes BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_never_changes();
CREATE TRIGGER audit_never_emptied BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_never_changes();
CREATE TABLE state_folder(id text PRIMARY KEY)
)sql";

}  // namespace

Result<ZoneDatabase> open_zone_database(const Address& address, sql::Durability durability, TaskRunner* runner) {
    Result<std::unique_ptr<Database>> opened = Database::open(address, zone_schema());
    if (!opened) return opened.error();
    const std::shared_ptr<Database> database = *std::move(opened);
    if (durability == sql::Durability::kBatches) database->batch();
    return ZoneDatabase{sql::make_zone_database(database, runner), database};
}

Result<std::unique_ptr<AuditLog>> open_audit_log(std::shared_ptr<Database> database,
                                                 const sql::AuditBeginning& beginning) {
    AuditHead head;
    {
        Query last(*database, "SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1");
        const Result<bool> row = last.step();
        if (!row) return row.error();
        if (*row) head = {static_cast<std::uint64_t>(last.integer(0)), last.text(1)};
    }
    const Result<std::int64_t> begun = sql::number_of(*database, "SELECT entry FROM audit_begun");
    if (!begun) return begun.error();
    if (head.entries < static_cast<std::uint64_t>(*begun)) {
        return Error{ErrorCode::kConflict,
                     "the audit log in the database was emptied: it has lost the entry with which it began; keep the "
                     "database for whoever looks into that, and restore it from a backup",
                     {}};
    }
    if (*begun == 0) {
        const Result<AuditRecord> record = sql::beginning_record(beginning);
        if (!record) return record.error();
        const Result<void> written = database->together([&]() -> Result<void> {
            auto done = sql::insert_audit_row(*database, "INSERT INTO audit VALUES(?,?,?,?,?,?,?,?,?)", *record);
            if (!done) return done;
            Query note(*database, "INSERT INTO audit_begun VALUES(?)");
            note.bind(static_cast<std::int64_t>(record->number));
            if (const Result<bool> step = note.step(); !step) return step.error();
            return {};
        });
        if (!written) return written.error();
        if (auto kept = database->commit(); !kept) return kept.error();
        head = {record->number, record->hash};
    }
    return std::unique_ptr<AuditLog>(std::make_unique<PostgresAuditLog>(std::move(database), std::move(head)));
}

Result<AuditSummary> verify_audit_log(const Address& address, const std::optional<AuditHead>& expected) {
    const Result<std::unique_ptr<Database>> database = Database::open_to_read(address, zone_schema().size());
    if (!database) return database.error();
    sql::ChainCheck check(expected);
    for (std::int64_t from = INT64_MIN;;) {
        Query query(**database, kSelectEntries);
        query.bind(from).bind(kRowsAtOnce);
        std::int64_t rows = 0;
        for (;; ++rows) {
            const Result<bool> row = query.step();
            if (!row) return row.error();
            if (!*row) break;
            from = query.integer(0) + 1;
            if (auto ok = check.step(sql::audit_record_of(query)); !ok) return ok.error();
        }
        if (rows < kRowsAtOnce) return check.finish();
    }
}

Result<std::int64_t> examine_zone_database(const Address& address) {
    const Result<std::unique_ptr<Database>> database = Database::open_to_read(address, zone_schema().size());
    if (!database) return database.error();
    return sql::number_of(**database, "SELECT max(version) FROM schema_version");
}

Result<std::int64_t> go_on_from_restored(const Address& address, Time now,
                                         const std::function<Result<void>(const KnowsStep&)>& look) {
    const Result<std::unique_ptr<Database>> database = Database::open(address, zone_schema());
    if (!database) return database.error();
    const std::int64_t least = to_microseconds(now) / 1'000'000 << 20;
    // Whoever takes a free lease ends the connection that writes, which is this one.
    Query hold(**database,
               "UPDATE lease SET holder=?, url='', epoch=greatest(epoch+1, ?), until=clock_timestamp() + interval '10 "
               "minutes'");
    hold.bind("'zbs-zone restore'").bind(least);
    if (const Result<bool> step = hold.step(); !step) return step.error();
    Result<std::int64_t> next = raise_counters(**database, least, look);
    Query free(**database, "UPDATE lease SET until='-infinity'");
    if (const Result<bool> step = free.step(); !step && next) return step.error();
    return next;
}

Result<std::string> state_folder_of(const Address& address) {
    const Result<std::unique_ptr<Database>> database = Database::open_to_read(address, zone_schema().size());
    if (!database) return database.error();
    return known_folder(**database);
}

Result<void> claim_state_folder(Database& database, const std::string& id) {
    const Result<std::string> known = known_folder(database);
    if (!known) return known.error();
    if (*known == id) return {};
    if (!known->empty()) {
        return Error{ErrorCode::kConflict,
                     "the state folder is not the one that goes with the database: all zone schedulers of one database "
                     "share one 'state' folder; correct 'state', or 'schema' of [database]",
                     {}};
    }
    Query note(database, "INSERT INTO state_folder VALUES(?)");
    note.bind(id);
    if (const Result<bool> step = note.step(); !step) return step.error();
    return database.commit();
}

const char* const kLeaseSchema = R"sql(
CREATE TABLE lease(one boolean PRIMARY KEY DEFAULT true CHECK(one), holder text NOT NULL, url text NOT NULL,
  epoch bigint NOT NULL, until timestamptz NOT NULL);
INSERT INTO lease VALUES(true, '', '', 0, '-infinity');
CREATE FUNCTION fence(mine bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
  PERFORM 1 FROM lease WHERE epoch=mine FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'another zone scheduler has the lease now; nothing of this one counts any more' USING ERRCODE='ZBS01';
  END IF;
END $$
)sql";

const std::vector<std::string>& zone_schema() {
    static const std::vector<std::string> steps = {kFirst};
    return steps;
}

}  // namespace zbs::postgresql
