#pragma once
#include <string>
#include <vector>

namespace zbs::postgresql {

/// The steps that make a zone's schema, oldest first; the n-th lifts it to version n. Append only.
const std::vector<std::string>& zone_schema();

/// Makes the table of the lease, which has to be there before anything else.
extern const char* const kLeaseSchema;

}  // namespace zbs::postgresql
