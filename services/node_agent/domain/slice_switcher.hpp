#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "algorithms/gang/classifier.hpp"
#include "services/common/messages/node.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/process_control.hpp"

namespace zbs {

/// Counts durations in classes that are an eighth of their size wide: constant space, and a percentile that is at most
/// that much too large. Negative ones count as zero; over 2^40 us is one class.
class DurationHistogram {
  public:
    void add(Duration value);
    DurationSummary summary() const;

  private:
    static constexpr int kSteps = 8;  ///< classes from one power of two to the next
    static constexpr int kPowers = 38;
    static std::size_t class_of(std::uint64_t us);
    static std::uint64_t largest_of(std::size_t index);

    std::array<std::uint64_t, kSteps*(kPowers + 1)> classes_{};
    std::uint64_t count_ = 0, sum_ = 0, max_ = 0;
};

/// What a slice column says of one moment.
struct SliceView {
    std::int64_t slice = 0;        ///< turns since the epoch; before it negative
    std::size_t row = 0;           ///< index into `SliceColumn::rows`
    std::vector<StepId> step_ids;  ///< of that row
    Time next{};                   ///< when the next slice begins; later than the moment, by a slice at most
};

/// The same on every node for the same column and moment: rows take turns, and row 0 has the slice that begins with the
/// epoch. Before the epoch the turns are counted backwards, so that a wall clock that was set back stops nothing. None
/// for a column without rows. Where rows have shares, a period of `column.slice` begins with the epoch, and in it each
/// row has its part of it, in their order. Preconditions: `column.slice` > 0, by far more than 64 rows; as many shares
/// as rows, or none.
std::optional<SliceView> find_slice(const SliceColumn& column, Time now);

/// Lets the rows of a slice column take turns on this node: at each boundary, counted from the column's epoch, what is
/// not in the new row is suspended and what is in it resumed. Nobody else is asked in between. Without a column
/// everything runs; with one, a step that no row names stays suspended.
///
/// Lives on a strand of its own, so that nothing that the rest of the agent does delays a switch; `statistics` may be
/// called from anywhere.
class SliceSwitcher {
  public:
    /// All must outlive this.
    SliceSwitcher(Clock& clock, StepSuspension& control, Log& log) : clock_(clock), control_(control), log_(log) {}

    /// In force from its epoch on, or at once where that has passed; the one before stays until then. A column that
    /// waits for its epoch is replaced by a newer one, too.
    void set_column(SliceColumn column);
    /// A step is there. `may_be_suspended`: it was found, not started.
    void join(const StepId& step_id, bool may_be_suspended);
    /// A step has ended or is to end: it runs, whatever the column says, and is not looked at again.
    void leave(const StepId& step_id);
    /// What the local scheduler prefers, as `WorkMeter::priority`; without it what a new task has.
    void set_priority(const StepId& step_id, double priority);
    /// The agent stops: everything runs.
    void release_all();

    SwitchStatistics statistics() const;

  private:
    using Names = std::set<StepId>;

    void wake();
    void begin_slice(const SliceView& view);
    void find_idle_slot(const SliceView& view);
    bool is_idle(const SliceView& view);
    Names wanted(const std::optional<SliceView>& view) const;
    void apply(const Names& wanted);
    void schedule(Time now, Time boundary, bool checks_between);
    void count_failure(const char* what, const StepId& step_id, const Error& error);

    Clock& clock_;
    StepSuspension& control_;
    Log& log_;
    std::optional<SliceColumn> active_, next_;
    std::map<StepId, bool> suspended_;  ///< every step that is here
    Names half_stopped_;                ///< what could not be suspended wholly: it is resumed before it runs
    StepId filler_;                     ///< runs in a slot of others until the slice ends, or it waits
    Names had_slot_;                    ///< fillers of this slice so far
    struct Candidate {
        double priority = gang::priority_v2({});
        std::uint64_t picked = 0;  ///< larger: later
    };
    std::map<StepId, Candidate> candidates_;  ///< what is known of the steps here that may fill
    std::uint64_t picks_ = 0;
    std::optional<std::int64_t> slice_;  ///< that `filler_` belongs to
    bool is_unchecked_ = false;          ///< nobody has looked for idle slots since the slice began
    std::optional<Clock::TimerId> timer_;
    std::optional<Duration> warned_;    ///< steady time of the last word about a failure
    std::optional<Duration> boundary_;  ///< steady time of the boundary that the timer waits for

    mutable std::mutex mutex_;  ///< of what follows
    DurationHistogram late_, cost_;
    std::uint64_t fills_ = 0, failed_ = 0;
};

}  // namespace zbs
