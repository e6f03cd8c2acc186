#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>

namespace zbs::beast {

/// Notifies a service manager that asked for it (WATCHDOG_USEC, sd_watchdog_enabled(3)) that the service still decides:
/// three times in each of the manager's spans a task goes the way of all work, and its run sends the notification. A
/// service that hangs is silent, and the manager starts it again. Nothing happens where no manager asked.
class Watchdog {
  public:
    /// Runs its argument where the service decides, after all that waits there.
    using Post = std::function<void(std::function<void()>)>;

    /// Its timer runs on `control`, whose thread does nothing else for long; ended before this is.
    Watchdog(boost::asio::io_context& control, Post post);

  private:
    void wait();
    boost::asio::steady_timer timer_;
    Post post_;
    std::chrono::microseconds every_{0};
};

}  // namespace zbs::beast
