#pragma once
#include "algorithms/policy/backfill/running_profile.hpp"
#include "algorithms/policy/backfill/start_bounds.hpp"

namespace zbs {

/// Slack-based backfilling [TalbyFeitelson1999]: every job is promised a start when it arrives and has a slack, the
/// delay beyond it that it may suffer, small for important jobs. A job may start early if all others can still start
/// within their slack. No job starves: each starts within its first promise plus its slack.
///
/// The source's cost functions are replaced by one rule: the first job in the order of arrival whose early start is
/// feasible starts. Feasible: the others, by the ends of their slacks, all find room in time.
///
/// A plan costs O(lookahead waiting-jobs log jobs); a trial that fails costs the jobs before the first that comes too
/// late. The time of all plans for n jobs at once grows as n^2.2, measured from 2,000 to 5,000 jobs.
class SlackBackfill final : public Policy {
  public:
    struct Options {
        double slack = 1;            ///< of a job of priority 0, in walltimes; divided by 1 + priority above that; >= 0
        std::size_t lookahead = 16;  ///< early starts tried a plan, at most
    };
    explicit SlackBackfill(const Options& options) : options_(options) {}
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;

  private:
    Options options_;
    RunningProfile running_;
};

}  // namespace zbs
