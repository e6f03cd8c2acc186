#pragma once
#include "algorithms/policy/backfill/running_profile.hpp"

namespace zbs {

/// Selective reservations [SrinivasanEtAl2002]: only jobs that have waited so long that their expected slowdown,
/// (wait + walltime) / walltime, exceeds a threshold have a reservation; any other job may start that delays none of
/// these. Reservations are made anew in every plan, those promised earlier first, so that none moves back. The expected
/// slowdown of a waiting job grows for ever: no job starves.
///
/// A plan costs O((jobs with a reservation + jobs that fit into the free processors) log jobs) and a walk along the
/// queue.
class Selective final : public Policy {
  public:
    /// `threshold` >= 1; 1 gives every job that does not start at once a reservation.
    explicit Selective(double threshold) : threshold_(threshold) {}
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;

  private:
    double threshold_;
    RunningProfile running_;
};

}  // namespace zbs
