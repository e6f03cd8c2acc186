#pragma once
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

}  // namespace zbs::codec
