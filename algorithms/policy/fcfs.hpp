#pragma once
#include "algorithms/policy/policy.hpp"

namespace zbs {

/// First come, first served: starts jobs in the order of arrival; where the first does not fit, nothing starts. No job
/// starves. O(jobs started).
class Fcfs final : public Policy {
  public:
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;
};

}  // namespace zbs
