#include "client/cli/zones/loopback_port.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fstream>
#include <optional>

namespace zbs::cli {
namespace {

Descriptor listener_on(int port) {
    Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    EXPECT_EQ(bind(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(made.get(), 1), 0);
    return made;
}

TEST(LoopbackPort, LiesBelowWhatTheKernelGivesToConnections) {
    int first_of_kernel = 0;
    std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first_of_kernel;
    const auto port = LoopbackPort::take();
    ASSERT_TRUE(port) << port.error().message;
    EXPECT_GE(port->number(), 10'000);
    if (first_of_kernel > 11'000) {
        EXPECT_LT(port->number(), first_of_kernel);
    }
}

TEST(LoopbackPort, IsNobodyElsesWhileItLives) {
    std::optional<LoopbackPort> kept = *LoopbackPort::take();
    const int number = kept->number();
    const auto again = LoopbackPort::take(number, number);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(again.error().message.find(std::to_string(number)), std::string::npos);
    kept.reset();
    EXPECT_TRUE(LoopbackPort::take(number, number));
}

TEST(LoopbackPort, NobodyListensOnIt) {
    const int number = LoopbackPort::take()->number();
    const Descriptor other = listener_on(number);
    EXPECT_FALSE(LoopbackPort::take(number, number));
}

}  // namespace
}  // namespace zbs::cli
