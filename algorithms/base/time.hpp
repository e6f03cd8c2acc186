#pragma once
#include <chrono>
#include <cstdint>

namespace zbs {

/// Whole microseconds: fine enough for slices, exact to compare.
using Duration = std::chrono::duration<std::int64_t, std::micro>;

/// Tag of the project's own clock; which instant is zero is the driver's business (Unix epoch live, 0 in simulation).
struct ZbsClock {
    using duration = Duration;
    using rep = Duration::rep;
    using period = Duration::period;
    using time_point = std::chrono::time_point<ZbsClock, Duration>;
    static constexpr bool is_steady = false;
};
using Time = ZbsClock::time_point;

constexpr Duration seconds_to_duration(double seconds) {
    return Duration{static_cast<std::int64_t>(seconds * 1e6 + (seconds < 0 ? -0.5 : 0.5))};
}
constexpr double to_seconds(Duration d) { return static_cast<double>(d.count()) * 1e-6; }
constexpr std::int64_t to_microseconds(Time t) { return t.time_since_epoch().count(); }
constexpr Time time_from_microseconds(std::int64_t us) { return Time{Duration{us}}; }

}  // namespace zbs
