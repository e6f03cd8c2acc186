#pragma once
#include <cstdint>

#include "algorithms/base/result.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs::learning {

/// How far predictions of a run time were off: running statistics of ln(measured / predicted), so that twice as long
/// and half as long weigh the same. The newest count most: after 7 further runs an error has half its weight.
class ModelError {
  public:
    static constexpr double kFade = 0.9;
    /// Where a run took a million times as long as predicted that is as far as it counts.
    static constexpr double kMaxRatio = 1e6;

    struct State {
        std::int64_t count = 0;
        double weight = 0;    ///< of the runs, faded
        double mean = 0;      ///< of ln(measured / predicted)
        double variance = 0;  ///< around the mean
        double last = 0;
        bool operator==(const State&) const = default;
    };

    /// Error, and nothing changed: one of them is not a positive number.
    Result<void> observe(double predicted, double measured);

    std::int64_t count() const { return state_.count; }
    /// Of the geometric mean: 0.1 where runs take 10 % longer than predicted, -0.1 where they take 10 % less. 0 without
    /// runs.
    double mean_relative_error() const;
    double last_relative_error() const;
    /// The factor by which runs usually differ from that mean, either way: 1.2 for 20 %. 1 with fewer than two runs.
    double spread() const;

    const State& state() const { return state_; }

  private:
    State state_;
};

/// How far the traffic of two graphs is apart, from 0 (the same bytes between the same pairs) to 1 (no pair in common):
/// the sum over all pairs of the difference in bytes, over the bytes of both together. A graph that has all pairs right
/// and every volume f times too large is (f - 1) / (f + 1) apart. O(edges). Precondition: equally many tasks.
double traffic_difference(const TaskGraph& a, const TaskGraph& b);

double total_bytes(const TaskGraph& graph);

}  // namespace zbs::learning
