#pragma once
#include <algorithm>
#include <array>
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
/// A B+-tree of breakpoints, 32 a node, whose inner nodes hold the least and the largest value below each child and an
/// amount that is added to all of it. Changing an interval and looking at a value cost O(log breakpoints). A search for
/// room skips nodes without capacity, and nodes whose stretches of sufficient capacity are too short; it costs
/// O(log breakpoints) for every stretch that has to be tried. Neighbours of equal value are one step, so there are at
/// most two breakpoints for each interval added.
///
/// Searches keep what they learn of stretches, so that two threads must not search one profile at a time.
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
    std::int32_t least_free(Time from, Time until) const;
    std::int32_t most_free(Time from, Time until) const;
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
        visit_maxima_of(root_, height_, 0, from, until, most, visit);
    }

    std::size_t breakpoint_count() const { return size_; }
    /// Calls `visit(time, free)` for every breakpoint in order.
    template <class Visit>
    void visit(Visit&& visit) const {
        visit_node(root_, height_, 0, visit);
    }

  private:
    static constexpr int kFanOut = 32;
    using NodeIndex = std::uint32_t;
    /// Plain arrays: the searches read little else, and a checked index would be a third of their time.
    ///
    /// A leaf's entry i has `low[i]` free from `time[i]` on, plus what the nodes above add. An inner entry stands for a
    /// child that starts at `time[i]`, with bounds `low` and `high` that include its own `add`.
    struct Node {
        int count = 0;
        Time time[kFanOut];
        std::int32_t low[kFanOut];
        std::int32_t high[kFanOut];
        std::int32_t add[kFanOut];
        NodeIndex child[kFanOut];
    };
    struct Search;
    /// Stretches of sufficient capacity in a node, for 8 capacities between its least and its largest value; filled by
    /// searches. A capacity in between is served by the next lower one, whose stretches are no shorter.
    struct Stretches {
        static constexpr unsigned kLevelBits = 3;
        struct Level {
            Time lead_end;     ///< end of the stretch that begins with the node; its begin: none
            Time trail_begin;  ///< begin of the stretch that goes on behind the node; kNever: none
            Duration longest;  ///< of the stretches that end inside the node
        };
        std::uint32_t known = 0;  ///< bit i: level i is filled
        Level levels[1 << kLevelBits];
    };

    NodeIndex new_node();
    void free_node(NodeIndex index) { unused_.push_back(index); }
    static int entry_at(const Node& node, Time at);
    void refresh(Node& parent, int entry, int child_height);
    /// Makes `at` a breakpoint; true where the node was split, its new right half in `sibling`.
    bool insert(NodeIndex index, int height, Time at, NodeIndex& sibling);
    void insert_breakpoint(Time at);
    void remove(NodeIndex index, int height, Time at);
    void merge_if_small(Node& parent, int entry, int child_height);
    void remove_breakpoint(Time at);
    void add_range(NodeIndex index, int height, Time upper, Time begin, Time end, std::int32_t delta);
    void join_at(Time at);
    bool add_within_leaf(Time begin, Time end, std::int32_t delta);
    struct KnownLevel {
        const Stretches::Level* stretches;
        bool exact;  ///< of this capacity; else maybe of a lower one
    };
    /// Stretches of an entry of `parent` for capacity `wanted` (in the frame of `parent`): > its least, <= its largest
    /// value. Valid until the next call.
    KnownLevel level_of(const Node& parent, int entry, int child_height, std::int32_t wanted) const;
    Stretches::Level find_stretches(NodeIndex index, int height, std::int32_t wanted) const;
    Time trail_begin(NodeIndex index, int height, std::int32_t wanted) const;
    static std::uint32_t sufficient(const Node& leaf, std::int32_t wanted);
    static bool search_leaf(const Node& leaf, std::int32_t wanted, Search& search);
    bool pass(const Node& node, int entry, Time end, int child_height, std::int32_t wanted, Search& search) const;
    bool search(NodeIndex index, int height, Time upper, std::int32_t base, Search& search) const;
    void extremes(NodeIndex index, int height, Time upper, std::int32_t base, Time from, Time until, std::int32_t& low,
                  std::int32_t& high) const;
    template <class Visit>
    void visit_node(NodeIndex index, int height, std::int32_t base, Visit& visit) const {
        const Node& node = nodes_[index];
        for (int i = 0; i < node.count; ++i) {
            if (height == 0)
                visit(node.time[i], node.low[i] + base);
            else
                visit_node(node.child[i], height - 1, base + node.add[i], visit);
        }
    }

    template <class Visit>
    void visit_maxima_of(NodeIndex index, int height, std::int32_t base, Time from, Time until, std::int32_t& most,
                         Visit& visit) const {
        const Node& node = nodes_[index];
        for (int i = node.time[0] < from ? entry_at(node, from) : 0; i < node.count && node.time[i] < until; ++i) {
            if ((height == 0 ? node.low[i] : node.high[i]) + base <= most) continue;
            if (height > 0) {
                visit_maxima_of(node.child[i], height - 1, base + node.add[i], from, until, most, visit);
            } else {
                most = node.low[i] + base;
                visit(std::max(node.time[i], from), most);
            }
        }
    }

    std::vector<Node> nodes_;
    mutable std::vector<Stretches> stretches_;  ///< by node; may be shorter
    std::vector<NodeIndex> unused_;
    NodeIndex root_ = 0;
    int height_ = 0;  ///< 0: the root is a leaf
    std::size_t size_ = 0;
};

}  // namespace zbs
