#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace zbs::forecast {

/// Values beyond this magnitude are refused: the sum of their squares must stay a number.
inline constexpr double kMaxValue = 1e100;

/// Predicts the next value of a series from those before, one a period. Holds at most some dozens of values; equal
/// series give equal predictions.
class Forecaster {
  public:
    virtual ~Forecaster() = default;

    /// Takes the next value. Precondition: |value| <= kMaxValue, a number. Cost: as `make_forecasters` says.
    virtual void observe(double value) = 0;
    /// Takes note that `periods` values before the next one are missing: what was seen before counts less.
    /// Precondition: periods >= 1.
    virtual void miss(std::int64_t periods) = 0;
    /// The value that is expected next, between the least and the greatest seen unless the family says otherwise.
    /// Precondition: a value was observed.
    virtual double next() const = 0;
};

struct NamedForecaster {
    std::string_view name;  ///< e.g. "median_11"; for ever
    std::unique_ptr<Forecaster> forecaster;
};

/// The families of the Network Weather Service [Wolski1998, WolskiSpringHayes1999] and an autoregression. Cost a value:
/// of the sliding families O(window), of all others O(1).
std::vector<NamedForecaster> make_forecasters();

// Windows count periods: a missing value pushes out the oldest one as a value would have.

/// Mean of the last `window` values. Precondition here and below: window >= 1.
std::unique_ptr<Forecaster> make_sliding_mean(std::size_t window);
/// Median of the last `window` values.
std::unique_ptr<Forecaster> make_sliding_median(std::size_t window);
/// Mean of the last `window` values without the floor(share x window) least and as many greatest. Precondition: 0 <=
/// share < 0.5.
std::unique_ptr<Forecaster> make_trimmed_mean(std::size_t window, double share);

/// Mean or median of a window that grows or shrinks by one value at a time, to whichever of the three lengths would
/// have predicted the value that came best [Wolski1998]; equals leave it. A gap is not learnt from. Precondition: 1 <=
/// least <= most.
std::unique_ptr<Forecaster> make_adaptive_mean(std::size_t least, std::size_t most);
std::unique_ptr<Forecaster> make_adaptive_median(std::size_t least, std::size_t most);

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
