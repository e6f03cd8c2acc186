#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include "algorithms/model/task_graph.hpp"

namespace zbs::learning {

/// The newest runs that count. With 5 a changed program is believed after 3 runs, and 2 odd runs change nothing.
inline constexpr std::size_t kMergedRuns = 5;

/// One run of a program, as its profile records it.
struct MergeInput {
    const TaskGraph* graph = nullptr;
    bool complete = true;  ///< false: the run was cut short, so it saw less than there is
};

struct MergedProfile {
    TaskGraph graph;
    bool complete = true;
    std::size_t runs = 0;  ///< that went in
};

/// What a run of this program and size is like, from several: of every pair the median of the bytes and the median of
/// the messages, of every rank the median of the compute time, over the newest kMergedRuns complete runs; a pair that a
/// run did not have counts as 0 there, and pairs whose medians are 0 go. Of an even number the mean of the middle two.
///
/// So within those runs the order does not matter, equal runs give that run, one odd run among three or more moves
/// nothing out of the range of the others, and runs that differ by a factor give the graph of the middle one.
/// Where no run is complete each pair has the most that any of the newest saw: a lower bound, and not `complete`.
///
/// `runs` is oldest first. Nothing where it is empty. Precondition: equally many tasks. O(kMergedRuns x edges).
std::optional<MergedProfile> merge_profiles(std::span<const MergeInput> runs);

}  // namespace zbs::learning
