#include "services/zone_scheduler/adapters/postgresql/zone_schema.hpp"

namespace zbs::postgresql {
namespace {

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
