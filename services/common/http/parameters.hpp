#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>

#include "services/common/http/call.hpp"
#include "services/common/ports/storage/audit.hpp"

namespace zbs::http {

/// Errors: a parameter that is none of `known`. A misspelt one must not be ignored: "dryrun=true" would submit.
Result<void> check_parameters(const Call& call, std::initializer_list<const char*> known);

/// The parameter, or `fallback` where it is not there. Errors: not a whole number >= 0.
Result<std::uint64_t> number_parameter(const Call& call, const char* name, std::uint64_t fallback);
/// The `{digest}` of the path. Errors: not 64 hexadecimal digits in small letters.
Result<std::string> digest_parameter(const Call& call);
std::string text_parameter(const Call& call, const char* name, const char* fallback);

/// Entries of the audit log from behind the parameter `after`, 100 or `limit` of them. Errors: parameters that are
/// none.
Reply audit_reply(const Call& call, AuditLog& audit);

}  // namespace zbs::http
