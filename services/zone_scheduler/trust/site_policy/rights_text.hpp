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

/// What an operator grants who names nothing: the whole zone, 24 hours, at any time, accounts by the map; at trust 0 a
/// tenth of it, rounded up.
RightsRange default_rights(int zone_processors);

/// `range` with the named fields changed. A floor that is not named becomes a tenth (rounded up) of a ceiling that is,
/// and stays otherwise. The outcome may be bad: see `check_rights`.
RightsRange apply(RightsRange range, const RightsChange& change);

}  // namespace zbs
