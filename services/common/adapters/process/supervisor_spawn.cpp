#include "services/common/adapters/process/supervisor_spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "services/common/adapters/process/step_input.hpp"

namespace zbs::process {
namespace {

constexpr int kAnswerDescriptor = 3;

/// Starts it; `given` are above the numbers that the supervisor gets.
int spawn(const std::string& program, const std::vector<std::string>& arguments, const std::array<int, 3>& given,
          pid_t& pid) {
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    char* const no_environment[] = {nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, given[0], 1);
    posix_spawn_file_actions_adddup2(&actions, given[0], 2);
    posix_spawn_file_actions_adddup2(&actions, given[1], kAnswerDescriptor);
    posix_spawn_file_actions_adddup2(&actions, given[2], kStepInputDescriptor);
    posix_spawn_file_actions_addclosefrom_np(&actions, kStepInputDescriptor + 1);  // sockets of this service
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

}  // namespace

int spawn_supervisor(const std::string& program, const std::vector<std::string>& arguments,
                     const SupervisorDescriptors& given, pid_t& pid) {
    // Above the numbers that the supervisor gets, so that giving it one does not overwrite another.
    std::array<int, 3> high{-1, -1, -1};
    int fault = 0;
    const std::array<int, 3> own{given.log, given.answer, given.input};
    for (std::size_t i = 0; i < own.size() && fault == 0; ++i) {
        high[i] = fcntl(own[i], F_DUPFD_CLOEXEC, kStepInputDescriptor + 1);
        if (high[i] < 0) fault = errno;
    }
    if (fault == 0) fault = spawn(program, arguments, high, pid);
    for (const int fd : high)
        if (fd >= 0) close(fd);
    return fault;
}

}  // namespace zbs::process
