#pragma once
#include <memory>

#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/database.hpp"

namespace zbs::sqlite {

/// The step of a schema that an outbox needs.
inline constexpr const char* kOutboxSchema =
    "CREATE TABLE audit_outbox(number INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, who TEXT NOT NULL, action TEXT NOT "
    "NULL, object TEXT NOT NULL, decision TEXT NOT NULL, request_id TEXT NOT NULL, detail TEXT NOT NULL, hash TEXT NOT "
    "NULL)";

/// AuditOutbox in a table of the service's own database. Over a database that was opened to be read it only loads.
std::unique_ptr<AuditOutbox> make_outbox(std::shared_ptr<Database> database);

}  // namespace zbs::sqlite
