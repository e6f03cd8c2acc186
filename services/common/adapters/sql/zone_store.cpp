#include "services/common/adapters/sql/zone_store.hpp"

#include <algorithm>
#include <set>

#include "services/common/adapters/sql/application_list.hpp"
#include "services/common/adapters/sql/profile_table.hpp"
#include "services/common/adapters/sql/record_table.hpp"
#include "services/common/adapters/sql/statements.hpp"
#include "services/common/codec/json/words.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/common/codec/records/queue_log_codec.hpp"
#include "services/common/codec/records/record_codec.hpp"
#include "services/common/codec/site_codec.hpp"
#include "services/common/failpoint/failpoint.hpp"

namespace zbs::sql {
namespace {

using codec::Json;

/// Writes what is of an application or a part.
Result<void> write(Database& database, Query& query) {
    if (auto reached = failpoint::reach(failpoint::Point::kStoreBeforeWrite); !reached) return reached;
    if (auto done = carry_out(query); !done) return done;
    auto reached = failpoint::reach(failpoint::Point::kStoreAfterWrite);
    if (!reached) static_cast<void>(Query(database, "ROLLBACK").step());
    return reached;
}

Error corrupt(const std::string& what, const Error& error) {
    return {ErrorCode::kInternal, "the database holds a " + what + " that this version cannot read: " + error.message,
            error.pointer};
}

/// Whose events a row is of. Ids are chosen by whoever sends them, so a part may have the id of an application.
std::string subject_of(const ApplicationId& id) { return to_string(id); }
std::string subject_of(const PartId& id) { return "part:" + to_string(id); }

constexpr std::size_t kRowsPerPiece = 1'000;

class SqlZoneStore : public ZoneStore {
  public:
    SqlZoneStore(std::shared_ptr<Database> database, TaskRunner* runner)
        : database_(std::move(database)),
          profiles_(*database_),
          queues_(database_, "queue", codec::encode, codec::decode_queue_record),
          runner_(runner) {}

    Result<void> insert(const Application& application) override {
        const ApplicationId& id = application.request.id;
        const Result<bool> removed = was_removed(id);
        if (!removed) return removed.error();
        if (*removed)
            return Error{ErrorCode::kConflict, "application " + to_string(id) + " has ended and was removed", {}};
        if (auto reached = failpoint::reach(failpoint::Point::kStoreBeforeWrite); !reached) return reached;
        return database_->together([&]() -> Result<void> {
            Query query(*database_,
                        "INSERT INTO application(id, owner, ranks, program, name, submitted_us, outline, state, open, "
                        "ended_us, status) VALUES(?,?,?,?,?,?,?,?,?,?,?)");
            query.bind(to_string(id)).bind(to_uri(application.owner));
            query.bind(std::int64_t{application.request.ranks});
            query.bind(application.request.argv.empty() ? "" : application.request.argv[0]);
            query.bind(application.request.name).bind(to_microseconds(summary_of(application).submitted));
            bind_status(query, application.status);
            if (auto done = carry_out(query); !done) return done;
            Query request(*database_, "INSERT INTO application_request(id, request) VALUES(?,?)");
            request.bind(to_string(id)).bind(codec::dump(codec::encode(application.request)));
            if (auto done = carry_out(request); !done) return done;
            auto reached = failpoint::reach(failpoint::Point::kStoreAfterWrite);
            if (!reached) static_cast<void>(Query(*database_, "ROLLBACK").step());
            return reached;
        });
    }

    Result<void> update(const ApplicationId& id, const ApplicationStatus& status) override {
        Query query(*database_, "UPDATE application SET outline=?, state=?, open=?, ended_us=?, status=? WHERE id=?");
        bind_status(query, status);
        query.bind(to_string(id));
        return write(*database_, query);
    }

    Result<std::vector<Application>> load_open_applications() override {
        Query query(*database_,
                    "SELECT owner, request, status FROM application JOIN application_request USING(id) WHERE open=1 "
                    "ORDER BY id");
        return read_applications(query);
    }

    Result<std::optional<Application>> find_application(const ApplicationId& id) override {
        Query query(*database_,
                    "SELECT owner, request, status FROM application JOIN application_request USING(id) WHERE id=?");
        query.bind(to_string(id));
        return only_one(read_applications(query));
    }

    Result<std::vector<EndedApplication>> ended_applications(Time time, std::size_t limit) override {
        Query query(*database_,
                    "SELECT id, status ->> 'operation' FROM application WHERE open=0 AND ended_us<? "
                    "ORDER BY ended_us, id LIMIT ?");
        query.bind(to_microseconds(time)).bind(static_cast<std::int64_t>(limit));
        return rows_of(query, [](const Query& row) -> Result<EndedApplication> {
            const auto id = parse_id128(row.text(0));
            if (!id) return corrupt("application", invalid("bad id"));
            return EndedApplication{ApplicationId{*id}, StepId(row.text(1))};
        });
    }

    Result<std::vector<ApplicationSummary>> list_applications(const ApplicationQuery& wanted) override {
        return sql::list_applications(*database_, wanted);
    }

    Result<std::map<ApplicationState, std::size_t>> count_applications(const std::optional<Caller>& owner,
                                                                       Time ended_after) override {
        return sql::count_applications(*database_, owner, ended_after);
    }

    Result<void> remove(const ApplicationId& id) override {
        return database_->together([&]() -> Result<void> {
            for (const char* sql :
                 {"INSERT INTO removed_application(id) VALUES(?) ON CONFLICT DO NOTHING",
                  "DELETE FROM application WHERE id=?", "DELETE FROM application_request WHERE id=?"}) {
                if (auto done = run(sql, to_string(id)); !done) return done;
            }
            return run("DELETE FROM event WHERE subject=?", subject_of(id));
        });
    }

    Result<bool> was_removed(const ApplicationId& id) override {
        return is_there("SELECT 1 FROM removed_application WHERE id=?", to_string(id));
    }

    Result<void> save(const PartRecord& part) override {
        Query query(*database_,
                    "INSERT INTO part(id, record, open, ended_us) VALUES(?,?,?,?) ON CONFLICT(id) DO UPDATE SET "
                    "record=excluded.record, open=excluded.open, ended_us=excluded.ended_us");
        query.bind(to_string(part.request.id)).bind(codec::dump(codec::encode(part)));
        query.bind(std::int64_t{!is_final(part.status.state)}).bind(to_microseconds(part.ended));
        return write(*database_, query);
    }

    Result<std::vector<PartRecord>> load_open_parts() override {
        Query query(*database_, "SELECT record FROM part WHERE open=1 ORDER BY id");
        return read_parts(query);
    }

    Result<std::optional<PartRecord>> find_part(const PartId& id) override {
        Query query(*database_, "SELECT record FROM part WHERE id=?");
        query.bind(to_string(id));
        return only_one(read_parts(query));
    }

    Result<std::vector<EndedPart>> ended_parts(Time time, std::size_t limit) override {
        Query query(*database_,
                    "SELECT id, record ->> 'operation', record ->> 'proxies' FROM part "
                    "WHERE open=0 AND ended_us<? ORDER BY ended_us, id LIMIT ?");
        query.bind(to_microseconds(time)).bind(static_cast<std::int64_t>(limit));
        return rows_of(query, [](const Query& row) -> Result<EndedPart> {
            const auto id = parse_id128(row.text(0));
            const Result<Json> proxies = codec::parse(row.text(2));
            if (!id || !proxies || !proxies->is_array()) return corrupt("part", invalid("bad id or proxies"));
            EndedPart part{PartId{*id}, row.text(1), {}};
            for (const Json& proxy : *proxies) {
                if (!proxy.is_number_integer()) return corrupt("part", invalid("bad proxy"));
                part.proxies.push_back(proxy.get<int>());
            }
            return part;
        });
    }

    Result<std::vector<PartRecord>> recent_parts(Time time, std::size_t limit) override {
        Query query(
            *database_,
            "SELECT record FROM part WHERE open=0 AND ended_us>? AND record ->> 'operation' <> '' ORDER BY ended_us "
            "DESC, id DESC LIMIT ?");
        query.bind(to_microseconds(time)).bind(static_cast<std::int64_t>(limit));
        return read_parts(query);
    }

    Result<void> remove(const PartId& id) override {
        return database_->together([&]() -> Result<void> {
            for (const char* sql :
                 {"INSERT INTO removed_part(id) VALUES(?) ON CONFLICT DO NOTHING", "DELETE FROM part WHERE id=?"}) {
                if (auto done = run(sql, to_string(id)); !done) return done;
            }
            return run("DELETE FROM event WHERE subject=?", subject_of(id));
        });
    }

    Result<bool> was_removed(const PartId& id) override {
        return is_there("SELECT 1 FROM removed_part WHERE id=?", to_string(id));
    }

    Result<void> append(const StateEvent& event) override {
        const std::string subject = event.part ? subject_of(*event.part) : subject_of(event.application);
        Query insert(*database_, "INSERT INTO event(id, subject, owner, event) VALUES(?,?,?,?)");
        insert.bind(static_cast<std::int64_t>(event.id)).bind(subject);
        insert.bind(event.owner ? to_uri(*event.owner) : "").bind(codec::dump(codec::encode(event)));
        if (auto done = carry_out(insert); !done) return done;
        Query trim(*database_,
                   "DELETE FROM event WHERE subject=? AND id<=(SELECT id FROM event WHERE subject=? ORDER BY id DESC "
                   "LIMIT 1 OFFSET ?)");
        trim.bind(subject).bind(subject).bind(static_cast<std::int64_t>(kMaxEventsOfOne));
        return carry_out(trim);
    }

    Result<std::vector<StateEvent>> events(const EventQuery& wanted) override {
        constexpr std::string_view kAll = "SELECT event FROM event WHERE id>? ORDER BY id LIMIT ?";
        constexpr std::string_view kOwners = "SELECT event FROM event WHERE owner=? AND id>? ORDER BY id LIMIT ?";
        constexpr std::string_view kOf = "SELECT event FROM event WHERE subject=? AND id>? ORDER BY id LIMIT ?";
        Query query(*database_, wanted.application ? kOf : wanted.owner ? kOwners : kAll);
        if (wanted.application)
            query.bind(subject_of(*wanted.application));
        else if (wanted.owner)
            query.bind(to_uri(*wanted.owner));
        query.bind(static_cast<std::int64_t>(std::min<std::uint64_t>(wanted.after, INT64_MAX)));
        query.bind(static_cast<std::int64_t>(wanted.limit));
        Result<std::vector<StateEvent>> found = read_records<StateEvent>(query, "event", codec::decode_state_event);
        if (found) std::erase_if(*found, [&](const StateEvent& event) { return !fits(event, wanted); });
        return found;
    }

    Result<std::uint64_t> last_event() override {
        Query query(*database_, "SELECT coalesce(max(id), 0) FROM event");
        if (const Result<bool> row = query.step(); !row) return row.error();
        return static_cast<std::uint64_t>(query.integer(0));
    }

    Result<std::uint64_t> next_token() override {
        Query query(*database_, "UPDATE counter SET value=value+1 WHERE name='token' RETURNING value");
        const Result<bool> row = query.step();
        if (!row) return row.error();
        const std::int64_t value = query.integer(0);
        if (const Result<bool> done = query.step(); !done) return done.error();
        return static_cast<std::uint64_t>(value);
    }

    RecordTable<QueueRecord>& queues() override { return queues_; }

    Result<std::optional<Time>> believed_time() override {
        Query query(*database_, "SELECT value FROM counter WHERE name='believed_us'");
        const Result<bool> row = query.step();
        if (!row) return row.error();
        return *row ? std::optional(time_from_microseconds(query.integer(0))) : std::nullopt;
    }

    Result<void> record_believed_time(Time now) override {
        Query query(*database_,
                    "INSERT INTO counter(name, value) VALUES('believed_us', ?) ON CONFLICT(name) DO UPDATE SET "
                    "value=excluded.value");
        query.bind(to_microseconds(now));
        return carry_out(query);
    }

    Result<void> save(const Peer& peer) override {
        Query query(
            *database_,
            "INSERT INTO peer(zone, record) VALUES(?,?) ON CONFLICT(zone) DO UPDATE SET record=excluded.record");
        query.bind(peer.zone).bind(codec::dump(codec::encode(peer)));
        return carry_out(query);
    }

    Result<std::vector<Peer>> load_peers() override {
        Query query(*database_, "SELECT record FROM peer ORDER BY zone");
        return read_records<Peer>(query, "peer", codec::decode_peer);
    }

    Result<void> insert(const Profile& profile) override { return profiles_.insert(profile); }
    Result<std::vector<ProfileSummary>> profiles_of(const ProgramQuery& query) override { return profiles_.of(query); }
    Result<std::optional<Profile>> load_profile(const Caller& owner, const ProfileId& id) override {
        return profiles_.load(owner, id);
    }
    Result<std::optional<Caller>> profile_owner(const ProfileId& id) override { return profiles_.owner_of(id); }
    Result<std::vector<ProfileSummary>> list_profiles(const Caller& owner) override { return profiles_.list(owner); }

  private:
    /// The next four: outline, open, ended_us, status.
    static void bind_status(Query& query, const ApplicationStatus& status) {
        query.bind(codec::dump(codec::encode_outline(status)))
            .bind(to_string(status.state))
            .bind(std::int64_t{is_open(status)});
        query.bind(to_microseconds(changed_at(status))).bind(codec::dump(codec::encode(status)));
    }

    struct ApplicationRow {
        std::string owner, request, status;
    };
    static Result<Application> decode(const ApplicationRow& row) {
        const auto owner = parse_identity(row.owner);
        const Result<Json> request_json = codec::parse(row.request);
        const Result<Json> status_json = codec::parse(row.status);
        if (!owner || !request_json || !status_json) return corrupt("application", invalid("not JSON"));
        Result<ApplicationRequest> request = codec::decode_application_request(*request_json);
        if (!request) return corrupt("application", request.error());
        Result<ApplicationStatus> status = codec::decode_application_status(*status_json);
        if (!status) return corrupt("application", status.error());
        return Application{*owner, *std::move(request), *std::move(status)};
    }

    /// Reading is the connection's alone; decoding, which takes most of the time, is shared out.
    Result<std::vector<Application>> read_applications(Query& query) {
        Result<std::vector<ApplicationRow>> read = rows_of(query, [](const Query& row) {
            return Result<ApplicationRow>(ApplicationRow{row.text(0), row.text(1), row.text(2)});
        });
        if (!read) return read.error();
        std::vector<ApplicationRow>& rows = *read;
        std::vector<Application> all(rows.size());
        const std::size_t pieces = (rows.size() + kRowsPerPiece - 1) / kRowsPerPiece;
        std::vector<Result<void>> faults(pieces);
        const auto decode_piece = [&](int piece) {
            const std::size_t begin = static_cast<std::size_t>(piece) * kRowsPerPiece;
            for (std::size_t i = begin; i < std::min(begin + kRowsPerPiece, rows.size()); ++i) {
                Result<Application> made = decode(rows[i]);
                if (!made) {
                    faults[static_cast<std::size_t>(piece)] = made.error();
                    return;
                }
                all[i] = *std::move(made);
                rows[i] = {};
            }
        };
        SerialRunner alone;
        (runner_ != nullptr ? *runner_ : alone).run(static_cast<int>(pieces), decode_piece);
        for (const Result<void>& fault : faults)
            if (!fault) return fault.error();
        return all;
    }

    static Result<std::vector<PartRecord>> read_parts(Query& query) {
        return read_records<PartRecord>(query, "part", codec::decode_part_record);
    }

    /// Rows of one column, the JSON of a record.
    template <class Record>
    static Result<std::vector<Record>> read_records(Query& query, const char* what,
                                                    Result<Record> (*decode)(const Json&)) {
        return rows_of(query, [&](const Query& row) -> Result<Record> {
            const Result<Json> json = codec::parse(row.text(0));
            if (!json) return corrupt(what, json.error());
            Result<Record> record = decode(*json);
            if (!record) return corrupt(what, record.error());
            return record;
        });
    }

    template <class Record>
    static Result<std::optional<Record>> only_one(Result<std::vector<Record>> found) {
        if (!found) return found.error();
        if (found->empty()) return std::optional<Record>{};
        return std::optional<Record>{std::move(found->front())};
    }

    Result<void> run(const char* sql, const std::string& id) {
        Query query(*database_, sql);
        query.bind(id);
        return carry_out(query);
    }

    Result<bool> is_there(const char* sql, const std::string& id) {
        Query query(*database_, sql);
        query.bind(id);
        return query.step();
    }

    std::shared_ptr<Database> database_;
    ProfileTable profiles_;
    SqlRecordTable<QueueRecord> queues_;
    TaskRunner* runner_;
};

class SqlSiteStore : public SiteStore {
  public:
    explicit SqlSiteStore(const std::shared_ptr<Database>& database)
        : database_(database),
          members_(database, "member", codec::encode, codec::decode_member),
          blocks_(database, "block", codec::encode, codec::decode_block),
          announced_blocks_(database, "announced blocks", codec::encode, codec::decode_announced_blocks),
          trusted_(database, "trusted organisation", codec::encode, codec::decode_trusted_organisation),
          delegations_(database, "delegation", codec::encode, codec::decode_delegation),
          peerings_(database, "peering", codec::encode, codec::decode_peering_record),
          pool_leases_(database, "pool lease", codec::encode, codec::decode_pool_lease) {}

    RecordTable<Member>& members() override { return members_; }
    RecordTable<Block>& blocks() override { return blocks_; }
    RecordTable<AnnouncedBlocks>& announced_blocks() override { return announced_blocks_; }
    RecordTable<TrustedOrganisation>& trusted() override { return trusted_; }
    RecordTable<Delegation>& delegations() override { return delegations_; }
    RecordTable<PeeringRecord>& peerings() override { return peerings_; }
    RecordTable<PoolLease>& pool_leases() override { return pool_leases_; }

    Result<std::uint64_t> next_number(const std::string& name) override {
        Query query(
            *database_,
            "INSERT INTO counter(name, value) VALUES(?,1) ON CONFLICT(name) DO UPDATE SET value=counter.value+1 "
            "RETURNING value");
        query.bind(name);
        const Result<bool> row = query.step();
        if (!row) return row.error();
        const std::int64_t value = query.integer(0);
        if (const Result<bool> done = query.step(); !done) return done.error();
        return static_cast<std::uint64_t>(value);
    }

  private:
    std::shared_ptr<Database> database_;
    SqlRecordTable<Member> members_;
    SqlRecordTable<Block> blocks_;
    SqlRecordTable<AnnouncedBlocks> announced_blocks_;
    SqlRecordTable<TrustedOrganisation> trusted_;
    SqlRecordTable<Delegation> delegations_;
    SqlRecordTable<PeeringRecord> peerings_;
    SqlRecordTable<PoolLease> pool_leases_;
};

}  // namespace

ZoneDatabase make_zone_database(const std::shared_ptr<Database>& database, TaskRunner* runner) {
    return {std::make_unique<SqlZoneStore>(database, runner), std::make_unique<SqlSiteStore>(database), database,
            std::make_unique<AuditOutbox>(database)};
}

Result<std::function<bool(const StepId&)>> known_steps(Database& database) {
    const auto known = std::make_shared<std::set<std::string>>();
    for (const char* sql :
         {"SELECT status ->> 'operation' FROM application", "SELECT record ->> 'operation' FROM part"}) {
        Query query(database, sql);
        const Result<void> read = for_each_row(query, [&](const Query& row) {
            if (std::string operation = row.text(0); !operation.empty()) known->insert(std::move(operation));
            return Result<void>{};
        });
        if (!read) return read.error();
    }
    return std::function<bool(const StepId&)>([known](const StepId& step) {
        const std::string& text = step;
        return known->contains(text) || known->contains(text.substr(0, text.rfind("-p")));
    });
}

}  // namespace zbs::sql
