#pragma once
#include "services/common/http/call.hpp"
#include "services/common/ports/storage/audit.hpp"

namespace zbs::http {

/// Entries of the audit log from behind the parameter `after`, 100 or `limit` of them. Errors: parameters that are
/// none.
Reply audit_reply(const Call& call, AuditLog& audit);

}  // namespace zbs::http
