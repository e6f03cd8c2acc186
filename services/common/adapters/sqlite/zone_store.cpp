#include "services/common/adapters/sqlite/zone_store.hpp"

#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/record_table.hpp"
#include "services/common/adapters/sqlite/site_store.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/codec/record_codec.hpp"
#include "services/common/failpoint/failpoint.hpp"

namespace zbs::sqlite {
namespace {

using codec::Json;
using Query = Database::Query;

// Append only: each entry lifts the schema by one version.
const std::vector<std::string> kZoneSchema = {
    "CREATE TABLE application(id TEXT PRIMARY KEY, owner TEXT NOT NULL, request TEXT NOT NULL, status TEXT NOT NULL) "
    "WITHOUT ROWID;"
    "CREATE TABLE part(id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE peer(zone TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE profile(id TEXT PRIMARY KEY, owner TEXT NOT NULL, program TEXT NOT NULL, ranks INTEGER NOT NULL, "
    "complete INTEGER NOT NULL,"
    " at_us INTEGER NOT NULL, application TEXT NOT NULL, model TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX profile_by_program ON profile(owner, program, ranks, complete, id);"
    "CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO counter VALUES('token', 0)",
    kRecordSchema};

Result<void> finish(Query& query) {
    const Result<bool> step = query.step();
    if (!step) return step.error();
    return {};
}

/// Writes what is of an application or a part.
Result<void> write(Database& database, Query& query) {
    if (auto reached = failpoint::reach(failpoint::Point::kStoreBeforeWrite); !reached) return reached;
    if (auto done = finish(query); !done) return done;
    auto reached = failpoint::reach(failpoint::Point::kStoreAfterWrite);
    if (!reached) static_cast<void>(Query(database, "ROLLBACK").step());
    return reached;
}

Error corrupt(const std::string& what, const Error& error) {
    return {ErrorCode::kInternal, "the database holds a " + what + " that this version cannot read: " + error.message,
            error.pointer};
}

class SqliteZoneStore : public ZoneStore {
  public:
    explicit SqliteZoneStore(std::shared_ptr<Database> database) : database_(std::move(database)) {}

    Result<void> insert(const Application& application) override {
        Query query(*database_, "INSERT INTO application(id, owner, request, status) VALUES(?,?,?,?)");
        query.bind(to_string(application.request.id)).bind(to_uri(application.owner));
        query.bind(codec::dump(codec::encode(application.request)))
            .bind(codec::dump(codec::encode(application.status)));
        return write(*database_, query);
    }

    Result<void> update(const ApplicationId& id, const ApplicationStatus& status) override {
        Query query(*database_, "UPDATE application SET status=? WHERE id=?");
        query.bind(codec::dump(codec::encode(status))).bind(to_string(id));
        return write(*database_, query);
    }

    Result<std::vector<Application>> load_applications() override {
        Query query(*database_, "SELECT owner, request, status FROM application ORDER BY id");
        std::vector<Application> all;
        for (;;) {
            const Result<bool> row = query.step();
            if (!row) return row.error();
            if (!*row) return all;
            const auto owner = parse_identity(query.text(0));
            const Result<Json> request_json = codec::parse(query.text(1));
            const Result<Json> status_json = codec::parse(query.text(2));
            if (!owner || !request_json || !status_json) return corrupt("application", invalid("not JSON"));
            Result<ApplicationRequest> request = codec::decode_application_request(*request_json);
            if (!request) return corrupt("application", request.error());
            Result<ApplicationStatus> status = codec::decode_application_status(*status_json);
            if (!status) return corrupt("application", status.error());
            all.push_back({*owner, *std::move(request), *std::move(status)});
        }
    }

    Result<void> save(const PartRecord& part) override {
        Query query(*database_,
                    "INSERT INTO part(id, record) VALUES(?,?) ON CONFLICT(id) DO UPDATE SET record=excluded.record");
        query.bind(to_string(part.request.id)).bind(codec::dump(codec::encode(part)));
        return write(*database_, query);
    }

    Result<std::vector<PartRecord>> load_parts() override {
        Query query(*database_, "SELECT record FROM part ORDER BY id");
        std::vector<PartRecord> all;
        for (;;) {
            const Result<bool> row = query.step();
            if (!row) return row.error();
            if (!*row) return all;
            const Result<Json> json = codec::parse(query.text(0));
            if (!json) return corrupt("part", json.error());
            Result<PartRecord> part = codec::decode_part_record(*json);
            if (!part) return corrupt("part", part.error());
            all.push_back(*std::move(part));
        }
    }

    Result<std::uint64_t> next_token() override {
        Query query(*database_, "UPDATE counter SET value=value+1 WHERE name='token' RETURNING value");
        const Result<bool> row = query.step();
        if (!row) return row.error();
        const std::int64_t value = query.integer(0);
        if (const Result<bool> done = query.step(); !done) return done.error();
        return static_cast<std::uint64_t>(value);
    }

    Result<void> save(const Peer& peer) override {
        Query query(
            *database_,
            "INSERT INTO peer(zone, record) VALUES(?,?) ON CONFLICT(zone) DO UPDATE SET record=excluded.record");
        query.bind(peer.zone).bind(codec::dump(codec::encode(peer)));
        return finish(query);
    }

    Result<std::vector<Peer>> load_peers() override {
        Query query(*database_, "SELECT record FROM peer ORDER BY zone");
        std::vector<Peer> all;
        for (;;) {
            const Result<bool> row = query.step();
            if (!row) return row.error();
            if (!*row) return all;
            const Result<Json> json = codec::parse(query.text(0));
            if (!json) return corrupt("peer", json.error());
            Result<Peer> peer = codec::decode_peer(*json);
            if (!peer) return corrupt("peer", peer.error());
            all.push_back(*std::move(peer));
        }
    }

    Result<void> insert(const Profile& profile) override {
        Query query(*database_,
                    "INSERT INTO profile(id, owner, program, ranks, complete, at_us, application, model) "
                    "VALUES(?,?,?,?,?,?,?,?)");
        query.bind(to_string(profile.id)).bind(to_uri(profile.owner)).bind(profile.model.program);
        query.bind(static_cast<std::int64_t>(profile.model.graph.task_count()))
            .bind(std::int64_t{profile.model.complete});
        query.bind(to_microseconds(profile.at))
            .bind(to_string(profile.application))
            .bind(codec::dump(codec::encode(profile.model)));
        return finish(query);
    }

    Result<std::optional<Profile>> find_profile(const Caller& owner, const std::string& program, int ranks) override {
        Query query(*database_,
                    "SELECT id, at_us, application, model FROM profile WHERE owner=? AND program=? AND ranks=? ORDER "
                    "BY complete DESC, id DESC LIMIT 1");
        query.bind(to_uri(owner)).bind(program).bind(std::int64_t{ranks});
        return read_profile(query, owner);
    }

    Result<std::optional<Profile>> load_profile(const Caller& owner, const ProfileId& id) override {
        Query query(*database_, "SELECT id, at_us, application, model FROM profile WHERE owner=? AND id=?");
        query.bind(to_uri(owner)).bind(to_string(id));
        return read_profile(query, owner);
    }

    Result<std::optional<Caller>> profile_owner(const ProfileId& id) override {
        Query query(*database_, "SELECT owner FROM profile WHERE id=?");
        query.bind(to_string(id));
        const Result<bool> row = query.step();
        if (!row) return row.error();
        if (!*row) return std::optional<Caller>{};
        return parse_identity(query.text(0));
    }

    Result<std::vector<ProfileSummary>> list_profiles(const Caller& owner) override {
        Query query(*database_,
                    "SELECT id, at_us, application, program, ranks, complete FROM profile WHERE owner=? ORDER BY id "
                    "DESC LIMIT 1000");
        query.bind(to_uri(owner));
        std::vector<ProfileSummary> all;
        for (;;) {
            const Result<bool> row = query.step();
            if (!row) return row.error();
            if (!*row) return all;
            const auto id = parse_id128(query.text(0));
            const auto application = parse_id128(query.text(2));
            if (!id || !application) return corrupt("profile", invalid("bad id"));
            all.push_back({ProfileId{*id}, ApplicationId{*application}, time_from_microseconds(query.integer(1)),
                           query.text(3), static_cast<int>(query.integer(4)), query.integer(5) != 0});
        }
    }

  private:
    static Result<std::optional<Profile>> read_profile(Query& query, const Caller& owner) {
        const Result<bool> row = query.step();
        if (!row) return row.error();
        if (!*row) return std::optional<Profile>{};
        const auto id = parse_id128(query.text(0));
        const auto application = parse_id128(query.text(2));
        const Result<Json> json = codec::parse(query.text(3));
        if (!id || !application || !json) return corrupt("profile", invalid("bad id or JSON"));
        Result<ApplicationModel> model = codec::decode_model(*json);
        if (!model) return corrupt("profile", model.error());
        return std::optional<Profile>{Profile{ProfileId{*id}, owner, ApplicationId{*application},
                                              time_from_microseconds(query.integer(1)), *std::move(model)}};
    }

    std::shared_ptr<Database> database_;
};

}  // namespace

Result<ZoneDatabase> open_zone_database(const std::string& path, Durability durability) {
    Result<std::unique_ptr<Database>> opened = Database::open(path, kZoneSchema);
    if (!opened) return opened.error();
    const std::shared_ptr<Database> database = *std::move(opened);
    if (durability == Durability::kBatches) database->batch();
    return ZoneDatabase{std::make_unique<SqliteZoneStore>(database), make_site_store(database), database};
}

}  // namespace zbs::sqlite
