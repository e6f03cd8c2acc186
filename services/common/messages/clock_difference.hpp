#pragma once
#include <algorithm>
#include <string>

#include "algorithms/base/time.hpp"

namespace zbs {

/// From this on a difference is reported: the header Date is exact to a second.
inline constexpr Duration kClockDifferenceShown = std::chrono::seconds{1};

/// By how much the clock that wrote `date`, in whole seconds, is certainly ahead of the own one, which read `sent`
/// before the call and `received` after it. Negative: behind. Zero: no difference is proved.
inline Duration clock_ahead(Time date, Time sent, Time received) {
    if (date > received) return date - received;
    return std::min(date + std::chrono::seconds{1} - sent, Duration{0});
}

/// "the clock of zone b is 75 s ahead of this zone's; start a time service ..." `ahead`: negative if it is behind.
inline std::string clock_difference_text(const std::string& whose, Duration ahead, const std::string& than) {
    return "the clock of " + whose + " is " +
           std::to_string(std::chrono::round<std::chrono::seconds>(std::chrono::abs(ahead)).count()) + " s " +
           (ahead > Duration{0} ? "ahead of" : "behind") + " " + than +
           "; start a time service (chrony, systemd-timesyncd) on the one that has none";
}

}  // namespace zbs
