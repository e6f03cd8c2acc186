#pragma once
#include <vector>

#include "algorithms/policy/backfill/start_bounds.hpp"
#include "algorithms/policy/policy.hpp"

namespace zbs {

/// Free processors of one plan in the making, for policies whose promises stand until the job starts.
///
/// Promises are made again in the order of their instants, each as early as possible. None moves back by that: what was
/// placed before it begins no later than it did, so at its old instant and after as much is free as before.
class PlanInMaking {
  public:
    /// `running`: what running jobs leave free from `zone.now` on.
    PlanInMaking(const ZoneSnapshot& zone, const CapacityProfile& running, Plan& plan)
        : zone_(zone), plan_(plan), profile_(running), bounds_(zone.processors), free_(zone.free_processors) {}

    /// Starts the jobs promised earlier that can start now, and makes the other promises again. O(promises log jobs).
    void renew_promises();
    /// True where the job can start now without delaying a promise; then it is started.
    bool start_if_room(const WaitingJob& job);
    /// Promises the earliest start that delays no other promise, which may be now (then it starts); at the latest
    /// `slack` later.
    void promise(const WaitingJob& job, Duration slack = Duration::max());

    std::int32_t free_processors() const { return free_; }
    const CapacityProfile& profile() const { return profile_; }

  private:
    void start(const WaitingJob& job);

    const ZoneSnapshot& zone_;
    Plan& plan_;
    CapacityProfile profile_;
    StartBounds bounds_;
    std::int32_t free_;
};

}  // namespace zbs
