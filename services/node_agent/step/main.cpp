// zbs-step: supervisor of one step (process tree) on one machine. Started by a zone, it outlives it.
//
//   zbs-step --operation ID --folder DIR [OPTIONS] -- PROGRAM ARGS...
//   zbs-step rank PROGRAM ARGS...                      (between a launcher's proxy and a rank; rank.hpp)
//   zbs-step launcher STEP PROGRAM ARGS...             (between Slurm and such a proxy; rank.hpp)
//   zbs-step serve --socket PATH --units PROGRAM       (starts such supervisors for a confined agent; starter.hpp)
//   zbs-step attend --socket PATH --request NUMBER     (becomes one of them in a unit of its own; starter.hpp)
//
// DIR is the supervisor's: it holds `supervisor` (its pid, start time and host), `lock`, `stop` and last `exit` ("CODE
// reason"; 128 + n for signal n). DIR/job is the job's: `stdout`, `stderr`, whatever it makes. SIGTERM ends the tree:
// SIGTERM to every process, once, and after the grace in DIR/stop (milliseconds, default 1000) SIGKILL. Nothing of the
// tree is alive when `exit` is there. DIR/stop alone ends the tree, too, looked for every 5 s: whoever is on another
// host cannot send a signal. Descriptor 3, where open, gets "ok" once the program is executing, or why it is not;
// descriptor 4, where open, holds the job's environment and files (StepInput). Options: see step_options.hpp.

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "services/common/adapters/process/account.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/process/start/supervisor_record.hpp"
#include "services/common/adapters/process/step_input.hpp"
#include "services/common/messages/part.hpp"
#include "services/node_agent/step/confinement.hpp"
#include "services/node_agent/step/exit_record.hpp"
#include "services/node_agent/step/folder_watch.hpp"
#include "services/node_agent/step/program.hpp"
#include "services/node_agent/step/proxy_gate.hpp"
#include "services/node_agent/step/rank.hpp"
#include "services/node_agent/step/starter.hpp"
#include "services/node_agent/step/step_options.hpp"
#include "services/node_agent/step/tree_end.hpp"

namespace {
using namespace zbs;
using namespace zbs::process;
using namespace zbs::step;
using SteadyClock = std::chrono::steady_clock;

constexpr int kAnswerDescriptor = 3;
constexpr std::chrono::nanoseconds kLongestWait = std::chrono::milliseconds{200};
constexpr std::chrono::nanoseconds kKillAgain = std::chrono::milliseconds{100};
constexpr std::chrono::milliseconds kLeftoverGrace{500};
constexpr std::chrono::seconds kLeftoverInterval{1};
/// That a process may go on behind the last rank of a launcher, to write what it has to.
constexpr std::chrono::seconds kLeftoverStays{3};
/// For a program that ends its own programs elsewhere when it gets SIGTERM.
constexpr std::chrono::seconds kEndsElsewhere{5};
constexpr std::chrono::seconds kStopCheckInterval{5};
constexpr std::chrono::milliseconds kGateInterval{5};
/// For a proxy to connect to its launcher: less than a launcher's home waits, so that the zone reports it.
constexpr std::chrono::seconds kConnectWithin{20};
constexpr int kGraceMs = 1'000;
constexpr int kStopped = 128 + SIGTERM;

/// To the starter, which may be gone: the step goes on, so that whoever comes after it finds it.
void answer(const std::string& text) {
    const auto before = std::signal(SIGPIPE, SIG_IGN);  // only here: a program would inherit it
    [[maybe_unused]] const ssize_t ignored = write(kAnswerDescriptor, text.data(), text.size());
    std::signal(SIGPIPE, before);
    close(kAnswerDescriptor);
}

void report_hit(const failpoint::Arming& arming) {
    std::fprintf(stderr, "zbs-step: failpoint_hit %s\n", failpoint::to_text({arming}).c_str());
    std::fflush(stderr);
}

[[noreturn]] void fail(const std::string& text) {
    answer(text);
    std::fprintf(stderr, "zbs-step: %s\n", text.c_str());
    std::fflush(stderr);
    _exit(2);
}

/// All of descriptor 4; empty where it is not open.
StepInput read_input() {
    std::string text;
    char chunk[64 * 1024];
    for (ssize_t got; (got = pread(kStepInputDescriptor, chunk, sizeof chunk, static_cast<off_t>(text.size()))) > 0;)
        text.append(chunk, static_cast<std::size_t>(got));
    close(kStepInputDescriptor);
    auto input = decode_step_input(text);
    if (!input) fail("the job's environment cannot be read");
    return *std::move(input);
}

/// A folder that the job may write, as a descriptor: made if missing and given to `owner`. Nobody else can have put
/// something in its place: the folder around it is the supervisor's.
int open_job_folder(const std::string& path, uid_t owner, gid_t group, bool make) {
    if (make) mkdir(path.c_str(), 0700);
    const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info {};
    if (fd < 0 || fstat(fd, &info) != 0) fail("cannot open " + path + ": " + std::strerror(errno));
    if (info.st_uid == owner) return fd;
    if (!make || info.st_uid != geteuid()) fail("folder " + path + " belongs to another user than the job");
    if (fchown(fd, owner, group) != 0) fail("cannot give " + path + " to the job: " + std::strerror(errno));
    return fd;
}

/// What the child of `fork_into` found wrong; empty once it has become the program (or has ended well).
std::string read_report(int fd) {
    std::string fault;
    char chunk[512];
    for (ssize_t got; (got = read(fd, chunk, sizeof chunk)) > 0;) fault.append(chunk, static_cast<std::size_t>(got));
    close(fd);
    return fault;
}

/// A child, confined as `options` say, that becomes the program; what hinders it goes to `program.report`.
pid_t start_program(Program program, int alive[2], int report_end) {
    const pid_t supervisor = getpid();
    const uid_t uid = geteuid();
    const gid_t gid = getegid();
    const pid_t child = fork_into(program.options.namespaces);
    if (child != 0) return child;
    close(alive[1]);
    close(report_end);
    run_program(program, supervisor, uid, gid);
}

/// Tries the namespaces and says whether a job could have them.
[[noreturn]] void probe(const StepOptions& options) {
    int report[2], alive[2];
    if (pipe2(report, O_CLOEXEC) != 0 || pipe2(alive, O_CLOEXEC) != 0) fail("cannot make a pipe");
    const StepInput nothing;
    const Program program{.options = options, .input = nothing, .report = report[1], .supervisor_is_here = alive[0]};
    const pid_t child = start_program(program, alive, report[0]);
    if (child < 0) fail(std::string("namespaces are not allowed: ") + std::strerror(errno));
    close(report[1]);
    const std::string fault = read_report(report[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (fault.empty() && status != 0) fail("namespaces do not work on this host");
    answer(fault.empty() ? "ok" : fault);
    _exit(fault.empty() ? 0 : 2);
}

/// The path that this program has now; empty where it cannot be found. After an upgrade it is the new one's.
std::string own_path() {
    char path[PATH_MAX] = {};
    if (readlink("/proc/self/exe", path, sizeof path - 1) <= 0)
        std::fprintf(stderr, "zbs-step: cannot find its own program: %s\n", std::strerror(errno));
    return path;
}

/// `zbs-step serve` and `zbs-step attend`; exit code.
int serve(int argc, char** argv) {
    const std::string program = own_path();
    if (program.empty()) return 1;
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto is_path = [](const std::string& word) { return word.starts_with('/'); };
    if (words.size() == 5 && words[0] == "serve" && words[1] == "--socket" && is_path(words[2]) &&
        words[3] == "--units" && is_path(words[4]))
        return serve_starts(words[2], program, words[4]);
    if (words.size() == 5 && words[0] == "attend" && words[1] == "--socket" && words[3] == "--request")
        return attend(words[2], words[4], program);
    const std::string first = words.empty() ? std::string{} : words[0];
    if (first == "--version") return std::puts("zbs-step 0.1.0") < 0;
    const char* const usage =
        "usage: zbs-step serve --socket PATH --units PATH_OF_SYSTEMD_RUN, absolute\n"
        "Supervisors of steps are started by zbs-zone and zbs-node: see zbs-step(8).\n";
    if (first == "--help") return std::fputs(usage, stdout) < 0;
    std::fputs(usage, stderr);
    return 2;
}

/// Starts a command beside the step, in a session of its own. Its process; 0 if there is none.
pid_t run_beside(const std::vector<std::string>& words) {
    const pid_t child = fork();
    if (child != 0) return std::max(child, 0);
    setsid();
    for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    std::fprintf(stderr, "zbs-step: cannot run %s: %s\n", argv[0], std::strerror(errno));
    _exit(127);
}

/// Until something is due, a fifth of a second at most.
timespec wait_for(SteadyClock::time_point due) {
    const auto now = SteadyClock::now();
    const std::chrono::nanoseconds left = due <= now ? std::chrono::nanoseconds{0} : due - now;
    return {0, std::min(left, kLongestWait).count()};
}

/// How the way to the program ended.
struct Beginning {
    std::string fault;  ///< what the child of `fork_into` found wrong
    std::string cut;    ///< why there is no waiting any more
};

/// Until the child has become the program (or has ended), a stop comes, by signal or in `stop_file`, or `latest`: what
/// is on the way may hang, as a file system that does not answer.
Beginning await_program(int report, const std::string& stop_file, SteadyClock::time_point latest) {
    Beginning beginning;
    sigset_t stops;
    sigemptyset(&stops);
    for (const int s : {SIGTERM, SIGINT}) sigaddset(&stops, s);
    const int signals = signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK);
    auto check_for_stop = SteadyClock::now() + kStopCheckInterval;
    while (beginning.cut.empty()) {
        const auto now = SteadyClock::now();
        if (now >= latest) {
            beginning.cut = kWalltimeReason;
            break;
        }
        if (now >= check_for_stop) {
            if (access(stop_file.c_str(), F_OK) == 0) {
                beginning.cut = "stopped";
                break;
            }
            check_for_stop = now + kStopCheckInterval;
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::min(latest, check_for_stop) - now).count();
        pollfd waiting[] = {{report, POLLIN, 0}, {signals, POLLIN, 0}};
        if (poll(waiting, 2, static_cast<int>(left)) <= 0) continue;
        if (waiting[0].revents != 0) {
            char chunk[512];
            const ssize_t got = read(report, chunk, sizeof chunk);
            if (got <= 0) break;
            beginning.fault.append(chunk, static_cast<std::size_t>(got));
        } else {
            signalfd_siginfo signal{};
            if (read(signals, &signal, sizeof signal) > 0) beginning.cut = "stopped";
        }
    }
    close(signals);
    close(report);
    return beginning;
}

/// Descriptors, dumps and core files of a process that jobs of the same user must not reach.
void protect_process() {
    for (const int fd : {kAnswerDescriptor, kStepInputDescriptor}) {
        // Where not given, nothing opened later may be taken for it.
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) != fd) _exit(2);
    }
    prctl(PR_SET_DUMPABLE, 0);  // jobs of the same user can neither look into nor change this process
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
}

std::optional<Account> account_of(const StepOptions& options) {
    if (options.account.empty()) return std::nullopt;
    Result<Account> found = find_account(AccountName(options.account), options.minimum_uid);
    if (!found) fail(found.error().message);
    return *std::move(found);
}

/// Makes the folder of the supervisor and those of the job, and locks the first for the life of this process. The
/// folder of the job, as a descriptor.
int open_folders(const StepOptions& options, uid_t owner, gid_t group) {
    umask(077);
    mkdir(options.folder.c_str(), 0700);
    const int lock = open((options.folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) != 0) fail("step " + options.step_id + " has a supervisor already");
    if (access((options.folder + "/supervisor").c_str(), F_OK) == 0)
        fail("step " + options.step_id + " was started before");
    const int job_folder = open_job_folder(options.job_folder(), owner, group, true);
    for (const std::string& path : options.shared) close(open_job_folder(path, owner, group, false));
    return job_folder;
}

/// Orphans of the tree become children of this process, whose signals wait. The set of these.
sigset_t watch_tree() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t watched;
    sigemptyset(&watched);
    for (const int s : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&watched, s);
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    return watched;
}

void record_supervisor(const StepOptions& options) {
    if (auto reached = failpoint::reach(failpoint::Point::kStepBeforeRecord); !reached) fail(reached.error().message);
    const auto self = find_process(getpid());
    if (!self || !write_supervisor_record(options.folder, *self)) fail("cannot write into " + options.folder);
    if (auto reached = failpoint::reach(failpoint::Point::kStepAfterRecord); !reached) fail(reached.error().message);
}

struct Walltime {
    explicit Walltime(long long seconds)
        : end(seconds > 0 ? start + std::chrono::seconds(seconds) : SteadyClock::time_point::max()),
          reason(std::string(kWalltimeReason) + " of " + std::to_string(seconds) + " s reached") {}
    SteadyClock::time_point start = SteadyClock::now(), end;
    std::string reason;
};

/// A step before its program runs.
struct Preparation {
    const StepOptions& options;
    const StepInput& input;
    const std::optional<Account>& account;
    int job_folder;
    const sigset_t& watched;
    const Walltime& walltime;
};

/// The child that has become the program; ends this process, with a record, where none has.
pid_t begin_program(const Preparation& step, ExitRecord& exit_record) {
    const StepOptions& options = step.options;
    int report[2], alive[2];
    if (pipe2(report, O_CLOEXEC) != 0 || pipe2(alive, O_CLOEXEC) != 0) fail("cannot make a pipe");
    const pid_t child = start_program({.options = options,
                                       .input = step.input,
                                       .account = step.account,
                                       .login = login_environment(step.account ? step.account->uid : geteuid()),
                                       .job_folder = step.job_folder,
                                       .report = report[1],
                                       .supervisor_is_here = alive[0]},
                                      alive, report[0]);
    close(report[1]);
    close(alive[0]);
    close(step.job_folder);
    std::string fault = child < 0 ? std::string("cannot fork: ") + std::strerror(errno) : std::string{};
    if (auto reached = failpoint::reach(failpoint::Point::kStepAfterFork); !reached && child > 0) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        fault = reached.error().message;
    }
    if (fault.empty()) {
        const Beginning beginning = await_program(report[0], options.folder + "/stop", step.walltime.end);
        fault = beginning.fault;
        if (!beginning.cut.empty()) {
            kill(child, SIGKILL);
            end_tree({.step_id = options.step_id, .kill_at = SteadyClock::now(), .watched = step.watched});
            const std::string why = beginning.cut == kWalltimeReason ? step.walltime.reason : beginning.cut;
            exit_record.write(kStopped, why + " before it began");
            fail("step " + options.step_id + ": " + why + " before it began");
        }
    }
    if (!fault.empty()) {
        exit_record.write(127, fault);
        fail(fault);
    }
    return child;
}

/// In a process namespace `child` is its first process, and the program a child of that one. 0: no launcher.
pid_t launcher_of(const StepOptions& options, pid_t child) {
    if (!options.is_launcher) return 0;
    if (!has_processes(options.namespaces)) return child;
    const std::optional<ProcessRef> first = find_first_child(child);
    return first ? first->pid : 0;
}

/// Watches over a program that runs, until it has ended: by itself, or because it was stopped.
class Supervision {
  public:
    Supervision(const StepOptions& options, pid_t child, const sigset_t& watched, const Walltime& walltime)
        : options_(options), child_(child), watched_(watched), walltime_(walltime) {}
    /// The exit code of the program; 128 + n for signal n.
    int attend() {
        while (code_ < 0) {
            const auto next_check = watches_folder_ ? folder_watch_.next() : SteadyClock::time_point::max();
            const auto gate_check =
                gate_.is_closed() ? SteadyClock::now() + kGateInterval : SteadyClock::time_point::max();
            const timespec wait = wait_for(kill_at_ ? next_kill_ : std::min({next_check, walltime_.end, gate_check}));
            const int signal = sigtimedwait(&watched_, nullptr, &wait);
            if (signal == SIGTERM || signal == SIGINT) obey_stop_file(kGraceMs);
            collect_ended();
            if (code_ < 0) gate_.advance();
            const auto now = SteadyClock::now();
            check_walltime(now);
            check_connection(now);
            check_leftover(now);
            if (now >= check_for_stop_) {
                obey_stop_file(0);
                check_for_stop_ = now + kStopCheckInterval;
            }
            if (!kill_at_ && folder_watch_.is_over()) stop_tree(folder_watch_.reason(), kGraceMs);
            shorten_where_alone();
            kill_where_due(now);
        }
        return code_;
    }
    /// Ends what the program left behind. The reason of the end; empty where it ended by itself.
    std::string finish() {
        if (command_ > 0) kill(-command_, SIGKILL);
        // The program is gone; processes that it left behind go, too. Those of a stop have the rest of their time.
        const std::string late = end_tree({.step_id = options_.step_id,
                                           .kill_at = kill_at_.value_or(SteadyClock::now() + kLeftoverGrace),
                                           .is_asked = is_tree_asked_,
                                           .watched = watched_});
        if (!late.empty()) reason_ += (reason_.empty() ? "" : "; ") + late;
        return reason_;
    }

  private:
    /// A later stop can only bring the end nearer: no process gets a second signal.
    void stop_tree(const std::string& why, long grace_ms) {
        const auto latest = SteadyClock::now() + std::chrono::milliseconds(grace_ms);
        const bool is_first = !kill_at_;
        if (is_first || latest < *kill_at_) kill_at_ = next_kill_ = latest;
        if (!is_first) return;
        reason_ = why;
        gate_.shut();
        is_tree_asked_ = options_.on_stop.empty();
        if (is_tree_asked_)
            ask_tree(options_.step_id, launcher_);
        else
            command_ = run_beside(options_.on_stop);
    }
    void obey_stop_file(long default_grace_ms) {
        const auto text = read_file(options_.folder + "/stop");
        if (text || default_grace_ms > 0) stop_tree("stopped", text ? std::atol(text->c_str()) : default_grace_ms);
    }
    void collect_ended() {
        int status = 0;
        for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
            if (ended == child_) code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            if (ended == command_) command_ = 0;
        }
    }
    void check_walltime(SteadyClock::time_point now) {
        if (now >= walltime_.end && !kill_at_) {
            pid_t program = child_;
            if (const auto first = has_processes(options_.namespaces) ? find_first_child(child_) : std::nullopt)
                program = first->pid;
            stop_tree(walltime_.reason + reason_of(find_leftover(options_.step_id, child_, program)),
                      options_.grace_ms);
        }
    }
    void check_connection(SteadyClock::time_point now) {
        if (now >= connect_by_ && !kill_at_) {
            connect_by_ = SteadyClock::time_point::max();
            if (const std::string at = missing_launcher(options_.argv, launcher_); !at.empty())
                stop_tree("no connection from here to the MPI launcher at " + at + " within " +
                              std::to_string(kConnectWithin.count()) + " s; does a firewall stop it?",
                          kGraceMs);
            else
                watch_launcher(options_.argv, launcher_);
        }
    }
    /// A proxy waits for the end of its ranks' output, which a process that they left behind may hold open.
    void check_leftover(SteadyClock::time_point now) {
        if (launcher_ > 0 && !kill_at_ && now >= find_leftover_process_) {
            find_leftover_process_ = now + kLeftoverInterval;
            const Leftover left = find_leftover(options_.step_id, child_, launcher_);
            leftover_ends_ =
                left.first.empty() ? SteadyClock::time_point::max() : std::min(leftover_ends_, now + kLeftoverStays);
            if (now >= leftover_ends_) {
                for (const ProcessRef& process : left.processes)
                    send_signal(process, reason_.empty() ? SIGTERM : SIGKILL);
                if (reason_.empty()) reason_ = "process " + left.first + " that the program left behind was ended";
            }
        }
    }
    /// What it launched is gone: it only has to report that and to end.
    void shorten_where_alone() {
        if (kill_at_ && !is_launcher_alone_ && has_only(options_.step_id, {child_, launcher_})) {
            is_launcher_alone_ = true;
            const auto latest = SteadyClock::now() + std::chrono::milliseconds(kGraceMs);
            if (latest < *kill_at_) kill_at_ = next_kill_ = latest;
        }
    }
    void kill_where_due(SteadyClock::time_point now) {
        if (kill_at_ && now >= next_kill_ && !is_tree_asked_) {
            is_tree_asked_ = true;
            ask_tree(options_.step_id, 0);
            kill_at_ = next_kill_ = SteadyClock::now() + kEndsElsewhere;
        } else if (kill_at_ && now >= next_kill_) {
            kill_tree(options_.step_id);
            next_kill_ = SteadyClock::now() + kKillAgain;
        }
    }

    const StepOptions& options_;
    const pid_t child_;
    const sigset_t& watched_;
    const Walltime& walltime_;
    const bool watches_folder_ = options_.folder_bytes > 0;
    FolderWatch folder_watch_{options_.job_folder(), options_.folder_bytes};
    const pid_t launcher_ = launcher_of(options_, child_);
    ProxyGate gate_{options_.folder, options_.step_id, options_.proxies};
    std::optional<SteadyClock::time_point> kill_at_;
    SteadyClock::time_point next_kill_;
    pid_t command_ = 0;           ///< options.on_stop, while it runs
    bool is_tree_asked_ = false;  ///< it got SIGTERM
    std::string reason_;
    int code_ = -1;
    bool is_launcher_alone_ = launcher_ == 0;
    SteadyClock::time_point check_for_stop_ = SteadyClock::now() + kStopCheckInterval;
    SteadyClock::time_point connect_by_ = launcher_ > 0 ? walltime_.start + kConnectWithin
                                                        : SteadyClock::time_point::max();
    SteadyClock::time_point find_leftover_process_ = SteadyClock::now() + kLeftoverInterval;
    /// All ranks have ended, and something of theirs has not.
    SteadyClock::time_point leftover_ends_ = SteadyClock::time_point::max();
};

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "rank") == 0) return run_rank(argc, argv);
    if (argc > 1 && std::strcmp(argv[1], "launcher") == 0) return run_launcher(argc, argv);
    protect_process();
    if (argc == 1 || argv[1][0] != '-' || std::strcmp(argv[1], "--version") == 0 || std::strcmp(argv[1], "--help") == 0)
        return serve(argc, argv);
    const Result<StepOptions> read = read_step_options(argc, argv);
    if (!read) fail(read.error().message);
    const StepOptions& options = *read;
    failpoint::arm(options.failpoints, report_hit);
    const StepInput input = read_input();
    if (options.probe) probe(options);
    const std::optional<Account> account = account_of(options);

    const int job_folder =
        open_folders(options, account ? account->uid : geteuid(), account ? account->gid : getegid());
    const sigset_t watched = watch_tree();
    record_supervisor(options);
    // Whoever stops a step writes the file first and looks for the supervisor then: one of the two sees the other.
    ExitRecord exit_record(options.folder);
    if (!exit_record.is_ready()) fail("cannot write into " + options.folder + ": " + std::strerror(errno));
    if (access((options.folder + "/stop").c_str(), F_OK) == 0) {
        exit_record.write(kStopped, "stopped before it began");
        fail("step " + options.step_id + " was stopped before it began");
    }
    const Walltime walltime(options.walltime_s);
    const pid_t child = begin_program({.options = options,
                                       .input = input,
                                       .account = account,
                                       .job_folder = job_folder,
                                       .watched = watched,
                                       .walltime = walltime},
                                      exit_record);
    answer("ok");

    Supervision step(options, child, watched, walltime);
    const int code = step.attend();
    if (!exit_record.write(code, step.finish()))
        std::fprintf(stderr, "zbs-step: cannot write how it ended: %d\n", code);
    _exit(0);
}
