#pragma once
#include <set>

#include "services/zone_scheduler/peer/part_service.hpp"

namespace zbs {

/// Which promises count.
struct PartService::Promised {
    const ProcessorCalendar::Interval& when;
    const std::set<PartId>& without;
    bool by_estimate;  ///< as they have ended lately, not as they may
};

}  // namespace zbs
