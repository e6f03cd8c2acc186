#pragma once
#include <vector>

#include "algorithms/model/coscheduling.hpp"
#include "algorithms/policy/policy.hpp"

namespace zbs {

/// SCOJO, share-based coscheduling [Huang2004, chapter 5]: every job has all processors of the site, and a share of
/// each. Up to `level` jobs run at once if the estimator finds that they do not slow each other down too much. Waiting
/// jobs go by class (the shorter, the higher) and age; later ones may be backfilled if they delay nobody ahead. A job
/// alone gets everything; a job with a start reserved in advance gets it, and its share, to the microsecond, as long as
/// nobody is slowed down more than `worst_slowdown`. Where somebody is, a reserved start is still kept, by cutting the
/// shares of others, the youngest first.
///
/// Where the source is silent: shares of running jobs count with the most they can make use of, those of newcomers with
/// the least they ask for, in admission and in estimated ends; with that the published example comes out in its order.
/// A reservation counts with the longest that running jobs can take. One that cannot be kept when it arrives is
/// promised the earliest start that can be.
///
/// Without aging, low classes may starve; with it each job reaches the highest class and its turn. A plan costs
/// O(waiting-jobs x (lookahead + level)).
class Scojo final : public Policy {
  public:
    enum class Expand : std::uint8_t {
        kAlone,  ///< only a job alone gets more than the most it asks for
        kAll,    ///< what nobody else can use goes to the running jobs in proportion
    };
    struct Options {
        std::int32_t level = 3;  ///< most jobs at once, 1 .. 16
        /// Share of jobs that ask for none, per cent; 0: 100 / level. Its most is the same.
        std::int32_t share = 0;
        bool priority = true;  ///< order by class and age; false: of arrival
        bool backfill = true;
        /// Most jobs of the lowest class that are coscheduled with each other; 0: as many as the level allows. The
        /// source does not say; in its example the second long job starts when the first one ends.
        std::int32_t longest_together = 0;
        Expand expand = Expand::kAlone;
        /// Largest walltimes of the special, short and medium class (priorities 15, 10, 5); the others are long (0).
        std::vector<Duration> classes{std::chrono::seconds{10}, std::chrono::seconds{30}, std::chrono::seconds{60}};
        Duration age{};             ///< a job goes up a class each time it has waited that long; 0: never
        double worst_slowdown = 2;  ///< sets in which one job suffers more are not coscheduled
        std::size_t lookahead = 50;
        CoschedulingModel estimator = CoschedulingModel::by_count({1.0, 1.2, 1.3});
    };
    explicit Scojo(const Options& options) : options_(options) {}
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;
    ZoneState::Sharing sharing() const override { return ZoneState::Sharing::kShare; }
    Needs needs() const override { return {.level = options_.level}; }

    /// The share that makes a job progress as if it had `share` alone: SH_eff = SH_req x slowdown [Huang2004, section
    /// 5.5].
    static double effective_share(double share, double slowdown) { return share * slowdown; }
    /// Of a job that asks for none where up to `level` jobs share, per cent. Precondition: level >= 1.
    static std::int32_t default_share(std::int32_t level) { return 100 / level; }

  private:
    struct Member;
    class Making;

    Options options_;
};

}  // namespace zbs
