#pragma once
#include <memory>

#include "services/common/http/call.hpp"
#include "services/common/ports/http_client.hpp"
#include "services/zone_scheduler/peer/part_service.hpp"
#include "tests/simulation/timeline.hpp"

namespace zbs::simulation {

/// Faults planted around the ports of all zones. They show that the checks find such a fault.
enum class PlantedFault {
    kNone,
    kCommitWithoutSync,  ///< the disk confirms each sync and does none
    kNoFencing,          ///< a zone accepts any token
    kKeepRefusedHolds,   ///< a home gets its releases confirmed, and the zone never receives them
};

/// Replaces the token of a commit or launch by the one of the part.
void accept_any_token(http::Call& call, const PartService& parts);

/// Confirms releases of parts that it has not launched, and passes on all other calls to `inner`.
std::unique_ptr<HttpClient> without_releases(Host& host, std::unique_ptr<HttpClient> inner);

}  // namespace zbs::simulation
