#pragma once
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace zbs {

/// A span of time as people write it: 90, 90s, 200ms, 15m, 1h30m, 2d, HH:MM:SS, MM:SS; at most 366 days. Errors name
/// what is accepted.
Result<Duration> parse_duration(const std::string& text);

/// "2d3h", "1h30m", "45s", "0.25s": the two largest units, which `parse_duration` reads again.
std::string format_duration(Duration time);

}  // namespace zbs
