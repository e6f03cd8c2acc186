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

/// When an application starts, and the offers that its plan is made from.
struct StartOutline {
    std::vector<Offer> offers;           ///< as the zones answered
    std::vector<Offer> used;             ///< as they count for this start
    std::optional<Duration> start_in{};  ///< none: now, or when it is its turn in `queue`
    std::optional<QueueOffer> queue{};   ///< it waits in the queue of this zone
    bool may_queue = false;              ///< what one zone with a queue can hold goes through its queue
};

/// Now; else for the earliest common start, or to wait in the queue of one zone, whichever can be expected to be
/// earlier. Pure, and quick for any number of ranks. Errors: `make_plan`'s.
Result<StartOutline> choose_start(const ApplicationRequest& request, const std::vector<Offer>& offers,
                                  const MayWait& may_wait);

/// Which rank goes where. Pure; as long as `make_plan`, and without errors for an outline of this request.
Result<StartChoice> plan_start(const ApplicationRequest& request, const ProfileLibrary::Choice& model,
                               const StartOutline& outline);

}  // namespace zbs
