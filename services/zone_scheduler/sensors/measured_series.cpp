#include "services/zone_scheduler/sensors/measured_series.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

forecast::AdaptiveForecast fresh_forecast(Duration every) {
    Result<forecast::AdaptiveForecast> fresh = forecast::AdaptiveForecast::make(every);
    ZBS_EXPECTS(fresh.has_value());
    return *std::move(fresh);
}

/// Shorter than this the clock, the strand and the other side's own work are what is measured.
constexpr Duration kMinTransfer{200};
constexpr double kMinDelay_s = 1e-6;

}  // namespace

MeasuredSeries::MeasuredSeries(Duration every) : every_(every), forecast_(fresh_forecast(every)) {}

void MeasuredSeries::expect_every(Duration every) {
    if (every * 2 <= every_ * 3 && every * 3 >= every_) return;
    every_ = every;
    forecast_ = fresh_forecast(every);
}

void MeasuredSeries::observe(double value, Time now) {
    if (!forecast_.observe(now, value)) return;
    values_.push_back(value);
    if (values_.size() > kKept) values_.pop_front();
}

std::optional<SeriesView> MeasuredSeries::view() const {
    const std::optional<forecast::Forecast> next = forecast();
    if (!next) return std::nullopt;
    return SeriesView{next->value,
                      next->recent ? std::optional(next->recent->absolute) : std::nullopt,
                      std::string(next->forecaster),
                      {values_.begin(), values_.end()}};
}

void MeasuredLink::observe(const Measurement& measured, Time now, Duration every) {
    const Duration transfer = std::max(measured.transfer - measured.round_trip, kMinTransfer);
    const double way_s = to_seconds(measured.round_trip - measured.overhead) / 2;
    observe(delay_, std::max(way_s, kMinDelay_s), now, every);
    if (measured.bytes > 0) observe(bandwidth_, static_cast<double>(measured.bytes) / to_seconds(transfer), now, every);
    at_ = now;
    failures_ = 0;
    forecast_ = make_forecast();
}

void MeasuredLink::observe(std::optional<MeasuredSeries>& series, double value, Time now, Duration every) {
    if (!series) series.emplace(every);
    series->expect_every(every);
    series->observe(value, now);
}

std::optional<Link> MeasuredLink::make_forecast() const {
    const auto delay = delay_ ? delay_->forecast() : std::nullopt;
    const auto bandwidth = bandwidth_ ? bandwidth_->forecast() : std::nullopt;
    if (!delay || !bandwidth) return std::nullopt;
    // A forecaster that follows a slope may leave the range of what there is.
    return Link{std::max(delay->value, kMinDelay_s), std::max(bandwidth->value, 1.0)};
}

}  // namespace zbs
