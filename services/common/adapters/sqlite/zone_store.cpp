#include "services/common/adapters/sqlite/zone_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "services/common/adapters/sql/statements.hpp"
#include "services/common/adapters/sqlite/database.hpp"

namespace zbs::sqlite {
namespace {

// Ended applications and parts are found by an index and not kept in memory. The request never changes and may hold a
// model of megabytes: it has its own table. The status changes eight times and more; `outline` is a row of a list.
// Lists are in the order of the zone's clock, since ids carry the clocks of the submitters.
constexpr const char* kApplications =
    "CREATE TABLE application(id TEXT PRIMARY KEY, owner TEXT NOT NULL, open INTEGER NOT NULL, ended_us INTEGER NOT "
    "NULL, ranks INTEGER NOT NULL, program TEXT NOT NULL, outline TEXT NOT NULL, status TEXT NOT NULL, name TEXT NOT "
    "NULL, state TEXT NOT NULL, submitted_us INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX application_open ON application(id) WHERE open=1;"
    "CREATE INDEX application_ended ON application(ended_us, id) WHERE open=0;"
    "CREATE INDEX application_by_time ON application(submitted_us, id);"
    "CREATE INDEX application_by_owner ON application(owner, submitted_us, id);"
    "CREATE INDEX application_by_state ON application(state, submitted_us, id);"
    "CREATE INDEX application_by_owner_and_state ON application(owner, state, submitted_us, id);"
    "CREATE TABLE application_request(id TEXT PRIMARY KEY, request TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE removed_application(id TEXT PRIMARY KEY) WITHOUT ROWID;";

constexpr const char* kParts =
    "CREATE TABLE part(id TEXT PRIMARY KEY, record TEXT NOT NULL, open INTEGER NOT NULL, ended_us INTEGER NOT NULL) "
    "WITHOUT ROWID;"
    "CREATE INDEX part_open ON part(id) WHERE open=1;"
    "CREATE INDEX part_ended ON part(ended_us, id) WHERE open=0;"
    "CREATE TABLE removed_part(id TEXT PRIMARY KEY) WITHOUT ROWID;"
    "CREATE TABLE peer(zone TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO counter VALUES('token', 0);";

// A time of -1 is none. The model may have megabytes and is the last column, so that a query of the others does not
// read through it.
constexpr const char* kProfiles =
    "CREATE TABLE profile(id TEXT PRIMARY KEY, owner TEXT NOT NULL, program TEXT NOT NULL, ranks INTEGER NOT NULL, "
    "complete INTEGER NOT NULL, at_us INTEGER NOT NULL, application TEXT NOT NULL, digest TEXT NOT NULL, arguments "
    "TEXT NOT NULL, predicted_us INTEGER NOT NULL, measured_us INTEGER NOT NULL, unseen TEXT NOT NULL, model TEXT NOT "
    "NULL) WITHOUT ROWID;"
    "CREATE INDEX profile_by_owner ON profile(owner, id);"
    "CREATE INDEX profile_by_program ON profile(owner, program, id);"
    "CREATE INDEX profile_by_digest ON profile(owner, digest, id) WHERE digest<>'';";

// An event of a part has no owner. The outbox holds records on their way to the audit log.
constexpr const char* kEvents =
    "CREATE TABLE event(id INTEGER PRIMARY KEY, subject TEXT NOT NULL, owner TEXT NOT NULL, event TEXT NOT NULL);"
    "CREATE INDEX event_by_subject ON event(subject, id);"
    "CREATE INDEX event_by_owner ON event(owner, id);"
    "CREATE TABLE audit_outbox(number INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, who TEXT NOT NULL, action TEXT NOT "
    "NULL, object TEXT NOT NULL, decision TEXT NOT NULL, request_id TEXT NOT NULL, detail TEXT NOT NULL, hash TEXT NOT "
    "NULL);";

constexpr int kTokenSecondBits = 20;

/// No counter below `least`; the time last believed is kept with them, and is none. Gives that of tokens.
Result<std::int64_t> raise_counters(Database& database, std::int64_t least) {
    Database::Query lift(database, "UPDATE counter SET value=max(value, ?) WHERE name<>'believed_us'");
    lift.bind(least);
    if (const Result<bool> step = lift.step(); !step) return step.error();
    return number_of(database, "SELECT value FROM counter WHERE name='token'");
}

/// The greatest counter of a database that may be damaged; 0 where it cannot be read.
std::int64_t greatest_counter(const std::string& path) {
    if (::access(path.c_str(), R_OK) != 0) return 0;
    const Result<std::unique_ptr<Database>> old = Database::open_read_only(path);
    if (!old) return 0;
    const Result<std::int64_t> most = number_of(**old, "SELECT max(value) FROM counter WHERE name<>'believed_us'");
    return most ? *most : 0;
}

}  // namespace

Result<std::int64_t> examine_zone_database(const std::string& path) { return Database::examine(path, zone_schema()); }

Result<ZoneDatabase> open_zone_database(const std::string& path, Durability durability, TaskRunner* runner) {
    Result<std::unique_ptr<Database>> opened =
        Database::open(path, zone_schema(), " ('zbs-zone restore FILE --config CONFIG')");
    if (!opened) return opened.error();
    const std::shared_ptr<Database> database = *std::move(opened);
    if (durability == Durability::kBatches) database->batch();
    return sql::make_zone_database(database, runner);
}

const std::vector<std::string>& zone_schema() {
    static const std::vector<std::string> steps = {std::string(kApplications) + kParts + kProfiles + kEvents +
                                                   kRecordSchema};
    return steps;
}

const BackupKind& zone_backups() {
    static const BackupKind kind{
        .service = "zone",
        .program = "zbs-zone",
        .schema = zone_schema(),
        .content = {{.what = "applications", .sql = "SELECT count(*) FROM application"},
                    {.what = "parts", .sql = "SELECT count(*) FROM part"}},
        .rows_of_every_database =
            "SELECT min((SELECT count(*) FROM record), (SELECT count(*) FROM counter WHERE name='token'))",
        .has_outbox = true};
    return kind;
}

Result<RestoredZone> restore_zone(const std::string& file, const ServiceFiles& to, Time now) {
    RestoredZone zone;
    Result<RestoredFiles> files =
        restore_backup(zone_backups(), file, to, now, [&](Database& database, const SinceBackup&) {
            const std::int64_t seconds = to_microseconds(now) / 1'000'000;
            const Result<std::int64_t> token =
                raise_counters(database, std::max(seconds << kTokenSecondBits, greatest_counter(to.database) + 1));
            if (!token) return Result<std::string>(token.error());
            zone.first_token = static_cast<std::uint64_t>(*token) + 1;
            return Result<std::string>("tokens go on at " + std::to_string(zone.first_token));
        });
    if (!files) return files.error();
    zone.files = *std::move(files);
    return zone;
}

Result<std::function<bool(const StepId&)>> known_steps(const std::string& path) {
    const Result<std::unique_ptr<Database>> opened = Database::open_read_only(path);
    if (!opened) return opened.error();
    return sql::known_steps(**opened);
}

}  // namespace zbs::sqlite
