#pragma once
#include <string>

#include "services/common/codec/json/json.hpp"
#include "services/common/ports/storage/audit.hpp"

namespace zbs::codec {

/// A piece of the audit log, as an operator reads it.
struct AuditPage {
    std::vector<AuditRecord> records;
    AuditHead head;          ///< of the whole log
    std::uint64_t next = 0;  ///< number to go on after; 0: nothing follows now
    bool operator==(const AuditPage&) const = default;
};
Json encode(const AuditRecord& record);
Json encode(const AuditPage& page);
Result<AuditPage> decode_audit_page(const Json& json);
/// The fields of a request's body that the audit log keeps, "zone b, reason closed": those that name the object of the
/// call, as they were sent; never codes, keys or certificates. Any value is accepted.
std::string audited_fields(const Json& body);

/// "2026-03-01T12:00:00Z"; "-" for a time that no calendar has.
std::string utc_text(Time at);

/// What `audit verify` prints of a log that is whole. `against_head`: an earlier head was given, so that its end was
/// checked, too; else it says that it was not.
std::string audit_summary_text(const AuditSummary& summary, const std::string& head, bool against_head);
/// The same for programs.
Json audit_summary(const AuditSummary& summary, const std::string& head, bool against_head);

}  // namespace zbs::codec
