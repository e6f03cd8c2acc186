#include "services/zone_scheduler/sensors/measured_series.hpp"

#include <utility>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

forecast::AdaptiveForecast fresh_forecast(Duration every) {
    Result<forecast::AdaptiveForecast> fresh = forecast::AdaptiveForecast::make(every);
    ZBS_EXPECTS(fresh.has_value());
    return *std::move(fresh);
}

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

}  // namespace zbs
