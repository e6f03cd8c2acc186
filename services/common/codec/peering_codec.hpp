#pragma once
#include "services/common/codec/json/json.hpp"
#include "services/common/messages/peering.hpp"
#include "services/common/messages/site.hpp"

/// Peerings: rights, what is stored, and what operators want; one encode / decode pair each.
namespace zbs::codec {

Json encode(const PeeringRights& rights);
Json encode(const RightsRange& range);
Result<RightsRange> decode_rights_range(const Json& json, const std::string& pointer = {});
Json encode(const PeeringRecord& record);
Result<PeeringRecord> decode_peering_record(const Json& json);
Json encode(const PeeringChange& change);
Result<PeeringChange> decode_peering_change(const Json& json);
Json encode(const PoolLease& lease);
Result<PoolLease> decode_pool_lease(const Json& json);

/// Days as a list of "mon" .. "sun"; bit 0 is Monday.
Json encode_weekdays(std::uint8_t weekdays);

}  // namespace zbs::codec
