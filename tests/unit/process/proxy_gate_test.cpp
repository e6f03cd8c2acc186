// A launcher of MPI is held until all its proxies have connected.
#include "services/node_agent/step/proxy_gate.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/process/step_fixture.hpp"

namespace zbs::process {
namespace {

using Proxies = StepStatus::Proxies;
using testing::HasSubstr;
using testing::Not;

/// As mpiexec: prints the commands of two proxies, and starts a rank for each that connects.
constexpr const char* kLauncher = R"(exec python3 -c '
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(16)
for proxy in range(2):
    print("HYDRA_LAUNCH: /usr/bin/hydra_pmi_proxy --control-port 127.0.0.1:%d --proxy-id %d" % (s.getsockname()[1], proxy))
print("HYDRA_LAUNCH_END", flush=True)
for proxy in range(2):
    connection = s.accept()[0]
    option = lambda which: connection.getsockopt(socket.IPPROTO_TCP, which)
    seconds = option(socket.TCP_KEEPIDLE) + option(socket.TCP_KEEPINTVL) * option(socket.TCP_KEEPCNT)
    print("rank", proxy, "is lost after", seconds, "s", flush=True)
')";

sockaddr_in local(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

struct ProxyGateTest : StepExecutorTest {
    std::vector<int> sockets;
    ~ProxyGateTest() override {
        for (const int fd : sockets) close(fd);
    }
    int port_of(const StepId& step) {
        const std::string printed = text(step, ".zbs-stdout");
        const std::size_t at = printed.find("127.0.0.1:");
        return at == std::string::npos ? 0 : std::atoi(printed.c_str() + at + 10);
    }
    void connect_to(int port) {
        sockets.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const sockaddr_in address = local(port);
        ASSERT_EQ(connect(sockets.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
    int listening_port() {
        sockets.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address = local(0);
        socklen_t size = sizeof address;
        EXPECT_EQ(bind(sockets.back(), reinterpret_cast<const sockaddr*>(&address), size), 0);
        EXPECT_EQ(listen(sockets.back(), 16), 0);
        EXPECT_EQ(getsockname(sockets.back(), reinterpret_cast<sockaddr*>(&address), &size), 0);
        return ntohs(address.sin_port);
    }
};

TEST_F(ProxyGateTest, NoRankBeginsBeforeAllProxiesHaveConnected) {
    ASSERT_TRUE(start("mpi", kLauncher, {.proxies = 2}));
    ASSERT_TRUE(eventually([&] { return executor->status("mpi").proxies == Proxies::kAwaited; }));
    const int port = port_of("mpi");
    connect_to(port);
    ASSERT_TRUE(eventually([&] { return step::connections_waiting(static_cast<unsigned>(port)) == 1; }));
    EXPECT_EQ(executor->status("mpi").proxies, Proxies::kAwaited);
    EXPECT_THAT(text("mpi", ".zbs-stdout"), Not(HasSubstr("rank")));
    connect_to(port);
    EXPECT_EQ(wait("mpi").exit_code, 0);
    EXPECT_EQ(executor->status("mpi").proxies, Proxies::kConnected);
    EXPECT_THAT(text("mpi", ".zbs-stdout"), HasSubstr("rank 1 is lost after 35 s"));
}

TEST_F(ProxyGateTest, AStopWhileItIsHeldStartsNoRank) {
    ASSERT_TRUE(start("mpi", kLauncher, {.proxies = 2}));
    ASSERT_TRUE(eventually([&] { return executor->status("mpi").proxies == Proxies::kAwaited; }));
    connect_to(port_of("mpi"));
    executor->stop("mpi", 10s);
    const StepStatus end = wait("mpi");
    EXPECT_EQ(end.exit_code, 137);
    EXPECT_EQ(end.reason, "stopped");
    EXPECT_EQ(end.proxies, Proxies::kAwaited);
    EXPECT_THAT(text("mpi", ".zbs-stdout"), Not(HasSubstr("rank")));
}

TEST_F(ProxyGateTest, AProgramWithoutProxiesIsNotHeld) {
    EXPECT_THAT(output("plain", "echo HYDRA_LAUNCH_END --control-port 127.0.0.1:1; echo on"), HasSubstr("on"));
    EXPECT_EQ(executor->status("plain").proxies, Proxies::kNone);
}

TEST_F(ProxyGateTest, AProxyWithoutConnectionToItsLauncherIsFound) {
    const int port = listening_port();
    const std::string at = "127.0.0.1:" + std::to_string(port);
    const std::vector<std::string> argv = {"/usr/bin/hydra_pmi_proxy", "--control-port", at, "--proxy-id", "0"};
    EXPECT_EQ(step::missing_launcher(argv, getpid()), at);
    connect_to(port);
    EXPECT_EQ(step::missing_launcher(argv, getpid()), "");
    EXPECT_EQ(step::missing_launcher({"/bin/sleep", "9"}, getpid()), "") << "no proxy";
}

TEST_F(ProxyGateTest, AProxyDoesNotWaitForALauncherWhoseMachineIsLost) {
    const int port = listening_port();
    connect_to(port);
    const auto is_probed = [&] {
        int is_on = 0;
        socklen_t size = sizeof is_on;
        getsockopt(sockets.back(), SOL_SOCKET, SO_KEEPALIVE, &is_on, &size);
        return is_on == 1;
    };
    step::watch_launcher({"/bin/sleep", "--control-port"}, getpid());
    EXPECT_FALSE(is_probed());
    step::watch_launcher({"/usr/bin/hydra_pmi_proxy", "--control-port", "127.0.0.1:" + std::to_string(port)}, getpid());
    EXPECT_TRUE(is_probed());
}

}  // namespace
}  // namespace zbs::process
