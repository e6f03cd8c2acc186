#include "services/common/adapters/beast/watchdog.hpp"

#include <systemd/sd-daemon.h>

#include <cstdint>
#include <utility>

namespace zbs::beast {

Watchdog::Watchdog(boost::asio::io_context& control, Post post) : timer_(control), post_(std::move(post)) {
    std::uint64_t span = 0;
    if (sd_watchdog_enabled(0, &span) <= 0) return;
    every_ = std::chrono::microseconds(span / 3);
    wait();
}

void Watchdog::wait() {
    timer_.expires_after(every_);
    timer_.async_wait([this](const boost::system::error_code& cancelled) {
        if (cancelled) return;
        post_([] { sd_notify(0, "WATCHDOG=1"); });
        wait();
    });
}

}  // namespace zbs::beast
