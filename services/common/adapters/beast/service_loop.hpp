#pragma once
#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>

namespace zbs::beast {

/// Runs `io` on `threads` threads until SIGTERM or SIGINT, then calls `drain` once and goes on until `io` runs dry, at
/// most 10 s. `drain` runs on a thread of its own: it posts what belongs to `io`. SIGPIPE is ignored, core files are
/// off (they would hold secrets), nobody of the same user can read this process's memory, and as many connections as
/// the system allows can be open. SIGHUP calls `reload`, on the same thread as `drain`, each time. Where a
/// service manager started this program (NOTIFY_SOCKET, sd_notify(3)), it is told: ready, reloading, stopping.
void run_until_signalled(boost::asio::io_context& io, int threads, const std::function<void()>& drain,
                         const std::function<void()>& reload = {});

/// One line for the service manager to show beside the service's state; nothing where there is none. Any thread.
void tell_status(const std::string& status);

}  // namespace zbs::beast
