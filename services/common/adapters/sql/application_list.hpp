#pragma once
#include <string>
#include <vector>

#include "services/common/adapters/sql/database.hpp"
#include "services/common/ports/zone_store.hpp"

namespace zbs::sql {

/// The statement for a page of applications. For each choice of owner and one state an index has the rows in the order
/// of the list, so no database reads more of them than it gives; of several states each is read so, a page of it at
/// most.
std::string application_list_sql(const ApplicationQuery& wanted);
/// Binds what it asks for.
void bind_application_list(Query& query, const ApplicationQuery& wanted);

/// `ZoneStore::list_applications`.
Result<std::vector<ApplicationSummary>> list_applications(Database& database, const ApplicationQuery& wanted);

}  // namespace zbs::sql
