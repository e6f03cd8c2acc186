#pragma once
#include <string>
#include <utility>

#include "algorithms/base/result.hpp"
#include "services/common/messages/identity.hpp"

namespace zbs::openssl {

/// Programs have their names in certificates beside people: a zone or a registry.
inline bool is_service(CallerKind kind) { return kind == CallerKind::kZone || kind == CallerKind::kRegistry; }

inline Error denied(std::string message) { return {ErrorCode::kDenied, std::move(message), {}}; }

}  // namespace zbs::openssl
