#include "services/node_agent/step/starter.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/common/adapters/process/control_group.hpp"
#include "services/common/adapters/process/starter_message.hpp"
#include "services/common/adapters/process/supervisor_spawn.hpp"

namespace zbs::step {
namespace {
using namespace process;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{2};
constexpr std::size_t kMostCallers = 16;  ///< at once; more wait in the queue of the socket
constexpr std::size_t kMostSent = 16;     ///< descriptors of one message that are told apart from too many

struct Caller {
    Descriptor connection;
    SteadyClock::time_point until;
};

bool fill(sockaddr_un& address, const std::string& path) {
    address = {.sun_family = AF_UNIX, .sun_path = {}};
    if (path.empty() || path.size() >= sizeof address.sun_path) return false;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return true;
}

int fail(const std::string& what) {
    std::fprintf(stderr, "zbs-step: %s\n", what.c_str());
    return 1;
}

/// A socket at `path` that takes callers; what an ended starter left there is replaced, a living one is not.
Descriptor listen_at(const std::string& path) {
    sockaddr_un address{};
    if (!fill(address, path)) {
        errno = ENAMETOOLONG;
        return Descriptor();
    }
    const auto* const where = reinterpret_cast<const sockaddr*>(&address);
    Descriptor attempt(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (connect(attempt.get(), where, sizeof address) == 0 || errno == EAGAIN) {
        errno = EADDRINUSE;
        return Descriptor();
    }
    if (errno == ECONNREFUSED) unlink(path.c_str());
    Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (bind(made.get(), where, sizeof address) != 0 || chmod(path.c_str(), 0600) != 0 ||
        listen(made.get(), SOMAXCONN) != 0)
        return Descriptor();
    return made;
}

/// sd_notify(3), without its library: every supervisor would load that, too.
void tell_service_manager(const char* text) {
    const char* const name = std::getenv("NOTIFY_SOCKET");
    sockaddr_un address{};
    if (name == nullptr || !fill(address, name)) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(name));
    if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
    const Descriptor to(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sendto(to.get(), text, std::strlen(text), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
}

bool is_memory_file(int fd) { return fcntl(fd, F_GET_SEALS) >= 0; }

bool is_written(int fd, mode_t type) {
    struct stat info {};
    const int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) == O_WRONLY && fstat(fd, &info) == 0 && (info.st_mode & S_IFMT) == type;
}

/// All of a memory file; cut one byte behind what is accepted, so that it is seen to be too long.
std::string read_memory_file(int fd) {
    std::string text(kMaxSupervisorArgumentBytes + 1, '\0');
    std::size_t size = 0;
    for (ssize_t got;
         size < text.size() && (got = pread(fd, text.data() + size, text.size() - size, static_cast<off_t>(size))) > 0;)
        size += static_cast<std::size_t>(got);
    text.resize(size);
    return text;
}

/// What one caller said.
struct Request {
    std::string text;
    std::vector<Descriptor> given;
    bool is_whole = false;
};

Request receive(int connection) {
    Request request;
    std::array<char, 64> room{};
    iovec part{.iov_base = room.data(), .iov_len = room.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostSent * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0) return request;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
            request.given.emplace_back(fd);
        }
    }
    request.text.assign(room.data(), static_cast<std::size_t>(got));
    request.is_whole = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
    return request;
}

StarterReply start(const Request& request, const std::string& program) {
    if (!request.is_whole || request.text != kStarterRequest) return {0, "this is no request to start a step"};
    const std::vector<Descriptor>& given = request.given;
    if (given.size() != kStarterDescriptors)
        return {0, "a request has " + std::to_string(kStarterDescriptors) + " descriptors, not " +
                       std::to_string(given.size())};
    if (!is_memory_file(given[0].get())) return {0, "the arguments are in no memory file"};
    if (!is_written(given[1].get(), S_IFREG)) return {0, "the log is no file that is written"};
    if (!is_written(given[2].get(), S_IFIFO)) return {0, "the answer goes into no pipe"};
    if (!is_memory_file(given[3].get())) return {0, "the input is in no memory file"};
    const auto arguments = decode_arguments(read_memory_file(given[0].get()));
    if (!arguments) return {0, arguments.error().message};
    StarterReply reply;
    const int fault = spawn_supervisor(
        program, *arguments, {.log = given[1].get(), .answer = given[2].get(), .input = given[3].get()}, reply.pid);
    if (fault != 0) return {0, "cannot start " + program + ": " + std::strerror(fault)};
    return reply;
}

void serve(const Caller& caller, const std::string& program) {
    const Request request = receive(caller.connection.get());
    if (request.text.empty() && request.given.empty()) return;  // it only looked who is here
    const StarterReply reply = start(request, program);
    if (reply.pid == 0) std::fprintf(stderr, "zbs-step: refused a start: %s\n", reply.fault.c_str());
    const std::string text = encode(reply);
    send(caller.connection.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void take_caller(int listener, std::vector<Caller>& callers) {
    Descriptor connection(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.get() < 0) return;
    ucred who{};
    socklen_t size = sizeof who;
    if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != geteuid()) {
        std::fprintf(stderr, "zbs-step: refused a caller of user %u\n", who.uid);
        return;
    }
    callers.push_back({std::move(connection), SteadyClock::now() + kPatience});
}

int until_next(const std::vector<Caller>& callers) {
    if (callers.empty()) return -1;
    const auto first = std::ranges::min_element(callers, {}, &Caller::until)->until;
    return static_cast<int>(
        std::max<long>(0, std::chrono::ceil<std::chrono::milliseconds>(first - SteadyClock::now()).count()));
}

/// True where it is to end.
bool read_signals(int signals) {
    bool ends = false;
    for (signalfd_siginfo signal{}; read(signals, &signal, sizeof signal) == sizeof signal;)
        ends = ends || signal.ssi_signo != SIGCHLD;
    while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
    return ends;
}

}  // namespace

int serve_starts(const std::string& socket, const std::string& program) {
    sigset_t watched;
    sigemptyset(&watched);
    for (const int s : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&watched, s);
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    const Descriptor signals(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
    umask(077);
    const Descriptor listener = listen_at(socket);
    if (listener.get() < 0) return fail("cannot listen at " + socket + ": " + std::strerror(errno));
    ControlGroup::make_room(std::string(kStarterGroup));  // where none was delegated, none is divided
    tell_service_manager("READY=1");
    std::printf("zbs-step starts steps for who asks at %s\n", socket.c_str());
    std::fflush(stdout);
    std::vector<Caller> callers;
    for (;;) {
        std::vector<pollfd> waiting = {{signals.get(), POLLIN, 0}};
        for (const Caller& caller : callers) waiting.push_back({caller.connection.get(), POLLIN, 0});
        if (callers.size() < kMostCallers) waiting.push_back({listener.get(), POLLIN, 0});
        poll(waiting.data(), waiting.size(), until_next(callers));
        if (read_signals(signals.get())) break;
        const auto now = SteadyClock::now();
        std::vector<Caller> silent;
        for (std::size_t i = 0; i < callers.size(); ++i) {
            if (waiting[i + 1].revents != 0)
                serve(callers[i], program);
            else if (now < callers[i].until)
                silent.push_back(std::move(callers[i]));
        }
        const bool has_room = callers.size() < kMostCallers;
        callers = std::move(silent);
        if (has_room && waiting.back().revents != 0) take_caller(listener.get(), callers);
    }
    tell_service_manager("STOPPING=1");
    unlink(socket.c_str());
    return 0;
}

}  // namespace zbs::step
