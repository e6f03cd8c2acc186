#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/base/time.hpp"

namespace zbs {

/// A date and a time of day as somebody wrote them down.
struct WrittenTime {
    std::chrono::year_month_day date;            ///< exists; from 1970 to 9999
    std::optional<Duration> of_day{};            ///< none: only the day was written
    std::optional<std::chrono::minutes> east{};  ///< of UTC; none: not said
};

/// "2026-11-24", "2026-11-24 13:00", "2026-11-24T13:00:05.25Z", "2026-11-24T13:00:05+01:00"; nothing where it is none
/// of these. Of a fraction what is below a microsecond is left out; a leap second is the second behind it.
std::optional<WrittenTime> parse_written_time(std::string_view text);

/// The instant that RFC 3339 writes so: "2026-11-24T13:00:05Z", "2026-11-24T13:00:05.25+01:00"; seconds may be left
/// out. Nothing where it is none, or has no time of day or no offset.
std::optional<Time> parse_instant(std::string_view text);

/// RFC 3339, in UTC, to the microsecond. Precondition: from 1970 to 9999.
std::string format_instant(Time time);

}  // namespace zbs
