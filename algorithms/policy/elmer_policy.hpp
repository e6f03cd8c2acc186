#pragma once
#include "algorithms/elmer/virtual_clusters.hpp"
#include "algorithms/policy/policy.hpp"

namespace zbs {

/// Elmer: jobs share processors by priority, up to a degree of multiprogramming; first come, first served in the queue,
/// and first come, highest priority on the processors [Turner1995, chapter 6].
///
/// The slice matrix has the virtual clusters: earlier rows go first. Of jobs only the run time is known, so one that
/// runs leaves nothing of its processors to those below, which wait there until it ends; how much a real job leaves is
/// the matter of `run_time_shared_cluster`. A processor's CPU utilisation is therefore 1 while a job runs there, else
/// 0.
///
/// Starts come in the order of arrival, so all jobs get to run. Under the rules by arrival the oldest job always runs;
/// under the source's own a later job may go first.
///
/// The object keeps nothing: hosts are drawn from the seed and the job's place in the order of arrival. A plan costs
/// O((1 + starts) x (degree x processors + running jobs)).
class ElmerPolicy final : public Policy {
  public:
    struct Options {
        std::int32_t degree = 2;  ///< jobs that a processor may have, 1..VirtualClusters::kMaxDegree
        elmer::AllocationRule rule = elmer::AllocationRule::kArrival;
        double threshold = 0.8;  ///< of CPU utilisation, 0..1
        std::uint64_t seed = 1;  ///< of the choice of processors
    };
    explicit ElmerPolicy(const Options& options) : options_(options) {}
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;
    ZoneState::Sharing sharing() const override { return ZoneState::Sharing::kPriority; }
    Needs needs() const override { return {.level = options_.degree}; }
    Result<void> serves(std::int32_t processors) const override;

  private:
    Options options_;
};

}  // namespace zbs
