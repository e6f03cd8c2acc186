#include "services/common/adapters/sqlite/zone_schema.hpp"

#include "services/common/adapters/sqlite/record_schema.hpp"

namespace zbs::sqlite {
namespace {

constexpr const char* kFirst =
    "CREATE TABLE application(id TEXT PRIMARY KEY, owner TEXT NOT NULL, request TEXT NOT NULL, status TEXT NOT NULL) "
    "WITHOUT ROWID;"
    "CREATE TABLE part(id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE peer(zone TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE profile(id TEXT PRIMARY KEY, owner TEXT NOT NULL, program TEXT NOT NULL, ranks INTEGER NOT NULL, "
    "complete INTEGER NOT NULL,"
    " at_us INTEGER NOT NULL, application TEXT NOT NULL, model TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX profile_by_program ON profile(owner, program, ranks, complete, id);"
    "CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO counter VALUES('token', 0)";

// What has ended is found by an index and not kept in memory. The request, which never changes and may hold a model of
// megabytes, lies apart from the status, which changes eight times and more; `outline` is a row of a list. What had
// ended before this version has its time from its history; of parts nobody wrote it down: they count as ended now.
constexpr const char* kEndedApart =
    "CREATE TABLE application_request(id TEXT PRIMARY KEY, request TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE removed_application(id TEXT PRIMARY KEY) WITHOUT ROWID;"
    "CREATE TABLE removed_part(id TEXT PRIMARY KEY) WITHOUT ROWID;"
    "ALTER TABLE application RENAME TO application_before;"
    "CREATE TABLE application(id TEXT PRIMARY KEY, owner TEXT NOT NULL, open INTEGER NOT NULL, ended_us INTEGER NOT "
    "NULL, ranks INTEGER NOT NULL, program TEXT NOT NULL, outline TEXT NOT NULL, status TEXT NOT NULL) WITHOUT ROWID;"
    "INSERT INTO application_request SELECT id, request FROM application_before;"
    "INSERT INTO application SELECT id, owner,"
    " json_extract(status, '$.state') NOT IN ('completed', 'failed', 'cancelled', 'rejected')"
    "  OR json_array_length(status, '$.releasing') > 0,"
    " coalesce(json_extract(status, '$.history[#-1].at_us'), 0),"
    " json_extract(request, '$.ranks'), json_extract(request, '$.argv[0]'),"
    " json_patch(json_object('state', json_extract(status, '$.state'), 'reason', json_extract(status, '$.reason'),"
    "  'zones', json((SELECT json_group_array(zone) FROM (SELECT DISTINCT json_extract(value, '$.zone') AS zone FROM"
    "   json_each(application_before.status, '$.parts') ORDER BY 1))),"
    "  'submitted_us', coalesce(json_extract(status, '$.history[0].at_us'), 0)),"
    "  json_object('exit_code', json_extract(status, '$.exit_code'))),"  // a patch leaves out what is null
    " status FROM application_before;"
    "DROP TABLE application_before;"
    "CREATE INDEX application_by_owner ON application(owner, id);"
    "CREATE INDEX application_open ON application(id) WHERE open=1;"
    "CREATE INDEX application_ended ON application(ended_us, id) WHERE open=0;"
    "ALTER TABLE part ADD COLUMN open INTEGER NOT NULL DEFAULT 1;"
    "ALTER TABLE part ADD COLUMN ended_us INTEGER NOT NULL DEFAULT 0;"
    "UPDATE part SET open=0, ended_us=CAST(strftime('%s', 'now') AS INTEGER) * 1000000"
    " WHERE json_extract(record, '$.status.state') IN ('completed', 'failed', 'released', 'expired');"
    "CREATE INDEX part_open ON part(id) WHERE open=1;"
    "CREATE INDEX part_ended ON part(ended_us, id) WHERE open=0";

// Records on their way to the audit log.
constexpr const char* kOutboxSchema =
    "CREATE TABLE audit_outbox(number INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, who TEXT NOT NULL, action TEXT NOT "
    "NULL, object TEXT NOT NULL, decision TEXT NOT NULL, request_id TEXT NOT NULL, detail TEXT NOT NULL, hash TEXT NOT "
    "NULL)";

// What profiles are learnt from is told by the program's own bytes and its arguments. Nobody noted those before:
// profiles from then are found by the path, and their arguments are unknown. A time of -1 is none. The model, which may
// have megabytes, comes last: who wants the columns before it does not read through it.
constexpr const char* kProfilesByKind =
    "ALTER TABLE profile RENAME TO profile_before;"
    "CREATE TABLE profile(id TEXT PRIMARY KEY, owner TEXT NOT NULL, program TEXT NOT NULL, ranks INTEGER NOT NULL, "
    "complete INTEGER NOT NULL, at_us INTEGER NOT NULL, application TEXT NOT NULL, digest TEXT NOT NULL, arguments "
    "TEXT "
    "NOT NULL, predicted_us INTEGER NOT NULL, measured_us INTEGER NOT NULL, model TEXT NOT NULL) WITHOUT ROWID;"
    "INSERT INTO profile SELECT id, owner, program, ranks, complete, at_us, application, '', '?', -1, -1, model FROM "
    "profile_before;"
    "DROP TABLE profile_before;"
    "CREATE INDEX profile_by_owner ON profile(owner, id);"
    "CREATE INDEX profile_by_program ON profile(owner, program, id);"
    "CREATE INDEX profile_by_digest ON profile(owner, digest, id) WHERE digest<>''";

// What has happened to applications and parts, for who was away. Ids of later events are times and so above these; an
// event of a part has no owner. Of what had happened before this version the applications' histories tell.
constexpr const char* kEvents =
    "CREATE TABLE event(id INTEGER PRIMARY KEY, subject TEXT NOT NULL, owner TEXT NOT NULL, event TEXT NOT NULL);"
    "CREATE INDEX event_by_subject ON event(subject, id);"
    "CREATE INDEX event_by_owner ON event(owner, id);"
    "INSERT INTO event SELECT number, subject, owner, json_object('id', number, 'at_us', at_us, 'application', subject,"
    " 'state', state, 'reason', '', 'owner', owner) FROM (SELECT row_number() OVER (ORDER BY json_extract(change.value,"
    " '$.at_us'), application.id, change.key) AS number, application.id AS subject, owner,"
    " json_extract(change.value, '$.at_us') AS at_us, json_extract(change.value, '$.state') AS state"
    " FROM application, json_each(application.status, '$.history') AS change)";

// Ids are chosen by whoever sends them: events of a part that has the id of an application were taken for that one's.
constexpr const char* kEventsOfParts =
    "UPDATE event SET subject='part:' || subject WHERE json_extract(event, '$.part') IS NOT NULL";

// What people call it, and the state, by which lists are chosen and counted.
constexpr const char* kNamesAndStates =
    "ALTER TABLE application ADD COLUMN name TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE application ADD COLUMN state TEXT NOT NULL DEFAULT '';"
    "UPDATE application SET state=json_extract(outline, '$.state');"
    "CREATE INDEX application_by_state ON application(state, id)";

// Lists go by the zone's clock: ids carry those of who submitted. Each choice that a list has finds its rows in order.
constexpr const char* kListsByTime =
    "ALTER TABLE application ADD COLUMN submitted_us INTEGER NOT NULL DEFAULT 0;"
    "UPDATE application SET submitted_us=coalesce(json_extract(outline, '$.submitted_us'), 0);"
    "DROP INDEX application_by_owner;"
    "DROP INDEX application_by_state;"
    "CREATE INDEX application_by_time ON application(submitted_us, id);"
    "CREATE INDEX application_by_owner ON application(owner, submitted_us, id);"
    "CREATE INDEX application_by_state ON application(state, submitted_us, id);"
    "CREATE INDEX application_by_owner_and_state ON application(owner, state, submitted_us, id)";

}  // namespace

const std::vector<std::string>& zone_schema() {
    static const std::vector<std::string> steps = {kFirst,         kRecordSchema,   kEndedApart,
                                                   kOutboxSchema,  kProfilesByKind, kEvents,
                                                   kEventsOfParts, kNamesAndStates, kListsByTime};
    return steps;
}

}  // namespace zbs::sqlite
