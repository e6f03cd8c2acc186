#pragma once
#include <string_view>

#include "services/common/adapters/sql/database.hpp"
#include "services/common/ports/storage/audit.hpp"

// A record of the audit log as a row. The log and the outbox have tables of the same columns: number, at_us, who,
// action, object, decision, request_id, detail, hash.

namespace zbs::sql {

/// `insert` is an INSERT with a place for each column. Errors: the database's; kConflict where the table refuses it.
Result<void> insert_audit_row(Database& database, std::string_view insert, const AuditRecord& record);

/// The row on which a query of all columns stands.
AuditRecord audit_record_of(const Query& row);

}  // namespace zbs::sql
