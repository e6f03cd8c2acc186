#include "services/common/adapters/sqlite/zone_store.hpp"

#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/record_schema.hpp"

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

}  // namespace zbs::sqlite
