#pragma once
#include <vector>

#include "algorithms/policy/backfill/backfill_order.hpp"
#include "algorithms/policy/policy.hpp"

namespace zbs {

/// When the head of the queue can start if nothing is backfilled, and what it leaves free then.
struct Shadow {
    Time at = kNever;  ///< kNever: not before processors come back into service
    std::int32_t extra_processors = 0;
    bool operator==(const Shadow&) const = default;
};

/// Aggressive backfilling [Lifka1995; ShmueliFeitelson2005, section 2]: only the head of the queue, which is always the
/// oldest job, has a reservation; any other job may start if it does not delay the head, that is if it ends by the
/// shadow time or needs no more than the extra processors. The head cannot starve; others may be passed again and
/// again.
///
/// A plan costs O(jobs started + running jobs / 32 + blocks of the queue that a job could fit in).
class EasyBackfill final : public Policy {
  public:
    explicit EasyBackfill(BackfillOrder order) : order_(order) {}
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;

  private:
    struct Ranked {
        std::int64_t rank;
        std::uint64_t arrival;
        Duration walltime;
        std::int32_t processors;
        JobHandle handle;
        std::pair<std::int64_t, std::uint64_t> key() const { return {rank, arrival}; }
    };
    struct RankedSummary {
        std::int32_t least_processors = std::numeric_limits<std::int32_t>::max();
        Duration least_walltime = Duration::max();
        void include(const Ranked& job) {
            least_processors = std::min(least_processors, job.processors);
            least_walltime = std::min(least_walltime, job.walltime);
        }
        bool exclude(const Ranked& job) const {
            return job.processors > least_processors && job.walltime > least_walltime;
        }
    };
    struct Ending {
        Time at;
        std::int32_t processors;
    };

    void start(const ZoneSnapshot& zone, JobHandle handle, Plan& plan);
    Shadow find_shadow(const ZoneSnapshot& zone, std::int32_t free, std::int32_t needed);
    template <class Queue>
    void backfill(const ZoneSnapshot& zone, const Queue& queue, std::int32_t free, const Shadow& shadow,
                  std::uint64_t head, Plan& plan);
    void backfill_by_slowdown(const ZoneSnapshot& zone, std::int32_t free, const Shadow& shadow, std::uint64_t head,
                              Plan& plan);
    void follow(const ZoneSnapshot& zone);
    Ranked ranked(const ZoneSnapshot& zone, const WaitingJob& job) const;

    BackfillOrder order_;
    SortedBlocks<Ranked, RankedSummary> by_rank_;  ///< waiting jobs, for kEstimate and kPriority
    IndexAge age_;
    std::vector<Ending> just_started_;  ///< scratch of one plan
    std::vector<WaitingJob> candidates_;
};

}  // namespace zbs
