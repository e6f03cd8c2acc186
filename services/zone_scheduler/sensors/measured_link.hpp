#pragma once
#include <optional>

#include "algorithms/model/resource_graph.hpp"
#include "services/zone_scheduler/sensors/measured_series.hpp"

namespace zbs {

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
