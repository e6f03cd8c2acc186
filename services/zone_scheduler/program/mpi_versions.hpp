#pragma once
#include "services/zone_scheduler/records/zone_config.hpp"

namespace zbs::zone_program {

/// Asks the launchers of the zone for their versions, each for at most 5 s. The version of one that is not there, or
/// prints none, stays empty.
void find_mpi_versions(ZoneConfig& zone);

}  // namespace zbs::zone_program
