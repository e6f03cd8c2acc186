#pragma once
#include <string>

#include "services/common/codec/json/json.hpp"

namespace zbs::zone_program {

/// What `GET /v1/peerings/ORGANISATION` (or a change) answered, for people: units at every number, instants in UTC.
/// Texts of other zones cannot drive a terminal.
std::string peerings_text(const codec::Json& answer);

/// What `GET /v1/peerings` answered, likewise, as two tables: a line per organisation and bundle, a line per zone.
/// `format`: table or wide.
std::string peer_list_text(const codec::Json& answer, std::string_view format);

}  // namespace zbs::zone_program
