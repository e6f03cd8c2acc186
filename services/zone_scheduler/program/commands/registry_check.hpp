#pragma once
#include <optional>

#include "services/common/adapters/command_line/check.hpp"
#include "services/common/codec/json/json.hpp"

namespace zbs::zone_program {

/// The state of the enrolment, from the answer to GET /v1/peerings or /readyz, with the remedy for its fault; none for
/// a zone without a registry.
std::optional<command_line::Check> check_registry(const codec::Json& answer);

}  // namespace zbs::zone_program
