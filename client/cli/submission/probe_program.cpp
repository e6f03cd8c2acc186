#include "client/cli/submission/probe_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "algorithms/base/text.hpp"

extern char** environ;

namespace zbs::cli {
namespace {

constexpr std::size_t kMaxOutput = 256 * 1024;

/// In a process group of its own, writing to `out`; an errno, or 0.
int spawn_quietly(const std::vector<std::string>& words, int out, pid_t& pid) {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, out, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    const int fault = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return fault;
}

/// Reads until all writers are gone; false when the time is over first.
bool read_until(int in, std::chrono::steady_clock::time_point until, std::string& text) {
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
        pollfd ready{in, POLLIN, 0};
        if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) == 0) return false;
        char piece[4096];
        const ssize_t got = read(in, piece, sizeof piece);
        if (got == 0) return true;
        if (got < 0 && errno != EINTR) return true;
        if (got > 0) text.append(piece, std::min<std::size_t>(static_cast<std::size_t>(got), kMaxOutput - text.size()));
    }
}

}  // namespace

std::string path_of(const std::string& name) {
    const char* path = std::getenv("PATH");
    for (const std::string_view folder : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
        const std::string file = (folder.empty() ? "." : std::string(folder)) + "/" + name;
        std::error_code fault;
        if (access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file, fault)) return file;
    }
    return {};
}

Result<ProgramOutput> run_briefly(const std::vector<std::string>& argv, std::chrono::milliseconds patience) {
    int out[2];
    if (pipe2(out, O_CLOEXEC) != 0) return Error{ErrorCode::kInternal, std::strerror(errno), {}};
    pid_t pid = 0;
    const int fault = spawn_quietly(argv, out[1], pid);
    close(out[1]);
    ProgramOutput done;
    if (fault != 0) {
        close(out[0]);
        return Error{ErrorCode::kUnavailable, std::string("cannot be started: ") + std::strerror(fault), argv[0]};
    }
    const bool ended = read_until(out[0], std::chrono::steady_clock::now() + patience, done.text);
    close(out[0]);
    if (!ended) kill(-pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!ended) return Error{ErrorCode::kTimeout, "says nothing", argv[0]};
    done.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return done;
}

}  // namespace zbs::cli
