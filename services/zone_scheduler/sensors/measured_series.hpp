#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/time.hpp"
#include "algorithms/forecast/adaptive_forecast.hpp"

namespace zbs {

/// What is shown of a figure that is measured again and again.
struct SeriesView {
    double next = 0;              ///< forecast
    std::optional<double> error;  ///< how far off the last forecasts were, mean
    std::string forecaster;       ///< whose forecast it is
    std::vector<double> values;   ///< measured, newest last
};

/// A figure that is measured again and again: its forecast, and the last values to be shown. Some 700 numbers.
class MeasuredSeries {
  public:
    static constexpr std::size_t kKept = 64;  ///< values that are kept to be shown

    /// `every`: about how often it is measured; > 0.
    explicit MeasuredSeries(Duration every);
    /// Where the wall clock was set back nothing is learnt until it has caught up.
    void observe(double value, Time now);
    /// From now on it is measured as often as this. Forecasters that have learnt another pace begin anew where values
    /// would count as missing or come far too early.
    void expect_every(Duration every);

    /// None before the first value.
    std::optional<forecast::Forecast> forecast() const { return forecast_.forecast(forecast::Loss::kAbsolute); }
    std::optional<SeriesView> view() const;

  private:
    Duration every_;
    forecast::AdaptiveForecast forecast_;
    std::deque<double> values_;
};

}  // namespace zbs
