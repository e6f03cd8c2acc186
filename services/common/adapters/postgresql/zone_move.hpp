#pragma once
#include <string>
#include <vector>

#include "services/common/adapters/postgresql/connection.hpp"
#include "services/common/adapters/sql/zone_copy.hpp"

namespace zbs::postgresql {

/// Takes in a zone whose database and audit log are elsewhere, with its state folder's id, in one transaction: all is
/// there afterwards, or nothing is but empty tables. Errors: as of opening a zone's database; kConflict for a schema
/// that holds a zone; a value that PostgreSQL cannot keep (text with NUL), with its table. O(rows).
Result<std::vector<sql::CopiedTable>> take_in_zone(const Address& address, sql::Database& zone, sql::Database& audit,
                                                   const std::string& folder_id);

}  // namespace zbs::postgresql
