#pragma once
#include "algorithms/policy/policy.hpp"

namespace zbs::examples {

/// Whoever needs the fewest processors goes first; who has waited longer than `patience` goes before all others, in the
/// order of arrival, and is not passed, so that wide jobs do not starve. O(waiting jobs x log) a plan.
class NarrowFirst final : public Policy {
  public:
    explicit NarrowFirst(Duration patience) : patience_(patience) {}
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;

  private:
    Duration patience_;  ///< > 0
};

}  // namespace zbs::examples
