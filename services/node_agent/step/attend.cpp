#include "services/node_agent/step/attend.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "services/common/adapters/process/start/descriptor_message.hpp"
#include "services/common/adapters/process/start/memory_file.hpp"
#include "services/common/adapters/process/start/starter_message.hpp"
#include "services/common/adapters/process/step_input.hpp"

namespace zbs::step {
namespace {
using namespace process;

constexpr timeval kHandOverWithin{.tv_sec = kUnitPatienceS, .tv_usec = 0};
constexpr int kFirstFree = kStepInputDescriptor + 1;

int complain(const std::string& what) {
    std::fprintf(stderr, "zbs-step: %s\n", what.c_str());
    return 1;
}

/// As posix_spawn would have made it: a service manager ignores signals that a job needs.
void reset_signals() {
    for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

int attend(const std::string& socket, const std::string& request, const std::string& program) {
    const Descriptor connection = connect_to(socket);
    if (!connection) return complain("no starter of steps at " + socket + ": " + std::strerror(errno));
    ucred who{};
    socklen_t size = sizeof who;
    if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != geteuid())
        return complain("the starter of steps at " + socket + " is another user's");
    for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO})
        setsockopt(connection.get(), SOL_SOCKET, direction, &kHandOverWithin, sizeof kHandOverWithin);
    if (const int fault = send_message(connection.get(), std::string(kAttendance) + request); fault != 0)
        return complain("cannot ask the starter of steps: " + std::string(std::strerror(fault)));
    const DescriptorMessage got = receive_message(connection.get());
    if (!got.is_whole || got.text != kStarterRequest || got.given.size() != kStarterDescriptors)
        return complain("the starter of steps has nothing for request " + request);
    auto arguments = decode_arguments(read_memory_file(got.given[0].get(), kMaxSupervisorArgumentBytes));
    if (!arguments) return complain(arguments.error().message);

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
