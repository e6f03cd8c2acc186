#pragma once
#include "services/common/messages/peering.hpp"

namespace zbs {

/// What an operator grants who names nothing: the whole zone, 24 hours, at any time, accounts by the map; at trust 0 a
/// tenth of it, rounded up.
RightsRange default_rights(int zone_processors);

/// `range` with the named fields changed. A floor that is not named becomes a tenth (rounded up) of a ceiling that is,
/// and stays otherwise. The outcome may be bad: see `check_rights`.
RightsRange apply(RightsRange range, const RightsChange& change);

}  // namespace zbs
