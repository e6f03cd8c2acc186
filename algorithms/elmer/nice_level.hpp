#pragma once
#include <cstdint>

namespace zbs::elmer {

inline constexpr std::int32_t kLowestNice = 19;

/// In place of the real-time priorities of [Turner1995, section 6.3], which programs may not have: nice levels of the
/// system's time sharing class, 0 to 19, spread over the levels 0 .. degree - 1, so that each is as far above the next
/// as can be. A lower level still gets some time: with a degree of 2 one part in 69. Preconditions: 0 <= level <
/// degree.
constexpr std::int32_t nice_level(std::int32_t level, std::int32_t degree) {
    return degree < 2 ? 0 : level * kLowestNice / (degree - 1);
}

}  // namespace zbs::elmer
