#pragma once
#include <cstdint>
#include <functional>

#include "algorithms/base/ids.hpp"
#include "algorithms/base/time.hpp"

namespace zbs {

/// Time and timers of the domain's strand. Leases use `steady_now`, records use `now`.
class Clock {
  public:
    using TimerId = std::uint64_t;
    virtual ~Clock() = default;

    virtual Time now() const = 0;             ///< wall clock, Unix epoch; may jump
    virtual Duration steady_now() const = 0;  ///< monotonic, any origin; never jumps
    /// Calls `wake` on the domain's strand once `delay` has passed (at once, but never from inside this call, where <=
    /// 0).
    virtual TimerId after(Duration delay, std::function<void()> wake) = 0;
    virtual void cancel(TimerId timer) = 0;  ///< unknown or fired timers are ignored
};

/// Fresh 128-bit time-ordered ids, never the same twice.
class IdSource {
  public:
    virtual ~IdSource() = default;
    virtual Id128 fresh() = 0;
};

}  // namespace zbs
