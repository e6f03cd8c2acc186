#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/common/adapters/sql/audit_chain.hpp"
#include "services/common/ports/storage/audit.hpp"

namespace zbs::sqlite {

using sql::AuditBeginning;
using sql::parse_audit_head;
using sql::to_string;

/// AuditLog in its own SQLite file. Triggers refuse every change but appending, and each entry's hash covers all before
/// it, so whoever edits the file behind the triggers' back is found by `verify_audit_log`.
///
/// The first entry of a new log records that it begins, when, and whose it is. Errors: kConflict for a log that has
/// lost this entry: it was emptied.
///
/// What waits in `outbox` (which has to outlive the log) is taken over first: as it is where it goes on from the log's
/// end, else, because the log is another one now, as new entries behind it.
Result<std::unique_ptr<AuditLog>> open_audit_log(const std::string& path, const AuditBeginning& beginning,
                                                 sql::AuditOutbox* outbox = nullptr);

/// The steps that make the log's database, oldest first.
const std::vector<std::string>& audit_schema();

/// Reads the whole log without changing it, also while a service writes to it, and checks every link of the chain.
/// Errors: kConflict naming the first entry that was changed, removed, inserted or moved, and for a log without its
/// beginning; kUnavailable where the file cannot be read. Entries cut off the end, and a chain computed anew from some
/// entry on, show only against `expected`: a head noted earlier, of this length or shorter.
Result<AuditSummary> verify_audit_log(const std::string& path, const std::optional<AuditHead>& expected = std::nullopt);

}  // namespace zbs::sqlite
