#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/mapping/mapper.hpp"
#include "algorithms/mapping/zone_planner.hpp"

namespace zbs {

/// Level 1 by the mapper of that name, a precondition being one of level1_names(). `auto` takes the best of `hier`,
/// `multilevel`, `metis` and `block`: the one with the least seconds of a step, which are the largest node occupancy
/// plus the link time of an average task; of equals the one with fewer bytes between zones. So it is never worse than
/// any of them. Where the mapper knows no clusters, what a zone gets is its cluster. `between` as for
/// map_clusters_to_zones(). Errors as there.
///
/// `last`: the zone of each task in an earlier plan, or empty. `auto` keeps that plan where it still fits and no other
/// is 2 % better, in seconds or in bytes, so that plans are stable from run to run.
Result<ZonePlan> map_to_zones(std::string_view mapper, const TaskGraph& graph, std::span<const ZoneAggregate> zones,
                              std::span<const Link> between, const MapOptions& options,
                              std::span<const std::int32_t> last = {});

/// `auto`, `hier`, `multilevel`, `metis`, `global`, `block`.
std::vector<std::string_view> level1_names();

}  // namespace zbs
