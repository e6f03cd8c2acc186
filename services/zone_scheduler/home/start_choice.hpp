#pragma once
#include <optional>
#include <vector>

#include "services/zone_scheduler/home/planner.hpp"
#include "services/zone_scheduler/home/profile_library.hpp"

namespace zbs {

/// How an application may wait that cannot start now.
struct MayWait {
    std::optional<StartRange> reserve{};  ///< for a common start in this range
    bool queue = false;                   ///< in the queue of one zone
};

/// A plan for now; else for the earliest common start, or to wait in the queue of one zone, whichever can be expected
/// to be earlier. What one zone with a queue can hold goes through its queue where that is allowed. Pure.
/// Errors: `make_plan`'s.
Result<StartChoice> choose_start(const ApplicationRequest& request, const ProfileLibrary::Choice& model,
                                 const std::vector<Offer>& offers, const MayWait& may_wait);

}  // namespace zbs
