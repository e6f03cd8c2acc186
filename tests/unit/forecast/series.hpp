#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace zbs::forecast::test {

using Series = std::vector<double>;

/// A kind of series that is drawn from a seed.
struct Synthetic {
    const char* name;
    std::function<Series(std::uint64_t seed)> draw;
};
/// Values in each synthetic series.
inline constexpr int kLength = 3'000;
const std::vector<Synthetic>& synthetic_series();

/// The recorded series beside this file (its README tells where they come from), without ".csv".
const std::vector<std::string>& recorded_names();
/// Reads one of them; fails the test and is empty where it is damaged.
Series read_recorded(const std::string& name);

}  // namespace zbs::forecast::test
