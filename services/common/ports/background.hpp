#pragma once
#include <functional>

namespace zbs {

/// Work that would hold the domain's strand for too long. Called on that strand.
class BackgroundWork {
  public:
    virtual ~BackgroundWork() = default;
    /// Carries out `work` beside the strand, then `done` on it; never from inside this call. `work` shares nothing that
    /// changes with the strand, and does not throw. At the end of the program neither needs to be called.
    virtual void run(std::function<void()> work, std::function<void()> done) = 0;
};

}  // namespace zbs
