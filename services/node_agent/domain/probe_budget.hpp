#pragma once
#include <cstddef>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace zbs {

/// What this agent brings others that measure the way to it: a token bucket of bytes for all of them together, so that
/// nobody, also not an agent that has gone mad, keeps machine and network busy. Lives on the domain's strand.
class ProbeBudget {
  public:
    static constexpr std::size_t kBytesPerSecond = 1024 * 1024;
    static constexpr std::size_t kBurst = 2 * 1024 * 1024;
    static constexpr std::size_t kMin = 4 * 1024;  ///< what a call costs that brings less

    /// Takes so many bytes; `now` is the monotonic clock. Errors: kTooManyRequests, and nothing was taken.
    Result<void> take(std::size_t bytes, Duration now);

  private:
    Duration full_at_{};  ///< when the bucket will be full again; a burst ahead: it is empty
};

}  // namespace zbs
