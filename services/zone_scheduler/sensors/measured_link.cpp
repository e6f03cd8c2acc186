#include "services/zone_scheduler/sensors/measured_link.hpp"

#include <algorithm>

namespace zbs {
namespace {

/// Shorter than this the clock, the strand and the other side's own work are what is measured.
constexpr Duration kMinTransfer{200};
constexpr double kMinDelay_s = 1e-6;

}  // namespace

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
