#include "algorithms/formats/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace zbs::formats {

std::string sparkline(std::span<const double> values, std::size_t width) {
    constexpr std::array kHeights = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    if (values.size() > width) values = values.last(width);
    double least = INFINITY, most = -INFINITY;
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        least = std::min(least, value);
        most = std::max(most, value);
    }
    std::string line;
    for (const double value : values) {
        if (!std::isfinite(value)) {
            line += ' ';
            continue;
        }
        // Halves first: the distance of the extremes may be beyond the largest number.
        const double height = most > least ? (value / 2 - least / 2) / (most / 2 - least / 2) : 0.5;
        const auto step = static_cast<std::size_t>(std::clamp(height * 8, 0.0, 7.0));
        line += kHeights[step];
    }
    return line;
}

}  // namespace zbs::formats
