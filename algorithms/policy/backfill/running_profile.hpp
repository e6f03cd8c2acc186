#pragma once
#include "algorithms/policy/backfill/capacity_profile.hpp"
#include "algorithms/policy/policy.hpp"

namespace zbs {

/// The processors that running jobs leave free over time, if each runs to its walltime: where policies begin that make
/// all reservations anew in every plan.
class RunningProfile {
  public:
    RunningProfile() : profile_(Time{}, 0) {}
    /// Brought up to `zone` in O(log jobs) a change, or made anew. To be called once a plan.
    const CapacityProfile& follow(const ZoneSnapshot& zone);

  private:
    CapacityProfile profile_;
    IndexAge age_;
};

}  // namespace zbs
