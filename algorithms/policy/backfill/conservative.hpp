#pragma once
#include <limits>
#include <vector>

#include "algorithms/policy/backfill/capacity_profile.hpp"
#include "algorithms/policy/policy.hpp"

namespace zbs {

/// Conservative backfilling [FeitelsonWeil1998; MualemFeitelson2001, section 2]: every job is promised a start when it
/// arrives, at the earliest instant that delays no earlier promise. When a job ends before its walltime the schedule is
/// compressed: every waiting job, in the order of arrival, is promised again at the earliest instant, which is never
/// later than before. No job starves and none starts after its first promise, unless processors leave the zone or a job
/// overruns its walltime.
///
/// Promises live in the zone's records; the profile of free processors and two indexes are made anew from there when
/// needed.
///
/// Cost: O(log jobs) for a submission or an end, plus the searches for room of those waiting jobs that could move. A
/// job can move only into a stretch that begins before the last instant at which capacity has been given back since it
/// was looked at last, and only where the most processors free before its promised start are as many as it needs; all
/// others are passed over with one comparison, whole blocks of them where even the smallest job is too large. Of n jobs
/// that wait at once most move after each end, 96 of 100 of 2,500 jobs at time 0: the time of all plans grows faster
/// than n^2, because a search passes more leaves of the profile the more jobs wait.
class Conservative final : public Policy {
  public:
    Conservative() : profile_(Time{}, 0) {}
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;

  private:
    /// A waiting job in the order of arrival.
    struct Promised {
        std::uint64_t arrival;
        Duration walltime;
        Time reserved;
        std::uint64_t order;  ///< of the promise
        std::int32_t processors;
        JobHandle handle;
        std::uint64_t key() const { return arrival; }
    };
    struct PromisedSummary {
        std::int32_t least_processors = std::numeric_limits<std::int32_t>::max();
        void include(const Promised& job) { least_processors = std::min(least_processors, job.processors); }
        bool exclude(const Promised& job) const { return job.processors > least_processors; }
    };
    /// A promise in the order in which promised starts come. It is stale where the job has started or moved since.
    struct Due {
        Time reserved;
        std::uint64_t order;
        std::uint64_t arrival;
        bool operator>(const Due& other) const {
            return reserved != other.reserved ? reserved > other.reserved : order > other.order;
        }
    };
    /// From `from` on, until the next step, the most processors free since the start of the plan.
    struct Stair {
        Time from;
        std::int32_t most_free;
    };

    void rebuild(const ZoneSnapshot& zone, Plan& plan);
    void promise_again(const ZoneSnapshot& zone, Plan& plan);
    void follow(const ZoneSnapshot& zone);
    void promise(const ZoneSnapshot& zone, const WaitingJob& job, Plan& plan);
    void compress(const ZoneSnapshot& zone, Plan& plan);
    void find_stairs(Time now, Time until);
    std::int32_t most_free_before(Time at) const;
    void add_promise(const Promised& job);
    void note_due(const Promised& job);
    const Promised* next_due();
    void pop_due();
    void start_due(const ZoneSnapshot& zone, Plan& plan);

    CapacityProfile profile_;
    SortedBlocks<Promised, PromisedSummary> promised_;
    std::vector<Due> due_;  ///< min-heap, with stale entries
    IndexAge age_;
    std::uint64_t next_order_ = 0;
    std::uint64_t next_arrival_ = 0;  ///< jobs from here on have no promise yet
    /// Until when capacity has been given back that not every waiting job has been tried on; kNever: anywhere.
    Time given_back_until_ = kNever;
    std::vector<Stair> stairs_;  ///< scratch of one compression
};

}  // namespace zbs
