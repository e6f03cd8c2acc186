#include "services/common/adapters/process/supervisor_launch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

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

/// A file in memory that holds `text`, at its begin; -1 with errno.
int make_memory_file(const std::string& text) {
    const int fd = memfd_create("zbs-step-input", MFD_CLOEXEC);
    if (fd < 0) return -1;
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t put = pwrite(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
        if (put <= 0) {
            const int fault = put < 0 ? errno : ENOSPC;
            close(fd);
            errno = fault;
            return -1;
        }
        done += static_cast<std::size_t>(put);
    }
    return fd;
}

/// Starts it with 0 = nothing, 1 and 2 = its log, 3 = `answer`, 4 = `input`; error number of posix_spawn.
int spawn(const SupervisorLaunch& launch, int answer, int input) {
    std::vector<char*> argv = {const_cast<char*>(launch.program.c_str())};
    for (const std::string& word : launch.arguments) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    char* const no_environment[] = {nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, launch.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawn_file_actions_adddup2(&actions, answer, 3);
    posix_spawn_file_actions_adddup2(&actions, input, kStepInputDescriptor);
    posix_spawn_file_actions_addclosefrom_np(&actions, kStepInputDescriptor + 1);  // sockets of this service
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t pid = 0;
    const int fault = posix_spawn(&pid, launch.program.c_str(), &actions, &attributes, argv.data(), no_environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return fault;
}

}  // namespace

Result<void> launch_supervisor(const SupervisorLaunch& launch) {
    const int memory = make_memory_file(encode(launch.input));
    if (memory < 0) return system_error("cannot hand over the job's environment", errno);
    // Above the numbers that the supervisor gets, so that giving it one does not overwrite another.
    const int input = fcntl(memory, F_DUPFD_CLOEXEC, kStepInputDescriptor + 1);
    close(memory);
    int ready[2];
    if (input < 0 || pipe2(ready, O_CLOEXEC) != 0) {
        const int fault = errno;
        if (input >= 0) close(input);
        return system_error("cannot make a pipe", fault);
    }
    const int write_end = fcntl(ready[1], F_DUPFD_CLOEXEC, kStepInputDescriptor + 1);
    const int fault = write_end < 0 ? errno : spawn(launch, write_end, input);
    close(ready[1]);
    close(input);
    if (write_end >= 0) close(write_end);
    if (fault != 0) {
        close(ready[0]);
        return system_error("cannot start " + launch.program, fault);
    }
    const auto reached = failpoint::reach(failpoint::Point::kPeerStepSpawned);
    const std::string answer = read_answer(ready[0]);
    close(ready[0]);
    if (answer == "ok") return reached;
    return Error{ErrorCode::kUnavailable, answer.empty() ? "the supervisor of the step did not answer" : answer, {}};
}

}  // namespace zbs::process
