#include "services/common/adapters/sql/site_store.hpp"

#include "services/common/adapters/sql/record_table.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/common/codec/site_codec.hpp"

namespace zbs::sql {
namespace {

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

std::unique_ptr<SiteStore> make_site_store(std::shared_ptr<Database> database) {
    return std::make_unique<SqlSiteStore>(database);
}

}  // namespace zbs::sql
