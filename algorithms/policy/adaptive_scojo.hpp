#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/model/speedup.hpp"
#include "algorithms/policy/policy.hpp"

namespace zbs {

/// What the jobs of a zone could make use of, processors. Very short jobs do not count.
struct LoadDemand {
    std::int64_t needed = 0;  ///< running jobs on what they have, waiting ones on what they ask for
    std::int64_t growth = 0;  ///< what one expansion of every malleable job would add
    bool operator==(const LoadDemand&) const = default;
};
/// Low where even one expansion of all leaves a row of the slice matrix idle in part, high where `level` rows are not
/// enough [Huang2004, figure 6-7].
Load classify_load(const LoadDemand& demand, std::int32_t processors, std::int32_t level);

/// Halfway from `size` down to the least size, and up to the most. Rounded towards the end, so that it is reached
/// [Huang2004, section 6.3.3].
std::int32_t shrunk(const SizeRange& range, std::int32_t size);
std::int32_t expanded(const SizeRange& range, std::int32_t size);
/// The size on which a job that can choose starts under a load: one step from the best one.
std::int32_t target_size(const SizeRange& range, Load load);

/// A job that has just got its place in a row.
struct Newcomer {
    Flexibility flexibility = Flexibility::kRigid;
    bool is_long = false;  ///< of the class of the longest jobs
    SizeRange range;
    std::int32_t size = 1;
};
/// Fragmentation elimination: moldable newcomers of a row, one after the other, take its idle slots up to the most they
/// can use, then malleable ones that are not long. Returns what stays idle.
std::int32_t fill_row(std::span<Newcomer> newcomers, std::int32_t idle);

/// Adaptive SCOJO [Huang2004, chapter 6]: gang scheduling whose jobs have sizes that follow the load. Jobs take turns
/// in up to `level` rows of a slice matrix. In the order of the queue each waiting job goes to the first row with as
/// many idle slots as its target size, a new row included; behind the first job that does not fit, later ones may be
/// backfilled. With adaptation, the load is classified at the first event at least `reconfigure` after the last time:
/// under high load running malleable jobs shrink by one step and new ones start small, under low load they expand into
/// idle slots of their row and new ones start large.
///
/// Where the source is silent: conservative backfilling promises the first `lookahead` jobs that stay behind, one after
/// the other, the first time at which the row that has room first, by walltimes and the present number of rows, holds
/// them, and lets a later job start where it takes no slots from any of these; expansion takes what idle slots there
/// are; jobs keep the lowest of their processors; events are acted on at once, not at the next slice. Slices are slice
/// x level / rows long, so that a period is the same for any number of rows.
///
/// The matrix, the load and what jobs were served travel in snapshot and plan; the object keeps the queue in its order
/// as an index. Without aging low classes may starve; with aggressive backfilling so may wide jobs. A plan costs
/// O(waiting jobs + rows x (running jobs + lookahead^2)), with aging O(log waiting jobs) times the first.
class AdaptiveScojo final : public Policy {
  public:
    enum class Order : std::uint8_t { kFcfs, kPriority };
    enum class Backfill : std::uint8_t {
        kNone,
        kEasy,          ///< whatever does not delay the first that waits: the EASY of the literature
        kConservative,  ///< B: whatever delays none of the first `lookahead` that stay behind
        kAggressive,    ///< EB of the source: whatever fits
    };
    struct Options {
        Order order = Order::kPriority;
        Backfill backfill = Backfill::kConservative;
        bool adapt = true;       ///< WA: sizes follow the load
        bool fill = true;        ///< FA: newcomers take idle slots of their row
        std::int32_t level = 2;  ///< most rows, 1 .. kMaxLevel
        /// Largest walltimes of the classes above the last one, ascending: short, medium; the others are long.
        std::vector<Duration> classes{std::chrono::minutes{1}, std::chrono::minutes{30}};
        /// Between two classifications, >= 0; jobs with shorter walltimes do not count in them.
        Duration reconfigure = std::chrono::minutes{5};
        Duration slice = std::chrono::seconds{2};  ///< of a row where there are `level` of them, > 0
        /// Conservative backfilling: jobs that are promised a start in each plan, the first of those that stay behind.
        std::size_t lookahead = 50;
        Duration age{};  ///< a job goes up a class each time it has waited that long; 0: never
    };
    static constexpr std::int32_t kMaxLevel = 64;

    /// A combination that [Huang2004, section 7.3] compares.
    struct Strategy {
        std::string_view name;
        Order order;
        Backfill backfill;
        bool adapt, fill;
        std::int32_t level;  ///< as published
    };
    /// The ten published strategies.
    static std::span<const Strategy> strategies();

    explicit AdaptiveScojo(const Options& options);
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;
    ZoneState::Sharing sharing() const override { return ZoneState::Sharing::kTime; }
    Needs needs() const override { return {.level = options_.level}; }
    Result<void> serves(std::int32_t processors) const override;

    /// What the plans of this object have looked at while they gave places: the growth of their cost can be counted.
    struct Work {
        std::uint64_t jobs = 0;   ///< that wait
        std::uint64_t steps = 0;  ///< of what rows leave idle over time
    };
    const Work& work() const { return work_; }

    /// How long each of `rows` rows runs.
    static Duration slice_length(Duration slice, std::int32_t level, std::int32_t rows) { return slice * level / rows; }

  private:
    /// A waiting job.
    struct Waiting {
        std::uint32_t rank;  ///< its class where the order goes by priority, else 0
        std::uint32_t cls;   ///< 0: of the shortest jobs
        std::uint64_t arrival;
        JobHandle handle;
        Flexibility flexibility;
        bool counts;  ///< in the classification
        SizeRange range;
        std::pair<std::uint32_t, std::uint64_t> key() const { return {rank, arrival}; }
    };
    class Making;

    void follow(const ZoneSnapshot& zone);
    void drop(std::uint64_t arrival);
    const std::vector<Waiting>& ordered(const ZoneSnapshot& zone);
    std::uint32_t class_of(Duration walltime) const;

    Options options_;
    std::vector<Waiting> queue_;  ///< by key
    std::vector<Waiting> aged_;
    IndexAge index_age_;
    Work work_;
};

}  // namespace zbs
