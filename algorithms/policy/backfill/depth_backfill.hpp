#pragma once
#include "algorithms/policy/backfill/easy_backfill.hpp"
#include "algorithms/policy/backfill/running_profile.hpp"
#include "algorithms/policy/backfill/start_bounds.hpp"

namespace zbs {

/// Backfilling with a number of reservations, made anew in every plan: the first `depth` jobs of the queue that cannot
/// start have one, and any other job may start that delays none of them. Depth 0 is list scheduling (jobs may starve),
/// depth 1 is EASY, unlimited depth is conservative without memory: a reservation can move back when an earlier job's
/// moves forward. With depth 1 or more the head cannot starve.
///
/// A plan costs O((jobs with a reservation + jobs that fit into the free processors) log jobs) and a walk along the
/// queue.
class DepthBackfill final : public Policy {
  public:
    static constexpr std::size_t kUnlimited = ~std::size_t{0};
    DepthBackfill(std::size_t depth, BackfillOrder order) : depth_(depth), order_(order) {}
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;

  private:
    std::size_t depth_;
    BackfillOrder order_;
    RunningProfile running_;
};

}  // namespace zbs
