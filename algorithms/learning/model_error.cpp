#include "algorithms/learning/model_error.hpp"

#include <algorithm>
#include <cmath>

namespace zbs::learning {
namespace {
constexpr std::int64_t kEnoughForBounds = 3;
constexpr double kDeviations = 2;
const double kMaxLogarithm = std::log(ModelError::kMaxRatio);
}  // namespace

Result<ModelError> ModelError::restore(const State& state) {
    const double most_weight = 1 / (1 - kFade);
    const bool good = state.count >= 0 && state.weight >= 0 && state.weight <= most_weight &&
                      std::abs(state.mean) <= kMaxLogarithm && state.variance >= 0 &&
                      state.variance <= kMaxLogarithm * kMaxLogarithm && std::abs(state.last) <= kMaxLogarithm &&
                      (state.count == 0) == (state.weight == 0);
    if (!good) return invalid("no record of prediction errors: a count, weight, mean, variance or last is impossible");
    ModelError error;
    error.state_ = state;
    return error;
}

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

std::optional<std::pair<double, double>> ModelError::bounds(double predicted) const {
    if (state_.count < kEnoughForBounds) return {};
    const double reach = kDeviations * std::sqrt(state_.variance);
    return std::pair(predicted * std::exp(state_.mean - reach), predicted * std::exp(state_.mean + reach));
}

}  // namespace zbs::learning
