#pragma once
#include <string>

#include "services/common/codec/json/json.hpp"
#include "services/common/listing/rows.hpp"

/// What the zone answers an operator, as lists.
namespace zbs::zone_program {

/// What `GET /v1/peerings/ORGANISATION` (or a change) answered, for people: units at every number, instants in UTC.
/// Texts of other zones cannot drive a terminal.
std::string peerings_text(const codec::Json& answer);

/// What `GET /v1/peerings` answered, likewise, as two tables: a line per organisation and bundle, a line per zone.
/// `format`: table or wide.
std::string peer_list_text(const codec::Json& answer, std::string_view format);

/// Of `GET /v1/users`.
listing::Listing users_of(const codec::Json& answer);
/// Of `GET /v1/blocks`: those of this zone, then those that other zones announced (their items have `announced_by`).
listing::Listing blocks_of(const codec::Json& answer);
/// The places where tests make a service die, fail or stall.
listing::Listing failpoints();

}  // namespace zbs::zone_program
