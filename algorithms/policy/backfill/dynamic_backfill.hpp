#pragma once
#include "algorithms/policy/backfill/running_profile.hpp"

namespace zbs {

/// Dynamic backfilling [ShmueliFeitelson2005, section 2]: as EASY, but the head's reservation may be overruled by a job
/// that fills much of the machine, if that delays the head only slightly. The head starts no later than its first
/// reservation plus the largest delay: it cannot starve.
///
/// A plan costs O((jobs that fit into the free processors) log jobs) and a walk along the queue.
class DynamicBackfill final : public Policy {
  public:
    struct Options {
        Duration max_delay{};  ///< of the head beyond its first reservation, >= 0
        double gain = 0;       ///< share of the machine that a job must fill to overrule, 0 .. 1
    };
    explicit DynamicBackfill(const Options& options) : options_(options) {}
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;

  private:
    Options options_;
    RunningProfile running_;
};

}  // namespace zbs
