#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/peering.hpp"

namespace zbs {

/// Windows as people write them, UTC: "18:00-08:00", several with commas; one over midnight becomes two, and each
/// counts for its own day: with "mon", "22:00-06:00" is Monday until 6:00 and Monday from 22:00. Errors show the form.
Result<std::vector<DayWindow>> parse_hours(std::string_view text);

/// Days as people write them: "mon-fri", "sat,sun"; a span may go over Sunday.
Result<std::uint8_t> parse_weekdays(std::string_view text);

/// Back to text: "18:00-24:00,00:00-08:00", "mon,tue"; "all day" and "every day" where nothing is left out.
std::string hours_text(const std::vector<DayWindow>& hours);
std::string weekdays_text(std::uint8_t weekdays);

}  // namespace zbs
