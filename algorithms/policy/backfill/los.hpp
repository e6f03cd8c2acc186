#pragma once
#include <span>
#include <vector>

#include "algorithms/policy/backfill/easy_backfill.hpp"
#include "algorithms/policy/backfill/running_profile.hpp"

namespace zbs {

/// A waiting job as the lookahead optimisation sees it.
struct LookaheadJob {
    std::int32_t processors = 1;    ///< >= 1
    bool runs_past_shadow = false;  ///< then it takes from the extra processors, too
};

/// The dynamic programs of LOS [ShmueliFeitelson2005, section 3]: which jobs make use of most processors now.
///
/// The source fills a table of jobs x capacity, or jobs x capacity x extra processors with a reservation. Both are sums
/// of subsets: jobs that end by the shadow time are limited by the capacity alone, the others by the extra processors
/// as well, and the two kinds meet in one sum only. So two sets of reachable sums for each prefix of the queue, one bit
/// a sum, hold the whole table. O(jobs x capacity / 64) to build, and O(jobs x distinct sums of long jobs) at most to
/// choose.
class LookaheadTable {
  public:
    /// Preconditions: capacity >= 0, 0 <= extra.
    LookaheadTable(std::span<const LookaheadJob> jobs, std::int32_t capacity, std::int32_t extra);
    LookaheadTable(std::span<const LookaheadJob> jobs, std::int32_t capacity)
        : LookaheadTable(jobs, capacity, capacity) {}

    /// The most processors that a subset of the first `count` jobs can use of `capacity`, at most `extra` of them past
    /// the shadow time; the source's util(count, capacity, extra).
    std::int32_t util(std::size_t count, std::int32_t capacity, std::int32_t extra) const;
    std::int32_t util(std::size_t count, std::int32_t capacity) const { return util(count, capacity, capacity); }
    /// Whether job `count` (from 1) is needed for that; the source's flag.
    bool selected(std::size_t count, std::int32_t capacity, std::int32_t extra) const;
    bool selected(std::size_t count, std::int32_t capacity) const { return selected(count, capacity, capacity); }

    /// A subset that uses most, by index, ascending; among equals the one with jobs nearer the head.
    std::vector<std::size_t> best_set() const;

  private:
    using Word = std::uint64_t;
    const Word* short_sums(std::size_t count) const { return &words_[short_version_[count] * stride_]; }
    const Word* long_sums(std::size_t count) const { return &words_[long_version_[count] * stride_]; }
    std::int32_t largest_up_to(const Word* sums, std::int32_t limit) const;

    std::vector<LookaheadJob> jobs_;
    std::int32_t capacity_;
    std::int32_t extra_;
    std::size_t stride_;
    std::vector<Word> words_;                                ///< bit sets of capacity + 1 bits
    std::vector<std::size_t> short_version_, long_version_;  ///< by number of jobs looked at
    std::vector<std::int32_t> short_total_;                  ///< largest short sum, by number of jobs
};

/// LOS, the lookahead optimising scheduler [ShmueliFeitelson2005]: starts the head if it fits; else reserves for it and
/// starts the set of jobs that makes use of most processors without delaying the head. The head cannot starve.
class Los final : public Policy {
  public:
    struct Options {
        std::size_t lookahead = 50;  ///< waiting jobs looked at behind the head, >= 1
        bool reserve = true;         ///< false: the two-dimensional program over all jobs; the head may starve
    };
    explicit Los(const Options& options) : options_(options) {}
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;
    /// Refuses a lookahead whose table could take more than a gibibyte: lookahead x processors bits.
    Result<void> serves(std::int32_t processors) const override;

  private:
    Options options_;
    RunningProfile running_;
};

}  // namespace zbs
