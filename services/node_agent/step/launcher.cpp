#include "services/node_agent/step/launcher.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <string>

#include "services/common/adapters/process/process_tree.hpp"
#include "services/node_agent/step/tree_end.hpp"

namespace zbs::step {
namespace {
using SteadyClock = std::chrono::steady_clock;

constexpr timespec kRest{0, 200'000'000};
constexpr std::chrono::seconds kAlone{1};  ///< that the launcher has when nothing else is alive

/// The program that may launch others, until it has ended, and in a stop until all that it launched have; its wait
/// status. `watched` is blocked.
int await(pid_t launcher, const StepId& tasks, const sigset_t& watched) {
    std::optional<int> end;
    bool is_stopped = false;
    std::optional<SteadyClock::time_point> kill_at;
    for (;;) {
        int status = 0;
        for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
            if (ended == launcher) end = status;
        if (end && (!is_stopped || has_only(tasks, {}))) return *end;
        if (is_stopped && !end && !kill_at && has_only(tasks, {launcher})) kill_at = SteadyClock::now() + kAlone;
        if (!end && kill_at && SteadyClock::now() >= *kill_at) kill(launcher, SIGKILL);
        const int signal = is_stopped ? sigtimedwait(&watched, nullptr, &kRest) : sigwaitinfo(&watched, nullptr);
        if (is_stopped || (signal != SIGURG && signal != SIGTERM)) continue;
        is_stopped = true;
        ask_tree(tasks, launcher);
    }
}

}  // namespace

int run_launcher(int argc, char** argv) {
    if (argc < 4) return std::fputs("usage: zbs-step launcher STEP PROGRAM ARGS...\n", stderr), 2;
    // A mark of its own: srun, which carries that of the step, may be on this host, too.
    const StepId tasks(std::string(argv[2]) + "-tasks");
    setenv(process::step_variable(tasks).c_str(), "1", 1);
    sigset_t watched, before;
    sigemptyset(&watched);
    for (const int number : {SIGCHLD, SIGURG, SIGTERM}) sigaddset(&watched, number);
    signal(SIGCHLD, SIG_DFL);  // ignored, as a parent may have it, the end of the launcher would not be noticed
    sigprocmask(SIG_BLOCK, &watched, &before);
    const pid_t parent = getpid(), launcher = fork();
    if (launcher < 0) return std::perror("zbs-step launcher"), 125;
    if (launcher == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(125);
        setsid();  // supervisors of ranks take a signal from another session for that of a stop
        sigprocmask(SIG_SETMASK, &before, nullptr);
        execvp(argv[3], argv + 3);
        const int why = errno;
        std::fprintf(stderr, "cannot run %s: %s\n", argv[3], std::strerror(why));
        _exit(why == ENOENT ? 127 : 126);
    }
    const int status = await(launcher, tasks, watched);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace zbs::step
