#include "algorithms/learning/model_error.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/base/expects.hpp"

namespace zbs::learning {
namespace {

const double kMaxLogarithm = std::log(ModelError::kMaxRatio);

}  // namespace

Result<void> ModelError::observe(double predicted, double measured) {
    if (!(predicted > 0) || !(measured > 0) || !std::isfinite(predicted) || !std::isfinite(measured))
        return invalid("predicted and measured run times must be positive numbers of seconds");
    const double error = std::clamp(std::log(measured) - std::log(predicted), -kMaxLogarithm, kMaxLogarithm);
    // Weighted mean and variance, old weights faded, as differences from the mean.
    const double before = state_.weight * kFade;
    const double weight = before + 1;
    const double step = error - state_.mean;
    state_.mean += step / weight;
    state_.variance = before / weight * (state_.variance + step * step / weight);
    state_.weight = weight;
    state_.last = error;
    ++state_.count;
    return {};
}

double ModelError::mean_relative_error() const { return std::expm1(state_.mean); }
double ModelError::last_relative_error() const { return std::expm1(state_.last); }
double ModelError::spread() const { return std::exp(std::sqrt(state_.variance)); }

double total_bytes(const TaskGraph& graph) {
    double sum = 0;
    for (const TaskEdge& edge : graph.edges()) sum += edge.bytes;
    return sum;
}

double traffic_difference(const TaskGraph& a, const TaskGraph& b) {
    ZBS_EXPECTS(a.task_count() == b.task_count());
    double apart = 0, together = 0;
    std::size_t i = 0, j = 0;
    const auto left = a.edges(), right = b.edges();
    while (i < left.size() || j < right.size()) {
        const bool take_left = j == right.size() || (i < left.size() && std::pair(left[i].u, left[i].v) <=
                                                                            std::pair(right[j].u, right[j].v));
        const bool take_right = i == left.size() || (j < right.size() && std::pair(right[j].u, right[j].v) <=
                                                                             std::pair(left[i].u, left[i].v));
        const double x = take_left ? left[i].bytes : 0, y = take_right ? right[j].bytes : 0;
        apart += std::abs(x - y);
        together += x + y;
        i += take_left ? 1 : 0;
        j += take_right ? 1 : 0;
    }
    return together > 0 ? apart / together : 0;
}

}  // namespace zbs::learning
