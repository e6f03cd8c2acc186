#pragma once
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "client/api/zone_client.hpp"

namespace zbs::client {

inline constexpr std::chrono::milliseconds kShortestPause{20}, kLongestPause{200};

/// How long to leave a service alone that has been asked for `waited` so far whether something has happened: an eighth
/// of that, from kShortestPause to kLongestPause. An end is seen late by a small part of the time it took: a job
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

/// Waits until something happens to an application: by its zone's events, or, if the zone refuses a stream or cannot be
/// reached, after pauses as between polls. For one thread.
class EventWaiter {
  public:
    EventWaiter(ZoneClient& zone, std::string id);
    ~EventWaiter();
    EventWaiter(const EventWaiter&) = delete;
    EventWaiter& operator=(const EventWaiter&) = delete;

    /// Returns once the application has changed since the last call, or may have; after `longest` in any case, and soon
    /// after `stop` says so. True where it has to be looked at.
    bool wait(
        std::chrono::milliseconds longest, const std::function<bool()>& stop = [] { return false; });
    /// The present state according to the events received; empty before the first one.
    std::string state() const;

  private:
    struct Shared;
    void listen();

    ZoneClient& zone_;
    std::string id_;
    std::shared_ptr<Shared> shared_;
    Polling polling_;
};

}  // namespace zbs::client
