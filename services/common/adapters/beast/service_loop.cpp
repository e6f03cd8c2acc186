#include "services/common/adapters/beast/service_loop.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace zbs::beast {
namespace {

/// Waits for SIGHUP again and again.
void await_hangup(boost::asio::signal_set& hangup, const std::function<void()>& reload) {
    hangup.async_wait([&hangup, &reload](const boost::system::error_code& fault, int) {
        if (fault) return;
        sd_notify(0, "RELOADING=1");
        if (reload) reload();
        sd_notify(0, "READY=1");
        await_hangup(hangup, reload);
    });
}

}  // namespace

void run_until_signalled(boost::asio::io_context& io, int threads, const ServiceCalls& calls) {
    std::signal(SIGPIPE, SIG_IGN);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    // Signals and the time limit live on a loop of their own: on `io` they would be work that keeps it from running
    // dry.
    boost::asio::io_context control;
    auto until_signalled = boost::asio::make_work_guard(io);
    boost::asio::signal_set signals(control, SIGTERM, SIGINT);
    boost::asio::signal_set hangup(control, SIGHUP);
    await_hangup(hangup, calls.reload);
    boost::asio::steady_timer limit(control);
    signals.async_wait([&](const boost::system::error_code& fault, int) {
        if (fault) return;
        sd_notify(0, "STOPPING=1");
        calls.drain();
        until_signalled.reset();
        limit.expires_after(std::chrono::seconds(10));
        limit.async_wait([&io](const boost::system::error_code& cancelled) {
            if (!cancelled) io.stop();
        });
    });
    const Watchdog watchdog(
        control,
        calls.post ? calls.post : [&io](std::function<void()> work) { boost::asio::post(io, std::move(work)); });
    if (calls.ready) calls.ready();
    sd_notify(0, "READY=1");  // the callers listen already; nothing happens where no service manager asked for it
    std::thread controller([&control] { control.run(); });
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back([&io] { io.run(); });
    io.run();
    for (std::thread& thread : others) thread.join();
    control.stop();
    controller.join();
}

void report_status(const std::string& status) { sd_notify(0, ("STATUS=" + status).c_str()); }

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
