#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "client/api/polling.hpp"
#include "client/api/zone_client.hpp"

namespace zbs::client {

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
