#include "algorithms/forecast/window.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/base/expects.hpp"
#include "algorithms/forecast/forecaster.hpp"

namespace zbs::forecast {

Window::Window(std::size_t capacity) : capacity_(capacity) {
    ZBS_EXPECTS(capacity > 0);
    values_.reserve(capacity);
}

void Window::push(double value) {
    if (values_.size() == capacity_) values_.erase(values_.begin());
    values_.push_back(value);
}

void Window::make_room(std::int64_t periods) {
    ZBS_EXPECTS(periods >= 0);
    const auto dropped = static_cast<std::size_t>(std::min(periods, std::int64_t(capacity_) - 1)) + 1;
    const std::size_t kept = std::min(values_.size(), capacity_ - dropped);
    values_.erase(values_.begin(), values_.end() - std::ptrdiff_t(kept));
}

std::span<const double> Window::newest(std::size_t count) const {
    return values().last(std::min(count, values_.size()));
}

double mean(std::span<const double> values) {
    ZBS_EXPECTS(!values.empty());
    const double origin = values.back();  // equal values have no rounding error this way
    double sum = 0;
    for (const double value : values) sum += value - origin;
    return origin + sum / static_cast<double>(values.size());
}

double median(std::span<const double> values) {
    ZBS_EXPECTS(!values.empty());
    thread_local std::vector<double> scratch;  // asked for every value of every series
    scratch.assign(values.begin(), values.end());
    const auto middle = scratch.begin() + std::ptrdiff_t(scratch.size() / 2);
    std::nth_element(scratch.begin(), middle, scratch.end());
    if (scratch.size() % 2 == 1) return *middle;
    const double below = *std::max_element(scratch.begin(), middle);
    return below + (*middle - below) / 2;
}

double trimmed_mean(std::span<const double> values, double share) {
    ZBS_EXPECTS(!values.empty() && share >= 0 && share < 0.5);
    thread_local std::vector<double> scratch;
    scratch.assign(values.begin(), values.end());
    std::ranges::sort(scratch);
    const auto cut = static_cast<std::size_t>(share * static_cast<double>(scratch.size()));
    return mean(std::span(scratch).subspan(cut, scratch.size() - 2 * cut));
}

bool is_value(double value) { return std::abs(value) <= kMaxValue; }

}  // namespace zbs::forecast
