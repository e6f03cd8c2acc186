#include "services/node_agent/step/starter.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
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
#include "services/common/adapters/process/start/descriptor_message.hpp"
#include "services/common/adapters/process/start/starter_message.hpp"
#include "services/common/adapters/process/step_input.hpp"
#include "services/node_agent/step/step_units.hpp"

namespace zbs::step {
namespace {

using namespace process;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{2};
constexpr std::ptrdiff_t kMaxCallers = 16;  ///< at once; more wait in the queue of the socket

struct Caller {
    Descriptor connection;
    SteadyClock::time_point until;
    pid_t pid = 0;
    bool is_step = false;  ///< it comes for what was given to begin it
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
void notify_service_manager(const char* text) {
    const char* const name = std::getenv("NOTIFY_SOCKET");
    sockaddr_un address{};
    if (name == nullptr || !fill(address, name)) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(name));
    if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
    const Descriptor to(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sendto(to.get(), text, std::strlen(text), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
}

bool is_written(int fd, mode_t type) {
    struct stat info {};
    const int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) == O_WRONLY && fstat(fd, &info) == 0 && (info.st_mode & S_IFMT) == type;
}

/// Why these are not what a supervisor is made of; empty where they are.
std::string find_fault(const DescriptorMessage& request) {
    if (!request.is_whole || request.text != kStarterRequest) return "this is no request to start a step";
    const std::vector<Descriptor>& given = request.given;
    if (given.size() != kStarterDescriptors)
        return "a request has " + std::to_string(kStarterDescriptors) + " descriptors, not " +
               std::to_string(given.size());
    if (!is_memory_file(given[0].get())) return "the arguments are in no memory file";
    if (!is_written(given[1].get(), S_IFREG)) return "the log is no file that is written";
    if (!is_written(given[2].get(), S_IFIFO)) return "the answer goes into no pipe";
    if (!is_memory_file(given[3].get())) return "the input is in no memory file";
    return {};
}

void serve(Caller caller, StepUnits& units) {
    DescriptorMessage request = receive_message(caller.connection.get(), MSG_DONTWAIT);
    if (request.text.empty() && request.given.empty()) return;  // it only looked who is here
    if (caller.is_step) return units.attend(caller.connection.get(), caller.pid, request.text);
    if (const std::string fault = find_fault(request); !fault.empty()) return answer(caller.connection, {0, fault});
    auto arguments = decode_arguments(read_memory_file(request.given[0].get(), kMaxSupervisorArgumentBytes));
    if (!arguments) return answer(caller.connection, {0, arguments.error().message});
    units.begin({std::move(caller.connection), std::move(request.given), *std::move(arguments)});
}

void take_caller(const Descriptor& listener, bool is_step, std::vector<Caller>& callers) {
    Descriptor connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) return;
    ucred who{};
    socklen_t size = sizeof who;
    if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != geteuid()) {
        std::fprintf(stderr, "zbs-step: refused a caller of user %u\n", who.uid);
        return;
    }
    callers.push_back({std::move(connection), SteadyClock::now() + kPatience, who.pid, is_step});
}

/// Milliseconds until somebody is waited for no longer; -1 where nobody is waited for.
int until_next(const std::vector<Caller>& callers, SteadyClock::time_point first) {
    for (const Caller& caller : callers) first = std::min(first, caller.until);
    if (first == SteadyClock::time_point::max()) return -1;
    return static_cast<int>(
        std::max<long>(0, std::chrono::ceil<std::chrono::milliseconds>(first - SteadyClock::now()).count()));
}

/// True where it is to end.
bool read_signals(const Descriptor& signals, StepUnits& units) {
    bool ends = false;
    for (signalfd_siginfo signal{}; read(signals.get(), &signal, sizeof signal) == sizeof signal;)
        ends = ends || signal.ssi_signo != SIGCHLD;
    int status = 0;
    for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0;) units.record_ended(child, status);
    return ends;
}

using namespace process;

constexpr timeval kHandOverWithin{.tv_sec = kUnitPatienceS, .tv_usec = 0};
constexpr int kFirstFree = kStepInputDescriptor + 1;

/// As posix_spawn would have made it: a service manager ignores signals that a job needs.
void reset_signals() {
    for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

int serve_starts(const std::string& socket, const std::string& program, const std::string& unit_maker) {
    sigset_t watched;
    sigemptyset(&watched);
    for (const int s : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&watched, s);
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    signal(SIGCHLD, SIG_DFL);  // ignored, as the program that starts this may have it, it hides how a child ended
    const Descriptor signals(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
    umask(077);
    const std::string for_steps = socket + std::string(kStepSocketSuffix);
    StepUnits units(unit_maker, program, for_steps);
    if (access(unit_maker.c_str(), X_OK) != 0)
        return fail("cannot run " + unit_maker + ": " + std::strerror(errno) +
                    "; --units takes the path of systemd-run (Debian: in the package systemd)");
    const Descriptor listener = listen_at(socket);
    if (!listener) return fail("cannot listen at " + socket + ": " + std::strerror(errno));
    const Descriptor step_listener = listen_at(for_steps);
    if (!step_listener) return fail("cannot listen at " + for_steps + ": " + std::strerror(errno));
    ControlGroup::make_room(std::string(kStarterGroup));  // where none was delegated, none is divided
    notify_service_manager("READY=1");
    std::printf("zbs-step starts steps for who asks at %s\n", socket.c_str());
    std::fflush(stdout);
    std::vector<Caller> callers;
    for (;;) {
        std::vector<pollfd> waiting = {{signals.get(), POLLIN, 0}, {step_listener.get(), POLLIN, 0}};
        for (const Caller& caller : callers) waiting.push_back({caller.connection.get(), POLLIN, 0});
        const bool has_room = std::ranges::count(callers, false, &Caller::is_step) < kMaxCallers;
        waiting.push_back({has_room ? listener.get() : -1, POLLIN, 0});
        poll(waiting.data(), waiting.size(), until_next(callers, units.next()));
        if (read_signals(signals, units)) break;
        const auto now = SteadyClock::now();
        std::vector<Caller> silent;
        for (std::size_t i = 0; i < callers.size(); ++i) {
            if (waiting[i + 2].revents != 0)
                serve(std::move(callers[i]), units);
            else if (now < callers[i].until)
                silent.push_back(std::move(callers[i]));
        }
        callers = std::move(silent);
        units.give_up_late();
        if (waiting[1].revents != 0) take_caller(step_listener, true, callers);
        if (waiting.back().revents != 0) take_caller(listener, false, callers);
    }
    notify_service_manager("STOPPING=1");
    unlink(socket.c_str());
    unlink(for_steps.c_str());
    return 0;
}

int attend(const std::string& socket, const std::string& request, const std::string& program) {
    const Descriptor connection = connect_to(socket);
    if (!connection) return fail("no starter of steps at " + socket + ": " + std::strerror(errno));
    ucred who{};
    socklen_t size = sizeof who;
    if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != geteuid())
        return fail("the starter of steps at " + socket + " is another user's");
    for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO})
        setsockopt(connection.get(), SOL_SOCKET, direction, &kHandOverWithin, sizeof kHandOverWithin);
    if (const int fault = send_message(connection.get(), std::string(kAttendance) + request); fault != 0)
        return fail("cannot ask the starter of steps: " + std::string(std::strerror(fault)));
    const DescriptorMessage got = receive_message(connection.get());
    if (!got.is_whole || got.text != kStarterRequest || got.given.size() != kStarterDescriptors)
        return fail("the starter of steps has nothing for request " + request);
    auto arguments = decode_arguments(read_memory_file(got.given[0].get(), kMaxSupervisorArgumentBytes));
    if (!arguments) return fail(arguments.error().message);

    std::array<Descriptor, 3> high;  // above the numbers that the supervisor gets: none overwrites another
    for (std::size_t i = 0; i < high.size(); ++i)
        high[i] = Descriptor(fcntl(got.given[i + 1].get(), F_DUPFD_CLOEXEC, kFirstFree));
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setsid();  // fails where the service manager has made it the leader of a session
    reset_signals();
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (std::string& word : *arguments) argv.push_back(word.data());
    argv.push_back(nullptr);
    char* const no_environment[] = {nullptr};
    const std::array<std::pair<int, int>, 5> places = {{{nothing, 0},
                                                        {high[0].get(), 1},
                                                        {high[0].get(), 2},
                                                        {high[1].get(), 3},
                                                        {high[2].get(), kStepInputDescriptor}}};
    const Descriptor complaints(fcntl(2, F_DUPFD_CLOEXEC, kFirstFree));
    for (const auto& [from, to] : places)
        if (from < 0 || dup2(from, to) < 0) {
            dprintf(complaints.get(), "zbs-step: cannot take what the starter gives: %s\n", std::strerror(errno));
            return 1;
        }
    execve(program.c_str(), argv.data(), no_environment);  // all other descriptors are closed by it
    dprintf(complaints.get(), "zbs-step: cannot run %s: %s\n", program.c_str(), std::strerror(errno));
    return 1;
}

}  // namespace zbs::step
