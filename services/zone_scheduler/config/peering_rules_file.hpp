#pragma once
#include <string>
#include <vector>

#include "services/common/adapters/system/config_file.hpp"
#include "services/zone_scheduler/domain/zone_config.hpp"
#include "services/zone_scheduler/site_policy/grid_mapfile.hpp"

namespace zbs {

/// The `[[peering]]` tables of a zone's file into `zone.rules`; a relative `bundle` lies beside the file. Needs the
/// machines, because an unnamed number of processors means all of them. Faults are remembered in `file`.
void read_peering_rules(system::ConfigFile& file, const std::string& path, ZoneConfig& zone);

/// The `[[ask]]` tables into `zone.asks`; a relative `bundle` lies beside the file.
void read_asks(system::ConfigFile& file, const std::string& path, ZoneConfig& zone);

/// The file that `account_map` names into `zone.accounts`.
void read_account_map(system::ConfigFile& file, const std::string& path, ZoneConfig& zone);

/// The files that the `[[grid_mapfile]]` tables name, by organisation; `own` where a table names none.
std::vector<GridUsers> read_grid_mapfiles(system::ConfigFile& file, const std::string& path, const std::string& own);

}  // namespace zbs
