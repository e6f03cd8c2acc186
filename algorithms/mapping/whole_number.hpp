#pragma once
#include <cmath>

namespace zbs {

/// True for weights that a divider counting in integers takes as they are.
inline bool is_whole(double value) { return value == std::floor(value); }

}  // namespace zbs
