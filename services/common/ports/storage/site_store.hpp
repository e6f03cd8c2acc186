#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/peering.hpp"
#include "services/common/messages/site.hpp"
#include "services/common/ports/storage/record_table.hpp"

namespace zbs {

/// What a zone keeps of its organisation and of whom it trusts. Lives on the domain's strand.
class SiteStore {
  public:
    virtual ~SiteStore() = default;
    virtual RecordTable<Member>& members() = 0;
    virtual RecordTable<Block>& blocks() = 0;
    virtual RecordTable<AnnouncedBlocks>& announced_blocks() = 0;
    virtual RecordTable<TrustedOrganisation>& trusted() = 0;
    virtual RecordTable<Delegation>& delegations() = 0;
    virtual RecordTable<PeeringRecord>& peerings() = 0;
    virtual RecordTable<PoolLease>& pool_leases() = 0;
    /// A number that this name has never given before, not even before a restart; from 1.
    virtual Result<std::uint64_t> next_number(const std::string& name) = 0;
};

}  // namespace zbs
