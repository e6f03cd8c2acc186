#include "services/zone_scheduler/adapters/slurm/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "services/common/messages/text/printable.hpp"

namespace zbs::slurm {
namespace {

constexpr std::size_t kLastWords = 512;

constexpr int kFirstFree = 10;  // above all numbers that the program and the process between it and us get

/// Both ends of a pipe, closed with it.
class Pipe {
  public:
    Pipe() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) return;
        read_ = fcntl(ends[0], F_DUPFD_CLOEXEC, kFirstFree);
        write_ = fcntl(ends[1], F_DUPFD_CLOEXEC, kFirstFree);
        close(ends[0]);
        close(ends[1]);
    }
    ~Pipe() {
        close_read();
        close_write();
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    bool is_open() const { return read_ >= 0 && write_ >= 0; }
    int reader() const { return read_; }
    int writer() const { return write_; }
    void close_read() { close_one(read_); }
    void close_write() { close_one(write_); }

  private:
    static void close_one(int& fd) {
        if (fd >= 0) close(fd);
        fd = -1;
    }
    int read_ = -1, write_ = -1;
};

/// How a run ended, as the process between reports it.
struct Ending {
    int start_fault = 0;  ///< errno of exec; 0 = it ran
    int exit_code = 0;
};

void send_ending(int fd, const Ending& ending) {
    while (write(fd, &ending, sizeof ending) < 0 && errno == EINTR) {
    }
}

struct Plan {
    char* const* argv;
    char* const* environment;
    int input, out, error, ending;
};

/// The process between: starts the program and waits for it, so that the service may ignore its children. It keeps
/// nothing of the service (locks, sockets). Only calls that are allowed after a fork of many threads.
[[noreturn]] void stand_between(const Plan& plan) {
    constexpr int kEnding = 3;
    setsid();
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &standard, nullptr);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    const bool laid = dup2(plan.input, 0) == 0 && dup2(plan.out, 1) == 1 && dup2(plan.error, 2) == 2 &&
                      dup2(plan.ending, kEnding) == kEnding && fcntl(kEnding, F_SETFD, FD_CLOEXEC) == 0 &&
                      close_range(kEnding + 1, ~0U, 0) == 0;
    const pid_t child = laid ? fork() : -1;
    if (child == 0) {
        execve(plan.argv[0], plan.argv, plan.environment);
        send_ending(kEnding, {errno, 127});
        _exit(127);
    }
    if (child < 0) {
        send_ending(laid ? kEnding : plan.ending, {errno, 127});
        _exit(127);
    }
    close_range(0, 2, 0);  // the program alone holds its outputs open
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    send_ending(kEnding, {0, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)});
    kill(0, SIGKILL);  // what the program left in its session, and this process
    _exit(0);
}

/// Everything that is there now; false at the end of the file.
bool drain(int fd, std::string& text) {
    std::array<char, 16 * 1024> chunk;
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got > 0) text.append(chunk.data(), static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

std::string last_words(const CommandOutput& output) {
    const std::string& text = output.error.empty() ? output.out : output.error;
    if (text.empty()) return {};
    return "; it had said: " +
           printable_text(text.size() > kLastWords ? text.substr(text.size() - kLastWords) : text, kLastWords);
}

std::string name_of(const Command& command) { return command.program.substr(command.program.rfind('/') + 1); }

/// Reads both outputs and the ending until all are over; `ended` is set once the program has ended.
Result<CommandOutput> collect(const Command& command, const Pipe& out, const Pipe& error, const Pipe& ending,
                              std::optional<Ending>& ended) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point deadline = Clock::now() + command.deadline;
    CommandOutput output;
    std::array<pollfd, 3> waiting = {
        {{out.reader(), POLLIN, 0}, {error.reader(), POLLIN, 0}, {ending.reader(), POLLIN, 0}}};
    while (waiting[0].fd >= 0 || waiting[1].fd >= 0 || !ended) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        const int ready = left <= 0 ? 0 : poll(waiting.data(), waiting.size(), static_cast<int>(left));
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0 && ended) break;  // it ended; what it left behind keeps its outputs open
        if (ready <= 0) {
            return Error{ErrorCode::kTimeout,
                         name_of(command) + " gave no answer within " +
                             std::to_string(std::chrono::ceil<std::chrono::seconds>(command.deadline).count()) + " s" +
                             last_words(output),
                         {}};
        }
        if (waiting[0].revents != 0 && !drain(waiting[0].fd, output.out)) waiting[0].fd = -1;
        if (waiting[1].revents != 0 && !drain(waiting[1].fd, output.error)) waiting[1].fd = -1;
        if (waiting[2].revents != 0) {
            Ending received;
            const bool whole = read(waiting[2].fd, &received, sizeof received) == sizeof received;
            if (!whole)
                return Error{ErrorCode::kUnavailable, name_of(command) + " was killed" + last_words(output), {}};
            if (!ended) ended = received;  // a program that cannot be run is reported twice
            waiting[2].fd = -1;
        }
        if (output.out.size() > command.max_output || output.error.size() > command.max_output) {
            return Error{ErrorCode::kTooLarge,
                         name_of(command) + " printed more than " + std::to_string(command.max_output) + " bytes",
                         {}};
        }
    }
    if (ended->start_fault != 0) {
        return Error{
            ErrorCode::kUnavailable, command.program + " cannot be run: " + std::strerror(ended->start_fault), {}};
    }
    output.exit_code = ended->exit_code;
    return output;
}

}  // namespace

Result<CommandOutput> run(const Command& command) {
    ZBS_EXPECTS(command.input.size() <= kMaxCommandInput && command.program.starts_with('/'));
    std::vector<std::string> texts;
    texts.reserve(command.environment.size());
    for (const auto& [name, value] : command.environment) texts.push_back(name + "=" + value);
    std::vector<char*> environment, argv = {const_cast<char*>(command.program.c_str())};
    for (std::string& text : texts) environment.push_back(text.data());
    for (const std::string& word : command.arguments) argv.push_back(const_cast<char*>(word.c_str()));
    environment.push_back(nullptr);
    argv.push_back(nullptr);

    Pipe input, out, error, ending;
    if (!input.is_open() || !out.is_open() || !error.is_open() || !ending.is_open())
        return Error{ErrorCode::kUnavailable, std::string("cannot make a pipe: ") + std::strerror(errno), {}};
    const bool fed =
        write(input.writer(), command.input.data(), command.input.size()) == static_cast<ssize_t>(command.input.size());
    ZBS_EXPECTS(fed);
    input.close_write();

    const pid_t between = fork();
    if (between == 0)
        stand_between({argv.data(), environment.data(), input.reader(), out.writer(), error.writer(), ending.writer()});
    const int fault = errno;
    ending.close_write();
    out.close_write();
    error.close_write();
    if (between < 0)
        return Error{ErrorCode::kUnavailable, name_of(command) + " cannot be started: " + std::strerror(fault), {}};
    std::optional<Ending> ended;
    Result<CommandOutput> output = collect(command, out, error, ending, ended);
    if (!ended) {  // else its number may be another's by now
        kill(-between, SIGKILL);
        kill(between, SIGKILL);  // it had no session of its own yet
    }
    while (waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
    }
    return output;
}

}  // namespace zbs::slurm
