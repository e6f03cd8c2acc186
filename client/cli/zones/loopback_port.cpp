#include "client/cli/zones/loopback_port.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

namespace zbs::cli {
namespace {

constexpr int kFirstPort = 10'000;
constexpr int kLastPort = 32'767;  // the kernel's own begin behind it, where nobody has set them otherwise
constexpr int kFewestPorts = 1'000;

int last_port() {
    std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
    int first_of_kernel = 0;
    if (!(range >> first_of_kernel)) return kLastPort;
    return std::clamp(first_of_kernel - 1, kFirstPort + kFewestPorts, kLastPort);
}

Descriptor mark(int port) {
    Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string text = "zbs-port-" + std::to_string(port);  // behind a null byte: in no folder
    std::memcpy(name.sun_path + 1, text.data(), text.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    if (!made || bind(made.get(), reinterpret_cast<sockaddr*>(&name), length) != 0) return Descriptor();
    return made;
}

bool is_free(int port) {
    const Descriptor probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;  // as the services do: who has left the port blocks nobody
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return probe && setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
           bind(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

Result<LoopbackPort> LoopbackPort::take() { return take(kFirstPort, last_port()); }

Result<LoopbackPort> LoopbackPort::take(int first, int last) {
    std::random_device seed;
    const int count = last - first + 1;
    const int begin = std::uniform_int_distribution<int>(0, count - 1)(seed);
    for (int i = 0; i < count; ++i) {
        const int port = first + (begin + i) % count;
        Descriptor marked = mark(port);
        if (marked && is_free(port)) return LoopbackPort(std::move(marked), port);
    }
    return Error{ErrorCode::kUnavailable,
                 "no port of 127.0.0.1 from " + std::to_string(first) + " to " + std::to_string(last) +
                     " is free; 'ss -ltnp' lists the programs that listen",
                 {}};
}

}  // namespace zbs::cli
