#pragma once
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace zbs {

/// A span of time as people write it: 90, 90s, 200ms, 15m, 15min, 1h30m, "1 h 30 min", 2d, 1w; HH:MM:SS, MM:SS; days
/// before a dash, D-HH, D-HH:MM, D-HH:MM:SS; ISO 8601 PT1H30M, P1DT12H, P1W (no months, no years: they have no one
/// length). At most 366 days, rounded to microseconds. Errors name what is accepted.
Result<Duration> parse_duration(const std::string& text);
/// The same with another limit.
Result<Duration> parse_duration_within(const std::string& text, int most_days);

/// "2d3h", "1h30m", "45s", "0.25s": the two largest units, which `parse_duration` reads again.
std::string format_duration(Duration time);

}  // namespace zbs
