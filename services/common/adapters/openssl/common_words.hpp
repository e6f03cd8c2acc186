#pragma once
#include <string>
#include <utility>

#include "algorithms/base/result.hpp"

namespace zbs::openssl {

inline Error denied(std::string message) { return {ErrorCode::kDenied, std::move(message), {}}; }
inline Error refused(std::string message) { return {ErrorCode::kUnauthenticated, std::move(message), {}}; }

}  // namespace zbs::openssl
