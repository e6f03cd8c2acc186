#include "services/node_agent/step/proxy_gate.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/messages/steps/own_files.hpp"

namespace zbs::step {
namespace {

/// The launcher's queue of connections holds 4,096 (SOMAXCONN); with so many it goes on in any case.
constexpr std::size_t kMaxAwaited = 1'000;
constexpr std::size_t kMaxCommands = 4 * 1024 * 1024;
constexpr unsigned kEstablished = 1, kListens = 10;  ///< TCP_ESTABLISHED, TCP_LISTEN

/// Of a line of /proc/net/tcp.
struct Socket {
    unsigned local_port = 0, remote_port = 0, state = 0;
    unsigned received = 0;  ///< bytes; where it listens, connections that wait
    std::uint64_t inode = 0;
};

template <class Look>
void for_each_socket(Look look) {
    for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        std::ifstream in(table);
        for (std::string line; std::getline(in, line);) {
            Socket socket;
            // NUMBER: ADDRESS:PORT ADDRESS:PORT STATE SENDING:RECEIVED TIMER:WHEN RETRIES USER TIMEOUT INODE
            if (std::sscanf(
                    line.c_str(), " %*u: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%x %x %*x:%x %*x:%*x %*x %*u %*u %" SCNu64,
                    &socket.local_port, &socket.remote_port, &socket.state, &socket.received, &socket.inode) == 5)
                look(socket);
        }
    }
}

/// Of "HOST:PORT".
std::optional<unsigned> port_in(std::string_view text) {
    text.remove_prefix(text.rfind(':') + 1);
    unsigned port = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), port);
    return fault == std::errc{} ? std::optional(port) : std::nullopt;
}

/// Where the launcher listens, once it has printed all commands.
std::optional<unsigned> printed_port(std::string_view text) {
    constexpr std::string_view kEnd = "HYDRA_LAUNCH_END", kPort = "--control-port ";
    const std::size_t option = text.find(kPort);
    if (text.find(kEnd) == std::string_view::npos || option == std::string_view::npos) return std::nullopt;
    const std::string_view value = text.substr(option + kPort.size());
    return port_in(value.substr(0, value.find_first_of(" \n")));
}

bool is_process_stopped(pid_t pid) {
    const std::string stat =
        process::read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");  // PID (NAME) STATE ...
    const std::size_t name_end = stat.rfind(") ");
    return name_end == std::string::npos || std::string_view("TtZX").find(stat[name_end + 2]) != std::string::npos;
}

/// The sockets among the descriptors of a process: inode -> descriptor.
std::map<std::uint64_t, int> sockets_of(pid_t pid) {
    std::map<std::uint64_t, int> own;
    std::error_code fault;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", fault)) {
        const std::string target = std::filesystem::read_symlink(entry, fault).string();  // socket:[INODE]
        if (target.starts_with("socket:["))
            own.emplace(std::strtoull(target.c_str() + 8, nullptr, 10), std::atoi(entry.path().filename().c_str()));
    }
    return own;
}

/// Of a socket that listens: also those of its connections that come from now on.
void end_after_silence(int socket) {
    constexpr int kOn = 1, kFirstProbe_s = 5, kProbe_s = 2, kProbes = 15;  // many: a bad line loses some of them
    static_assert(kFirstProbe_s + kProbe_s * kProbes == kSilence.count());
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &kOn, sizeof kOn);
    setsockopt(socket, SOL_TCP, TCP_KEEPIDLE, &kFirstProbe_s, sizeof kFirstProbe_s);
    setsockopt(socket, SOL_TCP, TCP_KEEPINTVL, &kProbe_s, sizeof kProbe_s);
    setsockopt(socket, SOL_TCP, TCP_KEEPCNT, &kProbes, sizeof kProbes);
}

/// `end_after_silence` of those sockets of `pid` that `is_meant` answers true for.
template <class IsMeant>
void end_after_silence(pid_t pid, IsMeant is_meant) {
    const std::map<std::uint64_t, int> own = sockets_of(pid);
    const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    for_each_socket([&](const Socket& socket) {
        const auto at = own.find(socket.inode);
        if (!process || at == own.end() || !is_meant(socket)) return;
        const Descriptor copy(static_cast<int>(syscall(SYS_pidfd_getfd, process.get(), at->second, 0)));
        if (copy) end_after_silence(copy.get());
    });
}

std::optional<unsigned> launcher_port(const std::vector<std::string>& argv) {
    const auto option = std::ranges::find(argv, "--control-port");
    return option == argv.end() || option + 1 == argv.end() ? std::nullopt : port_in(*(option + 1));
}

void leave_mark(const std::string& path) {
    if (const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600); fd >= 0) close(fd);
}

}  // namespace

std::size_t connections_waiting(unsigned port) {
    std::size_t waiting = 0;
    for_each_socket([&](const Socket& socket) {
        if (socket.state == kListens && socket.local_port == port) waiting += socket.received;
    });
    return waiting;
}

std::string missing_launcher(const std::vector<std::string>& argv, pid_t pid) {
    const auto option = std::ranges::find(argv, "--control-port");
    if (option == argv.end() || option + 1 == argv.end()) return {};
    const std::optional<unsigned> port = port_in(*(option + 1));
    const std::map<std::uint64_t, int> own = sockets_of(pid);
    bool is_connected = false;
    for_each_socket([&](const Socket& socket) {
        is_connected |= socket.state == kEstablished && socket.remote_port == port && own.contains(socket.inode);
    });
    return is_connected ? "" : *(option + 1);
}

void watch_launcher(const std::vector<std::string>& argv, pid_t pid) {
    const std::optional<unsigned> port = launcher_port(argv);
    if (port)
        end_after_silence(
            pid, [port](const Socket& socket) { return socket.state == kEstablished && socket.remote_port == *port; });
}

ProxyGate::ProxyGate(std::string folder, StepId step_id, std::size_t proxies)
    : folder_(std::move(folder)),
      step_id_(std::move(step_id)),
      proxies_(std::min(proxies, kMaxAwaited)),
      phase_(proxies > 0 ? Phase::kPrinting : Phase::kOpen) {}

/// False while one of them is not stopped yet, where that is what the signal is for.
bool ProxyGate::signal_all(int number) const {
    bool all_stopped = true;
    for (const process::ProcessRef& one : process::find_marked(process::step_variable(step_id_), getpid())) {
        process::send_signal(one, number);
        all_stopped = all_stopped && is_process_stopped(one.pid);
    }
    return all_stopped;
}

void ProxyGate::advance() {
    if (phase_ == Phase::kPrinting) {
        const std::string commands = folder_ + "/job/" + std::string(own_files::kStdout);
        const std::optional<unsigned> port = printed_port(process::read_file(commands, kMaxCommands).value_or(""));
        if (!port || !signal_all(SIGSTOP)) return;
        port_ = *port;
        for (const process::ProcessRef& one : process::find_marked(process::step_variable(step_id_), getpid()))
            end_after_silence(one.pid, [this](const Socket& socket) {
                return socket.state == kListens && socket.local_port == port_;
            });
        phase_ = Phase::kHolding;
        leave_mark(folder_ + "/held");
    } else if (phase_ == Phase::kHolding && connections_waiting(port_) >= proxies_) {
        leave_mark(folder_ + "/connected");
        signal_all(SIGCONT);
        phase_ = Phase::kOpen;
    }
}

void ProxyGate::shut() {
    if (phase_ == Phase::kHolding) signal_all(SIGKILL);
    phase_ = Phase::kOpen;
}

}  // namespace zbs::step
