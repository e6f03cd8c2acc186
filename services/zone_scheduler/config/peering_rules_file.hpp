#pragma once
#include <vector>

#include "services/common/adapters/system/config_file.hpp"
#include "services/common/ports/trust.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"
#include "services/zone_scheduler/trust/site_policy/grid_mapfile.hpp"
#include "services/zone_scheduler/trust/site_policy/site_names.hpp"

namespace zbs {

/// What a rule is checked against.
struct RuleChecks {
    const SiteNames& site;
    const TrustBundles* trust = nullptr;  ///< null: bundles are taken unseen
};
/// The `[[peering]]` tables of a zone's file into `zone.rules`; a relative `bundle` lies beside the file. Needs the
/// machines, because an unnamed number of processors means all of them. Faults are remembered in `file`: a rule that
/// could never fit anybody, or names what is not there, is one.
void read_peering_rules(system::ConfigFile& file, const RuleChecks& checks, ZoneConfig& zone);

/// The `[[ask]]` tables into `zone.asks`; a relative `bundle` lies beside the file. `trust` as above.
void read_asks(system::ConfigFile& file, const TrustBundles* trust, ZoneConfig& zone);

/// The file that `account_map` names into `zone.accounts`.
void read_account_map(system::ConfigFile& file, ZoneConfig& zone);

/// The files that the `[[grid_mapfile]]` tables name, by organisation; `own` where a table names none.
std::vector<GridUsers> read_grid_mapfiles(system::ConfigFile& file, const OrganisationName& own);

}  // namespace zbs
