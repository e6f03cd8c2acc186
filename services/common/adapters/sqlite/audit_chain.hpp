#pragma once
#include <string>

#include "algorithms/base/result.hpp"
#include "services/common/ports/audit.hpp"

namespace zbs::sqlite {

/// `entry` as it is stored: every text through `printable_text`.
AuditEntry stored_form(const AuditEntry& entry);

/// SHA-256 over the hash before (64 digits), the number and the time (8 bytes each, big-endian), and every text with
/// its length before it (8 bytes), so that no two entries have the same bytes. Lower-case hexadecimal.
/// Errors: kInternal where OpenSSL gives none.
Result<std::string> chain_hash(const std::string& before, std::uint64_t number, const AuditEntry& entry);

}  // namespace zbs::sqlite
