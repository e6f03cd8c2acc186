#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "services/common/ports/clock.hpp"

namespace zbs::test {

/// Clock that stands still until a test moves it. Timers fire in the order of their times, equal times in the order in
/// which they were set, each at its own time; what they set fires too, where it is due.
class VirtualClock : public Clock {
  public:
    /// Neither origin is zero, so that a test notices when one is taken for the other.
    explicit VirtualClock(Time wall = time_from_microseconds(1'700'000'000'000'000),
                          Duration steady = std::chrono::hours{5})
        : wall_(wall), steady_(steady) {}

    Time now() const override { return wall_; }
    Duration steady_now() const override { return steady_; }
    TimerId after(Duration delay, std::function<void()> wake) override {
        const TimerId id = ++last_;
        const Duration due = steady_ + std::max(delay, Duration{0});
        timers_.emplace(std::pair{due, id}, std::move(wake));
        due_.emplace(id, due);
        return id;
    }
    void cancel(TimerId timer) override {
        const auto due = due_.extract(timer);
        if (!due.empty()) timers_.erase({due.mapped(), timer});
    }

    /// Moves on by `step` and fires what becomes due.
    void advance(Duration step) {
        const Duration end = steady_ + step;
        for (int fired = 0; !timers_.empty() && timers_.begin()->first.first <= end; ++fired) {
            ZBS_EXPECTS(fired < 10'000'000);  // a timer that sets itself again without delay
            const auto next = timers_.extract(timers_.begin());
            due_.erase(next.key().second);
            move_to(next.key().first);
            next.mapped()();
        }
        move_to(end);
    }
    /// Fires what is due now.
    void settle() { advance(Duration{0}); }
    /// The wall clock jumps; the monotonic one does not.
    void set_wall(Time wall) { wall_ = wall; }
    std::size_t pending() const { return timers_.size(); }

  private:
    void move_to(Duration steady) {
        wall_ += steady - steady_;
        steady_ = steady;
    }

    Time wall_;
    Duration steady_;
    TimerId last_ = 0;
    std::map<std::pair<Duration, TimerId>, std::function<void()>> timers_;
    std::unordered_map<TimerId, Duration> due_;  ///< of the timers that are set
};

/// Ids 1, 2, 3, ... of one instant.
class CountingIds : public IdSource {
    Id128 draw() override { return make_id128(1'700'000'000'000, 0, ++last_ << 32); }

    std::uint64_t last_ = 0;
};

}  // namespace zbs::test
