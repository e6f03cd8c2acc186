#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "services/common/ports/clock.hpp"

namespace zbs::test {

/// BackgroundWork in the same thread, at the same time of the clock; or when a test wants it.
class VirtualBackground final : public BackgroundWork {
  public:
    explicit VirtualBackground(Clock& clock) : clock_(clock) {}
    void run(std::function<void()> work, std::function<void()> done) override {
        if (is_held) return held.push_back({std::move(work), std::move(done)});
        clock_.after(Duration{0}, [work = std::move(work), done = std::move(done)] {
            work();
            done();
        });
    }

    struct Held {
        std::function<void()> work, done;
    };
    bool is_held = false;
    std::vector<Held> held;

  private:
    Clock& clock_;
};

}  // namespace zbs::test
