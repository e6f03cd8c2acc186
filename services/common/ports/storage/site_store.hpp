#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/peering.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/messages/site.hpp"

namespace zbs {

/// Whole records of one kind under their `key_of`. Durable as `ZoneStore` says; a failed call has changed nothing.
template <class Record>
class RecordTable {
  public:
    virtual ~RecordTable() = default;
    virtual Result<void> save(const Record& record) = 0;      ///< inserts or replaces
    virtual Result<void> remove(const std::string& key) = 0;  ///< also good where there is none
    virtual Result<std::vector<Record>> load() = 0;           ///< by key
};

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

/// What the registry keeps. Lives on the domain's strand.
class RegistryStore {
  public:
    virtual ~RegistryStore() = default;
    virtual RecordTable<EnrolledZone>& zones() = 0;
    virtual RecordTable<EnrolmentRight>& rights() = 0;
    virtual RecordTable<TrustedOrganisation>& organisations() = 0;
};

}  // namespace zbs
