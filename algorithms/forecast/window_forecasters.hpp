#pragma once
#include <cstddef>
#include <memory>

#include "algorithms/forecast/forecaster.hpp"

namespace zbs::forecast {

// Windows count periods: a missing value pushes out the oldest one as a value would have.

/// Mean of the last `window` values. Precondition here and below: window >= 1.
std::unique_ptr<Forecaster> make_sliding_mean(std::size_t window);
/// Median of the last `window` values.
std::unique_ptr<Forecaster> make_sliding_median(std::size_t window);
/// Mean of the last `window` values without the floor(share x window) least and as many greatest. Precondition: 0 <=
/// share < 0.5.
std::unique_ptr<Forecaster> make_trimmed_mean(std::size_t window, double share);

/// Mean or median of a window that grows or shrinks by one value at a time, to whichever of the three lengths would
/// have predicted the value that came best [Wolski1998]; equals leave it. A gap is not learnt from. Precondition: 1 <=
/// least <= most.
std::unique_ptr<Forecaster> make_adaptive_mean(std::size_t least, std::size_t most);
std::unique_ptr<Forecaster> make_adaptive_median(std::size_t least, std::size_t most);

}  // namespace zbs::forecast
