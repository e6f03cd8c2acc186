#pragma once
#include <cstddef>

#include "algorithms/formats/launchers/launch_request.hpp"
#include "services/common/codec/json/json.hpp"

namespace zbs::codec {

/// The PSI/J JobSpec in JSON of one zone of a launch (a JobSpec is for one site and homogeneous). The process count
/// always stands, node count and processes per node only where all hosts have equally many ranks: PSI/J refuses a
/// product that does not fit. Durations are whole seconds, because the reference reader loads fractions as 0.
/// custom_attributes `zbs.zone`, `zbs.zone_index`, `zbs.zone_count` and `zbs.ranks` say which part it is. Errors: as
/// check_zones and check_program, and text that is not UTF-8.
Result<Json> encode_psij(const formats::LaunchRequest& request, std::size_t zone);

/// A list of the JobSpecs of all zones. PSI/J's own reader takes one JobSpec, not a list.
Result<Json> encode_psij(const formats::LaunchRequest& request);

}  // namespace zbs::codec
