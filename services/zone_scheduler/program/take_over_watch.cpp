#include "services/zone_scheduler/program/take_over_watch.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "algorithms/base/duration_text.hpp"

namespace zbs::zone_program {
namespace {

using Clock = std::chrono::steady_clock;

Error hangs(std::chrono::milliseconds patience) {
    return {ErrorCode::kTimeout,
            "a look at the state folder and the database has not come back within " + format_duration(patience) +
                ": is the server of the shared file system there?",
            {}};
}

}  // namespace

struct TakeOverWatch::State {
    State(Look its_look, Timing its_timing) : look(std::move(its_look)), timing(its_timing) {}
    const Look look;
    const Timing timing;
    mutable std::mutex mutex;
    std::condition_variable changed;
    Result<void> last;  ///< what the last look that came back found
    std::optional<Clock::time_point> last_ended;
    std::optional<Clock::time_point> begun;  ///< of the look under way
    std::uint64_t looks = 0;                 ///< that came back
    bool is_wanted = false;                  ///< before its time
    bool is_given_up = false;                ///< by whoever waited for the look under way
    bool is_ending = false;
    bool is_over = false;

    Result<void> found() const {
        const bool hangs_now = is_given_up || (begun && Clock::now() - *begun >= timing.patience);
        return hangs_now ? hangs(timing.patience) : last;
    }
    bool is_fresh() const { return last_ended && Clock::now() - *last_ended <= timing.fresh; }

    /// On the watch's own thread.
    void run() {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait_for(lock, timing.every, [this] { return is_wanted || is_ending; });
            if (is_ending) break;
            begun = Clock::now();
            lock.unlock();
            Result<void> now = look();
            lock.lock();
            last = std::move(now);
            last_ended = Clock::now();
            ++looks;
            begun.reset();
            is_wanted = is_given_up = false;
            changed.notify_all();
        }
        is_over = true;
        changed.notify_all();
    }
};

TakeOverWatch::TakeOverWatch(Look look, Timing timing) : state_(std::make_shared<State>(std::move(look), timing)) {
    std::thread([state = state_] { state->run(); }).detach();
}

TakeOverWatch::~TakeOverWatch() {
    end();
    std::unique_lock lock(state_->mutex);
    // What is under way may be within a library that must not outlive `main`.
    const auto until = state_->begun.value_or(Clock::now()) + state_->timing.patience;
    state_->changed.wait_until(lock, until, [this] { return state_->is_over; });
}

Result<void> TakeOverWatch::found() const {
    const std::lock_guard lock(state_->mutex);
    return state_->found();
}

Result<void> TakeOverWatch::found_now() {
    State& state = *state_;
    std::unique_lock lock(state.mutex);
    if (!state.is_fresh()) {
        state.is_wanted = true;
        state.changed.notify_all();
        const auto until = state.begun.value_or(Clock::now()) + state.timing.patience;
        const bool came_back = state.changed.wait_until(
            lock, until, [&, before = state.looks] { return state.looks != before || state.is_ending; });
        state.is_given_up = !came_back;
    }
    if (state.is_ending) return Error{ErrorCode::kUnavailable, "it ends", {}};
    return state.found();
}

void TakeOverWatch::end() {
    const std::lock_guard lock(state_->mutex);
    state_->is_ending = true;
    state_->changed.notify_all();
}

}  // namespace zbs::zone_program
