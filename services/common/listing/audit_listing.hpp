#pragma once
#include <cstdint>
#include <functional>

#include "services/common/codec/records/audit_codec.hpp"
#include "services/common/listing/rows.hpp"

namespace zbs::listing {

/// Entries of a log of decisions as rows.
Listing audit_listing(const codec::AuditPage& page);

/// A page of the log behind entry `after`, its first entry at least.
using AskAudit = std::function<Result<codec::AuditPage>(std::uint64_t after)>;
/// The last entry before `since`, 0 where there is none: entries behind it are from then on, but for clocks that were
/// put back. Asks as often as the length of the log has binary digits, and once more. Errors: those of `ask`.
Result<std::uint64_t> last_entry_before(Time since, const AskAudit& ask);

}  // namespace zbs::listing
