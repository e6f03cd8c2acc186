#include "services/common/adapters/process/start/supervisor_launch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>

#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/common/adapters/process/start/descriptor_message.hpp"
#include "services/common/adapters/process/start/step_starter.hpp"
#include "services/common/failpoint/failpoint.hpp"

namespace zbs::process {
namespace {

constexpr std::chrono::milliseconds kAnswerTimeout{5'000};

Error system_error(const std::string& what, int fault) {
    return {ErrorCode::kUnavailable, what + ": " + std::strerror(fault), {}};
}

/// "ok", or the supervisor's own words; ends at end of file or after kAnswerTimeout.
std::string read_answer(int fd) {
    std::string answer;
    pollfd waiting{fd, POLLIN, 0};
    const auto end = std::chrono::steady_clock::now() + kAnswerTimeout;
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
        const int ready = left > 0 ? poll(&waiting, 1, static_cast<int>(left)) : 0;
        if (ready < 0 && errno == EINTR) continue;  // a signal to this service is no word of the supervisor
        if (ready <= 0) return answer;
        char chunk[512];
        const ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return answer;
        answer.append(chunk, static_cast<std::size_t>(got));
    }
}

/// Error number of posix_spawn, or what the starter says.
Result<void> start(const SupervisorLaunch& launch, const SupervisorDescriptors& given) {
    if (!launch.starter.empty()) {
        const auto started = ask_starter(launch.starter, launch.arguments, given);
        return started ? Result<void>{} : started.error();
    }
    pid_t pid = 0;
    const int fault = spawn_supervisor(launch.program, launch.arguments, given, pid);
    if (fault != 0) return system_error("cannot start " + launch.program, fault);
    return {};
}

/// Starts it in a session of its own, with `given` as its descriptors from 1 on; they are above the numbers that it
/// gets.
int spawn(const std::string& program, const std::vector<std::string>& arguments, std::span<const int> given,
          pid_t& pid) {
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    char* const no_environment[] = {nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    for (std::size_t i = 0; i < given.size(); ++i)
        posix_spawn_file_actions_adddup2(&actions, given[i], static_cast<int>(i) + 1);
    posix_spawn_file_actions_addclosefrom_np(&actions, static_cast<int>(given.size()) + 1);  // sockets of this service
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int fault = posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), no_environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return fault;
}

/// As above, with any descriptors.
int spawn_above(const std::string& program, const std::vector<std::string>& arguments, std::span<const int> given,
                pid_t& pid) {
    std::vector<Descriptor> kept;
    std::vector<int> high;
    for (const int own : given) {  // so that giving it one does not overwrite another
        kept.emplace_back(fcntl(own, F_DUPFD_CLOEXEC, static_cast<int>(given.size()) + 1));
        if (!kept.back()) return errno;
        high.push_back(kept.back().get());
    }
    return spawn(program, arguments, high, pid);
}

}  // namespace

Result<std::string> ask_supervisor(const SupervisorLaunch& launch) {
    const Descriptor log(open(launch.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!log) return system_error("cannot write " + launch.log, errno);
    const Descriptor input(make_memory_file("zbs-step-input", encode(launch.input)));
    if (!input) return system_error("cannot hand over the job's environment", errno);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe", errno);
    const Descriptor ready(ends[0]);
    Descriptor given(ends[1]);
    const Result<void> started = start(launch, {.log = log.get(), .answer = given.get(), .input = input.get()});
    given = Descriptor();  // from now on the supervisor alone has it
    if (!started) return started.error();
    const auto reached = failpoint::reach(failpoint::Point::kPeerStepSpawned);
    std::string answer = read_answer(ready.get());
    if (answer.empty()) return Error{ErrorCode::kUnavailable, "the supervisor of the step did not answer", {}};
    if (answer == "ok" && !reached) return reached.error();
    return answer;
}

Result<void> launch_supervisor(const SupervisorLaunch& launch) {
    const Result<std::string> answer = ask_supervisor(launch);
    if (!answer) return answer.error();
    if (*answer != "ok") return Error{ErrorCode::kUnavailable, *answer, {}};
    return {};
}

int spawn_supervisor(const std::string& program, const std::vector<std::string>& arguments,
                     const SupervisorDescriptors& given, pid_t& pid) {
    const std::array<int, kStepInputDescriptor> all{given.log, given.log, given.answer, given.input};
    return spawn_above(program, arguments, all, pid);
}

int spawn_tool(const std::string& program, const std::vector<std::string>& arguments, int output, pid_t& pid) {
    const std::array<int, 2> all{output, output};
    return spawn_above(program, arguments, all, pid);
}

}  // namespace zbs::process
