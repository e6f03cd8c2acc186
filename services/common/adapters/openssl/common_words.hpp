#pragma once
#include <string>
#include <utility>

#include "algorithms/base/result.hpp"
#include "services/common/messages/names/identity.hpp"

namespace zbs::openssl {

inline Error denied(std::string message) { return {ErrorCode::kDenied, std::move(message), {}}; }

}  // namespace zbs::openssl
