#include "services/common/adapters/sqlite/site_store.hpp"

#include "services/common/codec/peering_codec.hpp"
#include "services/common/codec/site_codec.hpp"

namespace zbs::sqlite {
namespace {

using codec::Json;
using Query = Database::Query;

/// All records of one kind, in the common table.
template <class Record>
class SqliteRecordTable : public RecordTable<Record> {
  public:
    using Decode = Result<Record> (*)(const Json&);
    SqliteRecordTable(std::shared_ptr<Database> database, const char* kind, Decode decode)
        : database_(std::move(database)), kind_(kind), decode_(decode) {}

    Result<void> save(const Record& record) override {
        Query query(*database_,
                    "INSERT INTO record(kind, key, value) VALUES(?,?,?) ON CONFLICT(kind, key) DO UPDATE SET "
                    "value=excluded.value");
        query.bind(kind_).bind(key_of(record)).bind(codec::dump(codec::encode(record)));
        return finish(query);
    }
    Result<void> remove(const std::string& key) override {
        Query query(*database_, "DELETE FROM record WHERE kind=? AND key=?");
        query.bind(kind_).bind(key);
        return finish(query);
    }
    Result<std::vector<Record>> load() override {
        Query query(*database_, "SELECT key, value FROM record WHERE kind=? ORDER BY key");
        query.bind(kind_);
        std::vector<Record> all;
        for (;;) {
            const Result<bool> row = query.step();
            if (!row) return row.error();
            if (!*row) return all;
            const Result<Json> json = codec::parse(query.text(1));
            if (!json) return unreadable(query.text(0), json.error());
            Result<Record> record = decode_(*json);
            if (!record) return unreadable(query.text(0), record.error());
            all.push_back(*std::move(record));
        }
    }

  private:
    static Result<void> finish(Query& query) {
        const Result<bool> step = query.step();
        if (!step) return step.error();
        return {};
    }
    Error unreadable(const std::string& key, const Error& error) const {
        return {ErrorCode::kInternal,
                std::string("the database holds a ") + kind_ + " ('" + key +
                    "') that this version cannot read: " + error.message + "; restore the database from a backup",
                error.pointer};
    }

    std::shared_ptr<Database> database_;
    const char* kind_;
    Decode decode_;
};

class SqliteSiteStore : public SiteStore {
  public:
    explicit SqliteSiteStore(const std::shared_ptr<Database>& database)
        : database_(database),
          members_(database, "member", codec::decode_member),
          blocks_(database, "block", codec::decode_block),
          trusted_(database, "trusted organisation", codec::decode_trusted_organisation),
          delegations_(database, "delegation", codec::decode_delegation),
          peerings_(database, "peering", codec::decode_peering_record),
          pool_leases_(database, "pool lease", codec::decode_pool_lease) {}

    RecordTable<Member>& members() override { return members_; }
    RecordTable<Block>& blocks() override { return blocks_; }
    RecordTable<TrustedOrganisation>& trusted() override { return trusted_; }
    RecordTable<Delegation>& delegations() override { return delegations_; }
    RecordTable<PeeringRecord>& peerings() override { return peerings_; }
    RecordTable<PoolLease>& pool_leases() override { return pool_leases_; }

    Result<std::uint64_t> next_number(const std::string& name) override {
        Query query(*database_,
                    "INSERT INTO counter(name, value) VALUES(?,1) ON CONFLICT(name) DO UPDATE SET value=value+1 "
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
    SqliteRecordTable<Member> members_;
    SqliteRecordTable<Block> blocks_;
    SqliteRecordTable<TrustedOrganisation> trusted_;
    SqliteRecordTable<Delegation> delegations_;
    SqliteRecordTable<PeeringRecord> peerings_;
    SqliteRecordTable<PoolLease> pool_leases_;
};

}  // namespace

const char* const kRecordSchema =
    "CREATE TABLE record(kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(kind, key)) WITHOUT "
    "ROWID";

std::unique_ptr<SiteStore> make_site_store(std::shared_ptr<Database> database) {
    return std::make_unique<SqliteSiteStore>(database);
}

}  // namespace zbs::sqlite
