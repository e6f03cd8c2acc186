#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <string>

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

struct ServiceCalls {
    std::function<void()> ready = {};   ///< once, when signals are handled; announces the service
    std::function<void()> drain = {};   ///< once, on SIGTERM or SIGINT
    std::function<void()> reload = {};  ///< on each SIGHUP
    /// Posts to where the service decides, e.g. its strand; empty: to any thread of the loop.
    Watchdog::Post post = {};
};

/// Runs `io` on `threads` threads until SIGTERM or SIGINT, then calls `drain` once and goes on until `io` runs dry, at
/// most 10 s. `drain` and `reload` run on a thread of their own: they post what belongs to `io`. SIGPIPE is ignored,
/// core files are off (they would hold secrets), nobody of the same user can read this process's memory, and as many
/// connections as the system allows can be open. A service manager that started this program (NOTIFY_SOCKET,
/// sd_notify(3)) receives: ready, reloading, stopping, and where it watches (WatchdogSec=), that `post` still works.
void run_until_signalled(boost::asio::io_context& io, int threads, const ServiceCalls& calls);

/// One line for the service manager to show beside the service's state; nothing where there is none. Any thread.
void report_status(const std::string& status);

}  // namespace zbs::beast
