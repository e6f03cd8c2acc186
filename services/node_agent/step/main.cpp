// zbs-step: supervisor of one step (process tree) on one machine. Started by a zone, it outlives it.
//
//   zbs-step --operation ID --folder DIR [--walltime-s N] [--directory WD] -- PROGRAM ARGS...
//
// In DIR it writes: `supervisor` (its pid and start time), `stdout`, `stderr` of the program, and last `exit`
// ("CODE reason"; 128 + n for signal n). SIGTERM ends the tree: SIGTERM to every process, after the grace in DIR/stop
// (milliseconds, default 2000) SIGKILL. Nothing of the tree is alive when `exit` is there. File descriptor 3, where
// open, gets "ok" once the program is executing, or why it is not.

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "services/common/adapters/process/process_tree.hpp"

extern char** environ;

namespace {
using namespace zbs::process;
using SteadyClock = std::chrono::steady_clock;

struct Options {
    std::string operation, folder, directory;
    long walltime_s = 0;
    std::vector<char*> argv;
};

void answer(const std::string& text) {
    if (fcntl(3, F_GETFD) < 0) return;
    [[maybe_unused]] const ssize_t ignored = write(3, text.data(), text.size());
    close(3);
}

[[noreturn]] void fail(const std::string& text) {
    answer(text);
    std::fprintf(stderr, "zbs-step: %s\n", text.c_str());
    std::exit(2);
}

Options read_options(int argc, char** argv) {
    Options options;
    int i = 1;
    for (; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--") break;
        if (i + 1 >= argc) fail("option " + word + " needs a value");
        const char* value = argv[++i];
        if (word == "--operation")
            options.operation = value;
        else if (word == "--folder")
            options.folder = value;
        else if (word == "--directory")
            options.directory = value;
        else if (word == "--walltime-s")
            options.walltime_s = std::atol(value);
        else
            fail("unknown option " + word);
    }
    for (++i; i < argc; ++i) options.argv.push_back(argv[i]);
    if (options.operation.empty() || options.folder.empty() || options.argv.empty()) {
        fail("usage: zbs-step --operation ID --folder DIR [--walltime-s N] [--directory WD] -- PROGRAM ARGS...");
    }
    options.argv.push_back(nullptr);
    return options;
}

/// In the child: becomes the program, or writes the reason into `report`.
[[noreturn]] void become(const Options& options, const std::string& mark, pid_t supervisor, int report) {
    const auto give_up = [&](const std::string& what) {
        const std::string text = what + ": " + std::strerror(errno);
        [[maybe_unused]] const ssize_t ignored = write(report, text.data(), text.size());
        _exit(127);
    };
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor) _exit(127);
    const int out = open((options.folder + "/stdout").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int err = open((options.folder + "/stderr").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) give_up("cannot open the output files");
    close(out);
    close(err);
    const std::string& directory = options.directory.empty() ? options.folder : options.directory;
    if (chdir(directory.c_str()) != 0) give_up("cannot enter the directory " + directory);
    setenv(mark.c_str(), "1", 1);
    close(3);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execvp(options.argv[0], options.argv.data());
    give_up("cannot run " + std::string(options.argv[0]));
    std::abort();
}

void signal_tree(const std::string& mark, int signal) {
    for (const ProcessRef& process : find_marked(mark, getpid())) send_signal(process, signal);
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = read_options(argc, argv);
    mkdir(options.folder.c_str(), 0700);
    const int lock = open((options.folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) != 0)
        fail("step " + options.operation + " has a supervisor already");
    if (access((options.folder + "/supervisor").c_str(), F_OK) == 0)
        fail("step " + options.operation + " was started before");

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t watched;
    sigemptyset(&watched);
    for (const int s : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&watched, s);
    sigprocmask(SIG_BLOCK, &watched, nullptr);

    const auto self = find_process(getpid());
    if (!self || !write_file(options.folder + "/supervisor",
                             std::to_string(self->pid) + " " + std::to_string(self->start_time) + "\n")) {
        fail("cannot write into " + options.folder);
    }
    const std::string mark = step_variable(options.operation);
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) fail("cannot make a pipe");
    const pid_t supervisor = getpid();
    const pid_t child = fork();
    if (child == 0) become(options, mark, supervisor, report[1]);
    close(report[1]);
    if (child < 0) fail("cannot fork");
    std::string fault;
    char chunk[512];
    for (ssize_t got; (got = read(report[0], chunk, sizeof chunk)) > 0;)
        fault.append(chunk, static_cast<std::size_t>(got));
    close(report[0]);
    if (!fault.empty()) {
        write_file(options.folder + "/exit", "127 " + fault + "\n");
        fail(fault);
    }
    answer("ok");

    const auto start = SteadyClock::now();
    std::optional<SteadyClock::time_point> kill_at;
    std::string reason;
    int code = -1;
    const auto stop_tree = [&](const std::string& why, int grace_ms) {
        if (kill_at) return;
        reason = why;
        kill_at = SteadyClock::now() + std::chrono::milliseconds(grace_ms);
        signal_tree(mark, SIGTERM);
    };
    while (code < 0) {
        timespec wait{0, 200'000'000};
        const int signal = sigtimedwait(&watched, nullptr, &wait);
        if (signal == SIGTERM || signal == SIGINT) {
            const auto text = read_file(options.folder + "/stop");
            stop_tree("stopped", text ? std::atoi(text->c_str()) : 2000);
        }
        int status = 0;
        for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
            if (ended == child) code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        }
        const auto now = SteadyClock::now();
        if (options.walltime_s > 0 && now - start > std::chrono::seconds(options.walltime_s))
            stop_tree("walltime of " + std::to_string(options.walltime_s) + " s reached", 2000);
        if (kill_at && now > *kill_at) signal_tree(mark, SIGKILL);
    }
    // The program is gone; whatever it left behind goes too, first politely.
    const auto leftover_kill = SteadyClock::now() + std::chrono::milliseconds(500);
    for (int round = 0;; ++round) {
        while (waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        const std::vector<ProcessRef> left = find_marked(mark, getpid());
        if (left.empty() || round > 250) break;
        const int signal = SteadyClock::now() > leftover_kill ? SIGKILL : SIGTERM;
        for (const ProcessRef& process : left) send_signal(process, signal);
        timespec wait{0, 20'000'000};
        sigtimedwait(&watched, nullptr, &wait);
    }
    write_file(options.folder + "/exit", std::to_string(code) + " " + reason + "\n");
    return 0;
}
