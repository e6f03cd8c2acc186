#pragma once
#include <optional>
#include <string>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/common/messages/peering.hpp"
#include "services/common/messages/registry.hpp"
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

/// How a zone and its registry stand.
struct RegistryStanding {
    std::string url;
    bool enrolled = false;
    std::string reason;      ///< why it is not; empty: it is, or no answer came yet
    Duration clock_ahead{};  ///< of the registry; zero: no difference is proved
    std::optional<RivalClaim> rival{};
    bool operator==(const RegistryStanding&) const = default;
};
/// The answer of `/readyz` of a zone.
Json encode_ready(const std::optional<RegistryStanding>& registry);
/// `{"peers": [...], "peerings": [...]}`, where the peerings are as much as the reader is shown of each.
Json encode_peer_list(const std::vector<Peer>& peers, Json peerings, const std::optional<RegistryStanding>& registry);
/// The registry of either answer, none if it has none. Any value is accepted: a member that is absent or of another
/// type gives the default.
std::optional<RegistryStanding> decode_registry_standing(const Json& answer);

/// Days as a list of "mon" .. "sun"; bit 0 is Monday.
Json encode_weekdays(std::uint8_t weekdays);

}  // namespace zbs::codec
