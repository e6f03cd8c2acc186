#pragma once
#include <cstdint>
#include <functional>

#include "algorithms/base/ids.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/messages/names/owned_id.hpp"

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
    /// A fresh id with the mark of `owner`, under whose name it is used.
    Id128 fresh(const Caller& owner) { return marked(draw(), owner); }

  private:
    /// The lowest 32 bits are for the mark: ids differ, and grow, without them.
    virtual Id128 draw() = 0;
};

/// Work that would hold the domain's strand for too long. Called on that strand.
class BackgroundWork {
  public:
    virtual ~BackgroundWork() = default;
    /// Carries out `work` beside the strand, then `done` on it; never from inside this call. `work` shares nothing that
    /// changes with the strand, and does not throw. At the end of the program neither needs to be called.
    virtual void run(std::function<void()> work, std::function<void()> done) = 0;
};

}  // namespace zbs
