#include "services/common/adapters/beast/service_loop.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "tests/support/temporary_folder.hpp"

namespace zbs::beast {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kSpan{300};
constexpr std::chrono::seconds kDeadline{30};

/// A service manager that watches this process.
class Manager {
  public:
    explicit Manager(bool watches) {
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        const std::string path = folder_.path() + "/notify";
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        setenv("NOTIFY_SOCKET", path.c_str(), 1);
        if (!watches) return;
        setenv("WATCHDOG_USEC", std::to_string(std::chrono::microseconds(kSpan).count()).c_str(), 1);
        setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
    }
    ~Manager() {
        for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
        close(socket_);
    }

    /// The next word; empty where none comes in that time.
    std::string hear(std::chrono::milliseconds patience) const {
        pollfd one{.fd = socket_, .events = POLLIN, .revents = 0};
        if (poll(&one, 1, static_cast<int>(patience.count())) != 1) return {};
        char text[64];
        const ssize_t got = recv(socket_, text, sizeof text, 0);
        return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : std::string();
    }
    void forget() const {
        while (!hear(std::chrono::milliseconds(0)).empty()) {
        }
    }

  private:
    test::TemporaryFolder folder_;
    int socket_ = -1;
};

/// A service: its own loop and the one of its control, each with a thread.
class Service {
  public:
    Service() : watchdog_(control_, [this](std::function<void()> work) { asio::post(io_, std::move(work)); }) {}
    ~Service() {
        work_.reset();
        control_.stop();
        control_thread_.join();
        thread_.join();
    }
    asio::io_context& io() { return io_; }

  private:
    asio::io_context io_, control_;
    Watchdog watchdog_;
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()},
        control_work_{control_.get_executor()};
    std::thread thread_{[this] { io_.run(); }}, control_thread_{[this] { control_.run(); }};
};

TEST(Watchdog, TellsAgainAndAgainThatTheServiceDecides) {
    const Manager manager(true);
    const Service service;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(manager.hear(kDeadline), "WATCHDOG=1");
}

TEST(Watchdog, AServiceThatHangsIsSilentUntilItGoesOn) {
    const Manager manager(true);
    Service service;
    EXPECT_EQ(manager.hear(kDeadline), "WATCHDOG=1");
    std::promise<void> hangs, go_on;
    asio::post(service.io(), [&] {
        hangs.set_value();
        go_on.get_future().wait();
    });
    hangs.get_future().wait();
    manager.forget();
    EXPECT_EQ(manager.hear(2 * kSpan), "");
    go_on.set_value();
    EXPECT_EQ(manager.hear(kDeadline), "WATCHDOG=1");
}

TEST(Watchdog, NobodyIsToldWhereNobodyWatches) {
    const Manager manager(false);
    const Service service;
    EXPECT_EQ(manager.hear(kSpan), "");
}

}  // namespace
}  // namespace zbs::beast
