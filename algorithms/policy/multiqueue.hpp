#pragma once
#include <vector>

#include "algorithms/policy/backfill/running_profile.hpp"

namespace zbs {

/// Multiple-queue backfilling [LawsonSmirni2002]: jobs queue by walltime, each queue owns a partition of the machine,
/// and short jobs do not queue behind long ones. In every queue the first job that cannot start is promised the
/// earliest start, and others may start that delay no promise. Promises stand: no job starves.
///
/// Partitions are disjoint as in [ShmueliFeitelson2005, section 2], unless `borrow` lets every queue use all that is
/// idle, as the first source does. On one case both are silent: a job wider than the partition of its queue goes to the
/// first queue of longer jobs that is wide enough, and where none is, it spans the partitions.
///
/// A plan costs O((promises + running jobs + jobs that fit into the free processors) log jobs) and a walk along the
/// queue.
class Multiqueue final : public Policy {
  public:
    struct Options {
        std::vector<Duration>
            bounds;  ///< ascending: queue i takes walltimes up to bounds[i]; one more queue has the rest
        std::vector<double> shares;  ///< of the processors, one a queue, > 0; scaled to sum 1
        bool borrow = false;         ///< true: queues, but no partitions; only promises keep jobs apart
    };
    /// Precondition: shares.size() == bounds.size() + 1.
    explicit Multiqueue(const Options& options);
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;

    /// The partitions of a machine: the shares rounded to whole processors, sum kept.
    std::vector<std::int32_t> partitions(std::int32_t processors) const;

  private:
    Options options_;
    RunningProfile running_;
};

}  // namespace zbs
