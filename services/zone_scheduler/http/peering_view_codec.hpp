#pragma once
#include <string>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/zone_scheduler/trust/peering_service.hpp"

/// Replies of a zone about its peerings.
namespace zbs::codec {

/// For users of the own organisation: that there is a peering, not what was granted.
Json encode_short(const std::vector<PeeringService::View>& peerings);
/// For operators.
Json encode_full(const std::vector<PeeringService::View>& peerings);

/// One organisation; the peerings are encoded for the caller, by one of the two above.
Json encode_organisation(const OrganisationName& organisation, Json peerings, const std::vector<Peer>& peers);
/// The answer to a change.
Json encode_changed(const OrganisationName& organisation, Json peerings, const std::vector<std::string>& notes);
/// The answer to a removal.
Json encode_forgotten(const OrganisationName& organisation);

}  // namespace zbs::codec
