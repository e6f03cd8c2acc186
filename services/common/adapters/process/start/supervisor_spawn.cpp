#include "services/common/adapters/process/start/supervisor_spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>

#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/common/adapters/process/step_input.hpp"

namespace zbs::process {
namespace {

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
