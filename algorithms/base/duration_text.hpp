#pragma once
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace zbs {

/// A span of time as people write it: 90, 90s, 200ms, 15m, 1h30m, 2d, HH:MM:SS, MM:SS; at most 366 days. Errors name
/// what is accepted.
Result<Duration> parse_duration(const std::string& text);

}  // namespace zbs
