#pragma once
#include <string>

#include "services/common/codec/records/audit_codec.hpp"

namespace zbs::codec {

/// "2026-03-01T12:00:00Z"; "-" for a time that no calendar has.
std::string utc_text(Time at);

/// What `audit verify` prints of a log that is whole. `against_head`: an earlier head was given, so that its end was
/// checked, too; else it says that it was not.
std::string audit_summary_text(const AuditSummary& summary, const std::string& head, bool against_head);
/// The same for programs.
Json audit_summary(const AuditSummary& summary, const std::string& head, bool against_head);

}  // namespace zbs::codec
