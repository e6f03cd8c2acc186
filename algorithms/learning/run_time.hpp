#pragma once
#include <optional>
#include <span>

namespace zbs::learning {

/// A run that ended by itself.
struct TimedRun {
    int ranks = 1;
    double seconds = 0;  ///< from the start of its processes to its end, > 0
};

/// How long the next run of a program takes on `wanted` ranks: the median of its newest 5 runs of that many (of an even
/// number the mean of the middle two); else, where it ran on two other numbers of ranks or more, a power law through
/// their medians; else nothing. Where it runs is not looked at: the spread between fast and slow zones shows in the
/// error
/// (`ModelError`). `runs` is oldest first; those without a positive time are passed over. O(n log n).
std::optional<double> predict_run_time(std::span<const TimedRun> runs, int wanted);

}  // namespace zbs::learning
