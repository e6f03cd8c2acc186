#pragma once
#include <functional>

#include "algorithms/base/result.hpp"

namespace zbs {

/// Called exactly once, on the domain's strand, never from inside the call that asked.
template <class T>
using Respond = std::function<void(Result<T>)>;

}  // namespace zbs
