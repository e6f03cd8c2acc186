#pragma once
#include <string>
#include <vector>

#include "services/common/adapters/sql/zone_copy.hpp"
#include "services/zone_scheduler/adapters/postgresql/lease.hpp"

namespace zbs::postgresql {

struct ZoneMove {
    std::string folder_id;  ///< of the zone's state folder
    LeaseOptions lease;     ///< of whoever moves it
};

/// Takes in a zone whose database and audit log are elsewhere, with its state folder's id, in one transaction: all is
/// there afterwards, or nothing is but empty tables. It has the schema's lease meanwhile, so no scheduler begins and no
/// other move. Errors: as of `Lease::take` and of opening a zone's database; kConflict for a schema that holds a zone,
/// or goes with a state folder; a value that PostgreSQL cannot keep (text with NUL), with its table. O(rows).
Result<std::vector<sql::CopiedTable>> take_in_zone(const Address& address, sql::Database& zone, sql::Database& audit,
                                                   const ZoneMove& move);

}  // namespace zbs::postgresql
