#pragma once
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

    /// All that it remembers, as finite numbers; `restore` of an equal forecaster takes them.
    virtual std::vector<double> state() const = 0;
    /// False, and nothing changed, where `state` cannot have come from an equal forecaster.
    [[nodiscard]] virtual bool restore(std::span<const double> state) = 0;
};

struct NamedForecaster {
    std::string_view name;  ///< e.g. "median_11"; for ever
    std::unique_ptr<Forecaster> forecaster;
};

/// The families of the Network Weather Service [Wolski1998, WolskiSpringHayes1999] and an autoregression. Cost a value:
/// of the sliding families O(window), of all others O(1).
std::vector<NamedForecaster> make_forecasters();

}  // namespace zbs::forecast
