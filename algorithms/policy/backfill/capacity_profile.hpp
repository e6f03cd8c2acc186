#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/time.hpp"
#include "algorithms/model/plan.hpp"

namespace zbs {

/// Free processors over time as a step function, for policies that make reservations: constant from one breakpoint to
/// the next, and after the last one for ever.
///
/// Breakpoints are kept in leaves of up to 64, and the leaves in a directory with the begin, the least and the largest
/// value of each, and an amount that is added to all of it. Loops run over plain arrays and decide by bits of a word,
/// not by branches: for thousands of breakpoints these cost more than the comparisons.
///
/// For b breakpoints: a look at a value costs O(log b). Changing an interval or searching costs O(log b) and one
/// comparison for each leaf passed, about b / 45 of them in the whole profile; a leaf where the room wanted may begin
/// or end costs one pass over its 64 values. Neighbours of equal value are one step, so there are at most two
/// breakpoints for each interval added.
///
/// The place looked up last is kept, so that two threads must not use one profile at a time.
class CapacityProfile {
  public:
    /// `capacity` processors free at all times from `origin` on.
    CapacityProfile(Time origin, std::int32_t capacity) { reset(origin, capacity); }
    void reset(Time origin, std::int32_t capacity);

    /// Adds `delta` processors during [begin, end); what lies before the origin is left out.
    void add(Time begin, Time end, std::int32_t delta);
    /// Forgets what was before `now`, which becomes the origin at the earliest.
    void forget_before(Time now);

    /// Precondition of all: `from` is not before the origin.
    std::int32_t free_at(Time from) const { return step_at(from).free; }
    /// The step that holds `from`: since when, and its value.
    struct Step {
        Time begin{};
        std::int32_t free = 0;
    };
    Step step_at(Time from) const;
    /// Least and largest value during [from, until), `from` < `until`.
    std::int32_t least_free(Time from, Time until) const { return extremes(from, until).least; }
    std::int32_t most_free(Time from, Time until) const { return extremes(from, until).most; }
    /// The first instant >= from at which at least `processors` are free; kNever where there is none.
    Time first_with(Time from, std::int32_t processors) const;

    struct Room {
        Time from{};          ///< no start before
        Duration duration{};  ///< > 0
        std::int32_t processors = 1;
        Time before = kNever;     ///< only starts before this instant count
        Time open_from = kNever;  ///< from here on there is room, whatever the profile says
    };
    /// The earliest start s with `processors` free during all of [s, s + duration); kNever where there is none.
    Time earliest_start(const Room& room) const;
    bool fits(Time begin, Duration duration, std::int32_t processors) const {
        return least_free(begin, begin + duration) >= processors;
    }

    /// Calls `visit(time, free)` where the largest value since `from` grows, at `from` itself first, in steps that
    /// begin before `until`.
    template <class Visit>
    void visit_maxima(Time from, Time until, Visit&& visit) const {
        std::int32_t most = std::numeric_limits<std::int32_t>::min();
        for (std::size_t d = leaf_at(from); d < directory_.size() && directory_[d].begin < until; ++d) {
            const Entry& entry = directory_[d];
            if (entry.high <= most) continue;
            const Leaf& leaf = leaves_[entry.leaf];
            for (unsigned i = step_of(entry, from); i < entry.count && leaf.time[i] < until; ++i) {
                if (leaf.free[i] + entry.add <= most) continue;
                most = leaf.free[i] + entry.add;
                visit(leaf.time[i] < from ? from : leaf.time[i], most);
            }
        }
    }

    std::size_t breakpoint_count() const { return size_; }
    /// Calls `visit(time, free)` for every breakpoint in order.
    template <class Visit>
    void visit(Visit&& visit) const {
        for (const Entry& entry : directory_)
            for (unsigned i = 0; i < entry.count; ++i)
                visit(leaves_[entry.leaf].time[i], leaves_[entry.leaf].free[i] + entry.add);
    }

  private:
    static constexpr unsigned kCapacity = 64;  ///< of a leaf: one bit of a word each
    /// Step i has `free[i]` free from `time[i]` on, plus what the directory adds. Times behind the last step are
    /// kNever.
    struct Leaf {
        Time time[kCapacity];
        std::int32_t free[kCapacity];
    };
    /// Of one leaf: its first breakpoint, and bounds of its values, `add` included.
    struct Entry {
        Time begin;
        std::int32_t low, high, add;
        unsigned count;
        std::uint32_t leaf;
    };
    struct Extremes {
        std::int32_t least, most;
    };
    /// A breakpoint: where its leaf stands in the directory, and its step there.
    struct Place {
        std::size_t leaf;
        unsigned step;
    };

    std::size_t leaf_at(Time at) const;
    unsigned step_of(const Entry& entry, Time at) const;
    void bound(Entry& entry);
    Place insert_breakpoint(Time at, bool& inserted);
    void split(std::size_t at);
    void erase_breakpoint(Place place);
    void erase_leaf(std::size_t at);
    void join(Time at);
    bool add_within_leaf(Time begin, Time end, std::int32_t delta);
    Extremes extremes(Time from, Time until) const;
    static std::uint64_t sufficient(const Leaf& leaf, unsigned count, std::int32_t wanted);

    std::vector<Entry> directory_;  ///< by time, never empty
    std::vector<Leaf> leaves_;
    std::vector<std::uint32_t> unused_;  ///< leaves in no directory
    std::size_t size_ = 0;
    mutable std::size_t last_leaf_ = 0;  ///< looked up last
};

}  // namespace zbs
