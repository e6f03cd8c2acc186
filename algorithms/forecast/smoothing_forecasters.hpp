#pragma once
#include <memory>

#include "algorithms/forecast/forecaster.hpp"

namespace zbs::forecast {

/// The value before; what is missing does not matter.
std::unique_ptr<Forecaster> make_last_value();

/// Mean of all values so far; what is missing does not matter.
std::unique_ptr<Forecaster> make_running_mean();

/// s <- s + gain (value - s); as long as there are fewer than 1/gain values their mean, so that the first value does
/// not weigh for long. A missing value fades s as if it had been observed: after k of them the gain of the next is 1 -
/// (1 - gain)^(k + 1). Precondition: 0 < gain < 1.
std::unique_ptr<Forecaster> make_exponential_smoothing(double gain);

/// Exponential smoothing whose gain moves by 0.05 a value towards the neighbour that would have predicted that value
/// better, within 0.05..0.95: the gradient predictor of [Wolski1998], with a step of fixed width. A gap is not learnt
/// from.
std::unique_ptr<Forecaster> make_adaptive_smoothing();

/// m + phi (last - m), with mean m and correlation phi of neighbours measured over about `memory` values (weights fade
/// exponentially), phi within -1..1; can leave the range of what was seen. No correlation is measured across a gap.
/// Precondition: memory >= 2.
std::unique_ptr<Forecaster> make_autoregression(double memory);

}  // namespace zbs::forecast
