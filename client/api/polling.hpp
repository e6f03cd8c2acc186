#pragma once
#include <algorithm>
#include <chrono>
#include <thread>

namespace zbs::client {

inline constexpr std::chrono::milliseconds kShortestPause{20}, kLongestPause{200};

/// How long to leave a service alone that has been asked for `waited` so far whether something has happened: an eighth
/// of that, from kShortestPause to kLongestPause. What happens is seen late by little beside the time it took: a job
/// that runs for half a second is not kept for another 0.2 s.
constexpr std::chrono::milliseconds pause_after(std::chrono::steady_clock::duration waited) {
    return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(waited) / 8, kShortestPause, kLongestPause);
}

/// Sleeps between two questions.
class Polling {
  public:
    std::chrono::milliseconds next_pause() const { return pause_after(std::chrono::steady_clock::now() - begin_); }
    void pause() const { std::this_thread::sleep_for(next_pause()); }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace zbs::client
