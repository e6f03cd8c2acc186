#include "services/node_agent/step/program.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>

#include "algorithms/base/expects.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/messages/steps/job_limits.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/common/messages/steps/rank_end.hpp"
#include "services/node_agent/step/confinement.hpp"

extern char** environ;
namespace zbs::step {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr const char* kOomScore = "500\n";  // the job goes before its supervisor and the service
constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

[[noreturn]] void give_up(int report, const std::string& text) {
    [[maybe_unused]] const ssize_t ignored = write(report, text.data(), text.size());
    _exit(127);
}

[[noreturn]] void give_up_with_errno(int report, const std::string& what) {
    give_up(report, what + ": " + std::strerror(errno));
}

void offer_to_oom_killer() {
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;  // it is a courtesy to the host, not a protection
    [[maybe_unused]] const ssize_t ignored = write(fd, kOomScore, std::strlen(kOomScore));
    close(fd);
}

void limit(int report, __rlimit_resource resource, rlim_t most) {
    rlimit now{};
    getrlimit(resource, &now);
    const rlimit wanted{std::min(now.rlim_cur, most), std::min(now.rlim_max, most)};
    if (setrlimit(resource, &wanted) != 0) give_up_with_errno(report, "cannot limit the job");
}

void set_limits(const Program& program) {
    limit(program.report, RLIMIT_CORE, 0);
    if (program.options.max_open_files > 0) limit(program.report, RLIMIT_NOFILE, program.options.max_open_files);
    if (program.account && program.options.max_processes > 0)
        limit(program.report, RLIMIT_NPROC, program.options.max_processes);
}

/// The path of zbs-step, for jobs. After an upgrade, or if it is hidden from the job, no program has it.
std::string own_path() {
    char path[PATH_MAX] = {};
    return readlink("/proc/self/exe", path, sizeof path - 1) > 0 ? path : "";
}

/// Becomes the account, for good.
void switch_to(const process::Account& account, int report) {
    if (setgroups(account.groups.size(), account.groups.data()) != 0 ||
        setresgid(account.gid, account.gid, account.gid) != 0 || setresuid(account.uid, account.uid, account.uid) != 0)
        give_up_with_errno(report, "cannot become account " + account.name);
    uid_t real = 0, effective = 0, saved = 0;
    gid_t real_group = 0, effective_group = 0, saved_group = 0;
    getresuid(&real, &effective, &saved);
    getresgid(&real_group, &effective_group, &saved_group);
    const bool whole = real == account.uid && effective == account.uid && saved == account.uid &&
                       real_group == account.gid && effective_group == account.gid && saved_group == account.gid;
    if (!whole || setuid(0) == 0 || setgid(0) == 0 || setgroups(0, nullptr) == 0)
        give_up(report, "cannot become account " + account.name + " for good");
}

/// As the job's user: what it prints and what was laid out for it.
void open_files(const Program& program) {
    for (const auto& [name, text] : program.input.files) {
        const int fd =
            openat(program.job_folder, name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        std::size_t done = 0;
        while (fd >= 0 && done < text.size()) {
            const ssize_t put = write(fd, text.data() + done, text.size() - done);
            if (put <= 0) break;
            done += static_cast<std::size_t>(put);
        }
        if (fd < 0 || done < text.size()) give_up_with_errno(program.report, "cannot write the job's file " + name);
        close(fd);
    }
    constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
    const int out = openat(program.job_folder, own_files::kStdout.data(), kFlags, 0600);
    const int err = openat(program.job_folder, own_files::kStderr.data(), kFlags, 0600);
    if (out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
        give_up_with_errno(program.report, "cannot open the output files");
}

/// The job's own folder by descriptor: its account may be in it without being able to come there. What the user named
/// is entered with the account's rights.
void enter_directory(const Program& program) {
    const std::string& asked = program.options.directory;
    if ((asked.empty() ? fchdir(program.job_folder) : chdir(asked.c_str())) != 0)
        give_up_with_errno(program.report, "cannot enter the directory " + asked);
}

/// As the job's user: the first folder for temporary files that she may write; her step's own may always be written.
std::string temporary_folder(const Program& program) {
    for (const char* folder : {"/tmp", "/var/tmp"})
        if (access(folder, W_OK | X_OK) == 0) return folder;
    return program.options.job_folder();
}

[[noreturn]] void execute(const Program& program) {
    std::vector<std::string> texts;
    std::set<std::string> names;
    for (const auto& [name, value] : program.input.environment) {
        texts.push_back(name + "=" + value);
        names.insert(name);
    }
    if (names.contains(kRankEndsVariable) || !program.options.on_stop.empty())
        texts.push_back(std::string(kRankProgramVariable) + "=" + own_path());
    if (!names.contains("PATH")) texts.push_back(std::string("PATH=") + kDefaultPath);
    // A launcher gets none of these: it would hand them to the ranks in all zones.
    if (names.contains(kZoneVariable)) {
        for (const auto& [name, value] : program.login)
            if (!names.contains(name)) texts.push_back(name + "=" + value);
        if (!names.contains("TMPDIR")) texts.push_back("TMPDIR=" + temporary_folder(program));
        if (const std::string fault = set_own_limits([&](const char* name) -> const char* {
                const auto& all = program.input.environment;
                const auto at = std::ranges::find(all, name, &std::pair<std::string, std::string>::first);
                return at == all.end() ? nullptr : at->second.c_str();
            });
            !fault.empty())
            give_up(program.report, fault);
    }
    texts.push_back(process::step_variable(program.options.step_id) + "=1");
    std::vector<char*> environment, argv;
    for (std::string& text : texts) environment.push_back(text.data());
    for (const std::string& word : program.options.argv) argv.push_back(const_cast<char*>(word.c_str()));
    environment.push_back(nullptr);
    argv.push_back(nullptr);
    environ = environment.data();  // its PATH is the one that counts

    for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    // Whatever was opened on the way sees the host as it was before anything was hidden.
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) give_up_with_errno(program.report, "cannot close files");
    execvp(argv[0], argv.data());
    give_up_with_errno(program.report, "cannot run " + program.options.argv[0]);
}

/// The last steps, in the process that becomes the program. `parent` > 0: whose end shall be its end too.
[[noreturn]] void become(const Program& program, pid_t parent) {
    setsid();
    set_limits(program);
    umask(077);
    drop_bounding_set();  // needs rights that the switch takes
    if (program.account) switch_to(*program.account, program.report);
    if (const std::string fault = drop_privileges(); !fault.empty()) give_up(program.report, fault);
    if (parent > 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // the switch would have cleared it
        if (getppid() != parent) _exit(127);
    }
    open_files(program);
    enter_directory(program);
    execute(program);
}

volatile std::sig_atomic_t is_stop_asked = 0;  ///< the supervisor has asked every process of the step to end
void record_stop(int) { is_stop_asked = 1; }

/// Waits until everything in this namespace has ended. If the step is being stopped, its supervisor limits that time;
/// else everything is asked to end, and has a while for it.
void end_leftovers() {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, nullptr);
    if (is_stop_asked == 0) kill(-1, SIGTERM);
    kill(-1, SIGCONT);
    const auto end = SteadyClock::now() + std::chrono::milliseconds(500);
    while (is_stop_asked != 0 || SteadyClock::now() < end) {
        pid_t ended = 0;
        while ((ended = waitpid(-1, nullptr, WNOHANG)) > 0) {
        }
        if (ended < 0) return;
        const timespec wait{0, 20'000'000};
        sigtimedwait(&children, nullptr, &wait);
    }
}

/// The first process of a process namespace, which starts the program.
[[noreturn]] void keep_namespace(const Program& program) {
    ZBS_EXPECTS(getpid() == 1);  // else its last signal would reach all processes of this user
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pollfd supervisor{program.supervisor_is_here, POLLIN, 0};
    if (poll(&supervisor, 1, 0) != 0) _exit(127);  // it was gone before it could report its end
    if (!program.account) {
        if (const std::string fault = drop_privileges(); !fault.empty()) give_up(program.report, fault);
    }
    signal(SIGTERM, record_stop);
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &stop, nullptr);  // the supervisor waits for it and had it blocked
    const pid_t child = fork();
    if (child == 0) become(program, 0);
    if (child < 0) give_up_with_errno(program.report, "cannot fork");
    close_range(3, ~0U, 0);
    int status = 0;
    for (pid_t ended = 0; ended != child;) {
        ended = waitpid(-1, &status, 0);
        if (ended < 0 && errno != EINTR) _exit(127);
    }
    end_leftovers();
    _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

constexpr std::array<std::pair<std::string_view, __rlimit_resource>, 10> kResources = {{{"as", RLIMIT_AS},
                                                                                        {"core", RLIMIT_CORE},
                                                                                        {"cpu", RLIMIT_CPU},
                                                                                        {"data", RLIMIT_DATA},
                                                                                        {"fsize", RLIMIT_FSIZE},
                                                                                        {"memlock", RLIMIT_MEMLOCK},
                                                                                        {"nofile", RLIMIT_NOFILE},
                                                                                        {"nproc", RLIMIT_NPROC},
                                                                                        {"rss", RLIMIT_RSS},
                                                                                        {"stack", RLIMIT_STACK}}};

std::string text_of(rlim_t value) { return value == RLIM_INFINITY ? "unlimited" : std::to_string(value); }

std::string set(const JobLimit& limit) {
    for (const auto& [name, resource] : kResources) {
        if (name != limit.name) continue;
        const rlim_t wanted = limit.value ? static_cast<rlim_t>(*limit.value) : RLIM_INFINITY;
        rlimit now{};
        getrlimit(resource, &now);
        const std::string what = "cannot set the limit " + limit.name + " to " + text_of(wanted) + ": ";
        if (wanted > now.rlim_max) return what + "the most that is allowed here is " + text_of(now.rlim_max);
        const rlimit soft{wanted, now.rlim_max};
        if (setrlimit(resource, &soft) != 0) return what + std::strerror(errno);
    }
    return {};
}

}  // namespace

void run_program(Program program, pid_t supervisor, uid_t uid, gid_t gid) {
    prctl(PR_SET_DUMPABLE, 1);  // else the file below belongs to root
    offer_to_oom_killer();
    prctl(PR_SET_DUMPABLE, 0);
    setsid();
    if (program.options.namespaces == Namespaces::kNone) become(program, supervisor);
    if (const std::string fault = confine(program.options, uid, gid); !fault.empty()) give_up(program.report, fault);
    if (program.options.probe) _exit(0);
    // The folder as the job sees it; through the descriptor of before, what is hidden could be reached.
    program.job_folder = open(program.options.job_folder().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (program.job_folder < 0) give_up_with_errno(program.report, "cannot open the job's folder");
    if (has_processes(program.options.namespaces)) keep_namespace(program);
    become(program, supervisor);
}

std::string set_own_limits(const std::function<const char*(const char* name)>& variable) {
    if (const char* text = variable(kUmaskVariable)) {
        const Result<unsigned> mask = parse_umask(text);
        if (!mask) return std::string(kUmaskVariable) + " " + mask.error().message;
        umask(static_cast<mode_t>(*mask));
    }
    const char* text = variable(kLimitsVariable);
    const Result<std::vector<JobLimit>> limits = parse_job_limits(text == nullptr ? "" : text);
    if (!limits) return std::string(kLimitsVariable) + ": " + limits.error().message;
    for (const JobLimit& limit : *limits)
        if (std::string fault = set(limit); !fault.empty()) return fault;
    return {};
}

}  // namespace zbs::step
