#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "algorithms/base/result.hpp"

namespace zbs::zone_program {

/// Looks again and again whether this host could take over, on a thread of its own: where the server of a shared folder
/// is gone a look may hang for as long as that lasts, and nothing else may hang with it. One look at a time, so one
/// that hangs at most.
class TakeOverWatch {
  public:
    /// Has to own what it uses: where it hangs it outlives the watch.
    using Look = std::function<Result<void>()>;
    struct Timing {
        std::chrono::milliseconds every = std::chrono::seconds{10};    ///< a load on the shared file system
        std::chrono::milliseconds patience = std::chrono::seconds{5};  ///< with one look
        std::chrono::milliseconds fresh = std::chrono::seconds{2};     ///< a look so old still says how things are now
    };

    /// Looks first after `every`, or when `found_now` is asked.
    TakeOverWatch(Look look, Timing timing);
    explicit TakeOverWatch(Look look) : TakeOverWatch(std::move(look), Timing{}) {}
    /// Waits for a look for the rest of its patience, and leaves one that hangs to itself.
    ~TakeOverWatch();
    TakeOverWatch(const TakeOverWatch&) = delete;
    TakeOverWatch& operator=(const TakeOverWatch&) = delete;

    /// What the last look found, nothing amiss before the first; kTimeout while one is under way for longer than the
    /// patience. Any thread.
    Result<void> found() const;
    /// The same of a look that is fresh: waits for one where none is, for its patience at most. kUnavailable after
    /// `end`. Any thread that may wait.
    Result<void> found_now();
    /// No more looks; nobody waits in `found_now` any more. Any thread.
    void end();

  private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace zbs::zone_program
