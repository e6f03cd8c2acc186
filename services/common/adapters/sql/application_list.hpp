#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/common/adapters/sql/database.hpp"
#include "services/common/ports/storage/application_store.hpp"

namespace zbs::sql {

/// The statement for a page of applications. For each choice of owner and one state an index has the rows in the order
/// of the list, so no database reads more of them than it gives; of several states each is read so, a page of it at
/// most.
std::string application_list_sql(const ApplicationQuery& wanted);
/// Binds what it asks for.
void bind_application_list(Query& query, const ApplicationQuery& wanted);

/// `ApplicationStore::list_applications`.
Result<std::vector<ApplicationSummary>> list_applications(Database& database, const ApplicationQuery& wanted);

/// The statement for the counts, of everybody's or of one owner's (`?`, the time, and the owner again). It reads what
/// is open and what has ended lately, and no index of states or owners, which have all.
std::string application_count_sql(bool of_one_owner);

/// `ApplicationStore::count_applications`.
Result<std::map<ApplicationState, std::size_t>> count_applications(Database& database,
                                                                   const std::optional<Caller>& owner,
                                                                   Time ended_after);

}  // namespace zbs::sql
