#pragma once

namespace zbs {
/// Writes the broken contract to standard error and aborts.
[[noreturn]] void contract_broken(const char* condition, const char* file, int line) noexcept;
}  // namespace zbs

/// A contract between our own functions: stops the program in every build when it is broken. Never on user input.
#define ZBS_EXPECTS(condition) \
    ((condition) ? static_cast<void>(0) : ::zbs::contract_broken(#condition, __FILE__, __LINE__))
