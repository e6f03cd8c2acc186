#pragma once
#include "algorithms/gang/lazy_gang.hpp"
#include "algorithms/policy/policy.hpp"

namespace zbs {

/// Lazy gang scheduling as on the Cray T3D of Livermore [DaSilva2000, section 3.3]: jobs keep their processors until
/// somebody has waited longer than his class of job may; then running jobs of least priority are preempted to make
/// room, and go on later where they stopped. Whoever waits comes to be overdue, and overdue jobs come first: none
/// starves.
///
/// A plan costs O(n log n) in waiting and running jobs.
class LazySwitching final : public Policy {
  public:
    struct Options {
        gang::LazyOptions lazy;  ///< memory in GiB
        /// A job of at most this walltime counts as a debugging run; one of queue 0 as interactive, which is what the
        /// Standard Workload Format uses that number for; all others as batch.
        Duration debug_walltime = std::chrono::minutes{30};
    };
    explicit LazySwitching(const Options& options) : options_(options) {}
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;
    Needs needs() const override { return {.stops = true}; }

  private:
    Options options_;
};

}  // namespace zbs
