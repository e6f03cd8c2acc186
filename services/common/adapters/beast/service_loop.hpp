#pragma once
#include <boost/asio/io_context.hpp>
#include <functional>

namespace zbs::beast {

/// Runs `io` on `threads` threads until SIGTERM or SIGINT, then calls `drain` once and goes on until `io` runs dry, at
/// most 10 s. `drain` runs on a thread of its own: it posts what belongs to `io`. SIGPIPE is ignored, core files are
/// off (they would hold secrets).
void run_until_signalled(boost::asio::io_context& io, int threads, const std::function<void()>& drain);

}  // namespace zbs::beast
