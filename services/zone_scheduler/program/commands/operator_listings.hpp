#pragma once

#include "services/common/listing/rows.hpp"

/// What the zone answers an operator, as lists.
namespace zbs::zone_program {

/// Of `GET /v1/users`.
listing::Listing users_of(const codec::Json& answer);
/// Of `GET /v1/blocks`: those of this zone, then those that other zones announced (their items have `announced_by`).
listing::Listing blocks_of(const codec::Json& answer);
/// The places where tests make a service die, fail or stall.
listing::Listing failpoints();

}  // namespace zbs::zone_program
