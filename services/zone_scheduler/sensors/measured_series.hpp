#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/time.hpp"
#include "algorithms/forecast/adaptive_forecast.hpp"
#include "algorithms/model/resource_graph.hpp"

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

/// Delay and bandwidth of one link, measured again and again: forecasts, and the last values to be shown.
class MeasuredLink {
  public:
    static constexpr std::size_t kKept = MeasuredSeries::kKept;

    struct Measurement {
        Duration round_trip{};  ///< of a short call
        std::size_t bytes = 0;  ///< that a long one has brought; 0: nothing is learnt of the bandwidth
        Duration transfer{};    ///< how long that took, its round trip included
        Duration overhead{};    ///< what of `round_trip` is not the way, but the programs at both ends
    };
    /// `every`: about how often. Where the wall clock was set back nothing is learnt until it has caught up.
    void observe(const Measurement& measured, Time now, Duration every);
    /// No answer. True for the first one since the last good measurement.
    bool fail() { return failures_++ == 0; }

    /// None before the first measurement.
    const std::optional<Link>& forecast() const { return forecast_; }
    std::optional<SeriesView> delay_s() const { return delay_ ? delay_->view() : std::nullopt; }
    std::optional<SeriesView> bandwidth_Bps() const { return bandwidth_ ? bandwidth_->view() : std::nullopt; }
    std::optional<Time> measured() const { return at_; }
    int failures() const { return failures_; }

  private:
    static void observe(std::optional<MeasuredSeries>& series, double value, Time now, Duration every);
    std::optional<Link> make_forecast() const;

    std::optional<MeasuredSeries> delay_, bandwidth_;
    std::optional<Link> forecast_;
    std::optional<Time> at_;
    int failures_ = 0;
};

}  // namespace zbs
