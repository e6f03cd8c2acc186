#pragma once
#include <array>
#include <cstdint>

#include "services/common/messages/node.hpp"

namespace zbs {

/// Counts durations in classes that are an eighth of their size wide: constant space, and a percentile that is at most
/// that much too large. Negative ones count as zero; over 2^40 us is one class.
class DurationHistogram {
  public:
    void add(Duration value);
    DurationSummary summary() const;

  private:
    static constexpr int kSteps = 8;  ///< classes from one power of two to the next
    static constexpr int kPowers = 38;
    static std::size_t class_of(std::uint64_t us);
    static std::uint64_t largest_of(std::size_t index);

    std::array<std::uint64_t, kSteps*(kPowers + 1)> classes_{};
    std::uint64_t count_ = 0, sum_ = 0, max_ = 0;
};

}  // namespace zbs
