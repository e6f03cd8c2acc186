#include "services/node_agent/domain/duration_histogram.hpp"

#include <algorithm>
#include <bit>

namespace zbs {

/// 0..7 have a class each; from 2^k on, k >= 3, eight classes lie up to 2^(k+1).
std::size_t DurationHistogram::class_of(std::uint64_t us) {
    if (us < kSteps) return us;
    const int power = std::min(static_cast<int>(std::bit_width(us)) - 1, kPowers + 2);
    const std::uint64_t within = std::min<std::uint64_t>((us >> (power - 3)) - kSteps, kSteps - 1);
    return static_cast<std::size_t>(kSteps * (power - 2)) + within;
}

std::uint64_t DurationHistogram::largest_of(std::size_t index) {
    if (index < kSteps) return index;
    const auto power = index / kSteps + 2;
    return ((std::uint64_t{index % kSteps} + kSteps + 1) << (power - 3)) - 1;
}

void DurationHistogram::add(Duration value) {
    const auto us = static_cast<std::uint64_t>(std::max<std::int64_t>(value.count(), 0));
    ++classes_[class_of(us)];
    ++count_;
    sum_ += us;
    max_ = std::max(max_, us);
}

DurationSummary DurationHistogram::summary() const {
    DurationSummary summary{.count = count_, .max = Duration{static_cast<std::int64_t>(max_)}};
    if (count_ == 0) return summary;
    summary.mean = Duration{static_cast<std::int64_t>(sum_ / count_)};
    const std::uint64_t rank = count_ - count_ / 100;  // so many are not larger
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
        seen += classes_[i];
        if (seen < rank) continue;
        summary.p99 = Duration{static_cast<std::int64_t>(std::min(largest_of(i), max_))};
        break;
    }
    return summary;
}

}  // namespace zbs
